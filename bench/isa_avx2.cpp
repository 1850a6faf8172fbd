// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX2 and FMA.

#include <immintrin.h>

#include "panel_kernels.hpp"
#include "peak_loop.hpp"

namespace ozbound::bench {
namespace {

struct PairsYmm {
  using Register = __m256i;
  static void accumulate(Register& sum, Register x, Register y) {
    Register product;
    asm volatile("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(sum), "=&x"(product) : "x"(x), "x"(y));
  }
};

struct QuadsYmm {
  using Register = __m256i;
  static void accumulate(Register& sum, Register x, Register y) {
    asm volatile("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y));
  }
};

struct FusedYmm {
  using Register = __m256d;
  static void accumulate(Register& sum, Register x, Register y) {
    asm volatile("vfmadd231pd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y));
  }
};

}  // namespace

const PanelKernels& avx2_panels() { return panel_kernels; }

void peak_avx2_vpmaddwd(long rounds) { run_peak<PairsYmm>(rounds); }
void peak_avxvnni_vpdpbusd(long rounds) { run_peak<QuadsYmm>(rounds); }
void peak_fma_ymm(long rounds) { run_peak<FusedYmm>(rounds); }

}  // namespace ozbound::bench
