// SPDX-License-Identifier: BSD-3-Clause
// For any processor; on x86-64 with SSE2, which the build may assume.

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "panel_kernels.hpp"
#include "peak_loop.hpp"

namespace ozbound::bench {

const PanelKernels& generic_panels() { return panel_kernels; }

#if defined(__x86_64__)
namespace {

struct PairsXmm {
  using Register = __m128i;
  static void accumulate(Register& sum, Register x, Register y) {
    Register product;
    asm volatile("movdqa %2, %1\n\tpmaddwd %3, %1\n\tpaddd %1, %0" : "+x"(sum), "=&x"(product) : "x"(x), "x"(y));
  }
};

}  // namespace

void peak_sse2_pmaddwd(long rounds) { run_peak<PairsXmm>(rounds); }
#endif

}  // namespace ozbound::bench
