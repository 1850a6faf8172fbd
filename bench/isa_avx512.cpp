// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX512F and AVX512VL, with FMA. Instructions of other sets are given by their text.

#include <immintrin.h>

#include "panel_kernels.hpp"
#include "peak_loop.hpp"

namespace ozbound::bench {
namespace {

struct PairsZmm {
  using Register = __m512i;
  static void accumulate(Register& sum, Register x, Register y) {
    Register product;
    asm volatile("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+v"(sum), "=&v"(product) : "v"(x), "v"(y));
  }
};

struct QuadsYmm {
  using Register = __m256i;
  static void accumulate(Register& sum, Register x, Register y) {
    asm volatile("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
  }
};

struct QuadsZmm {
  using Register = __m512i;
  static void accumulate(Register& sum, Register x, Register y) {
    asm volatile("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
  }
};

struct FusedZmm {
  using Register = __m512d;
  static void accumulate(Register& sum, Register x, Register y) {
    asm volatile("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
  }
};

}  // namespace

const PanelKernels& avx512f_panels() { return panel_kernels; }

void peak_avx512bw_vpmaddwd(long rounds) { run_peak<PairsZmm>(rounds); }
void peak_avx512vl_vpdpbusd(long rounds) { run_peak<QuadsYmm>(rounds); }
void peak_avx512vnni_vpdpbusd(long rounds) { run_peak<QuadsZmm>(rounds); }
void peak_fma_zmm(long rounds) { run_peak<FusedZmm>(rounds); }

}  // namespace ozbound::bench
