// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/matrix.hpp"

namespace ozbound::bench {

/// A product of rows of A and a panel of B. C is rows x columns, row-major like A. The panel is k x (the kernels'
/// panel_columns), packed, and zero from `columns` on.
struct PanelProduct {
  const double* a;
  Index a_stride;
  const double* panel;
  Index k;
  double* c;
  Index c_stride;
  Index rows, columns;
};

/// Kernels of the accurate baselines for one instruction set.
struct PanelKernels {
  Index panel_columns;
  void (*double_double)(const PanelProduct&);
  void (*dot2)(const PanelProduct&);
};

const PanelKernels& generic_panels();

/// Runs one kind of arithmetic instruction on registers only, `rounds` times in each of `peak_chains` independent chains. The
/// number of chains exceeds latency times throughput of any processor, so that the units never wait.
using PeakLoop = void (*)(long rounds);
inline constexpr int peak_chains = 12;

/// The names tell the instruction set that the processor must have. Each function is compiled for that instruction set, and may
/// only be called if the processor has it.
#if defined(__x86_64__)
const PanelKernels& avx2_panels();     ///< with FMA
const PanelKernels& avx512f_panels();  ///< with FMA

void peak_sse2_pmaddwd(long rounds);  ///< pmaddwd, paddd
void peak_avx2_vpmaddwd(long rounds);
void peak_avx512bw_vpmaddwd(long rounds);
void peak_avxvnni_vpdpbusd(long rounds);
void peak_avx512vl_vpdpbusd(long rounds);  ///< on ymm registers, with AVX512-VNNI
void peak_avx512vnni_vpdpbusd(long rounds);
void peak_amx_tdpbssd(long rounds);  ///< on tiles of 16 x 64 bytes; `rounds` times peak_chains instructions, into four tiles
void peak_fma_ymm(long rounds);
void peak_fma_zmm(long rounds);
#endif

}  // namespace ozbound::bench
