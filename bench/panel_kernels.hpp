// SPDX-License-Identifier: BSD-3-Clause
// The accurate baselines' kernels, compiled for the instruction set of the including source. Everything has internal linkage
// and uses no library. Otherwise the linker could give a function compiled for one instruction set to the code of another.

#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstddef>

#include "isa.hpp"

namespace ozbound::bench {
namespace {

#if defined(__AVX512F__)
using Lanes = __m512d;
constexpr int width = 8, tile_rows = 4, tile_vectors = 2;
inline Lanes load(const double* from) { return _mm512_loadu_pd(from); }
inline void store(double* to, Lanes x) { _mm512_storeu_pd(to, x); }
inline Lanes broadcast(double x) { return _mm512_set1_pd(x); }
inline Lanes fused(Lanes x, Lanes y, Lanes z) { return _mm512_fmadd_pd(x, y, z); }
#elif defined(__AVX2__) && defined(__FMA__)
using Lanes = __m256d;
constexpr int width = 4, tile_rows = 4, tile_vectors = 1;
inline Lanes load(const double* from) { return _mm256_loadu_pd(from); }
inline void store(double* to, Lanes x) { _mm256_storeu_pd(to, x); }
inline Lanes broadcast(double x) { return _mm256_set1_pd(x); }
inline Lanes fused(Lanes x, Lanes y, Lanes z) { return _mm256_fmadd_pd(x, y, z); }
#else
using Lanes = double;
constexpr int width = 1, tile_rows = 4, tile_vectors = 2;
inline Lanes load(const double* from) { return *from; }
inline void store(double* to, Lanes x) { *to = x; }
inline Lanes broadcast(double x) { return x; }
inline Lanes fused(Lanes x, Lanes y, Lanes z) { return __builtin_fma(x, y, z); }
#endif

constexpr int panel_width = width * tile_vectors;

struct Pair {
  Lanes high, low;
};

inline Pair two_product(Lanes x, Lanes y) {
  const Lanes p = x * y;
  return {p, fused(x, y, -p)};
}

inline Pair two_sum(Lanes x, Lanes y) {
  const Lanes s = x + y, z = s - x;
  return {s, (x - (s - z)) + (y - z)};
}

inline Pair fast_two_sum(Lanes x, Lanes y) {
  const Lanes s = x + y;
  return {s, y - (s - x)};
}

/// sum + x y in double-double. Joldes, Muller, Popescu, Tight and rigorous error bounds for basic building blocks of
/// double-word arithmetic (2017), AccurateDWPlusDW (Algorithm 6). The product of two doubles is a pair without error.
struct DoubleDoubleStep {
  static Pair add(Pair sum, Lanes x, Lanes y) {
    const auto product = two_product(x, y);
    const auto s = two_sum(sum.high, product.high), t = two_sum(sum.low, product.low);
    const auto v = fast_two_sum(s.high, s.low + t.high);
    return fast_two_sum(v.high, t.low + v.low);
  }
};

/// Ogita, Rump, Oishi, Accurate sum and dot product (2005), Dot2 (Algorithm 5.3). The errors are summed in plain arithmetic.
struct Dot2Step {
  static Pair add(Pair sum, Lanes x, Lanes y) {
    const auto product = two_product(x, y);
    const auto s = two_sum(sum.high, product.high);
    return {s.high, sum.low + (product.low + s.low)};
  }
};

/// Sums of a tile of `rows` rows times a whole panel, in registers.
template <class Step, int rows>
inline void multiply_tile(const PanelProduct& x, Index row) {
  Pair sums[std::size_t{rows}][std::size_t{tile_vectors}] = {};
  const double* a = x.a + row * x.a_stride;
  for (Index l = 0; l < x.k; ++l)
    for (int v = 0; v < tile_vectors; ++v) {
      const auto b = load(x.panel + l * panel_width + v * width);
      for (int r = 0; r < rows; ++r) sums[r][v] = Step::add(sums[r][v], broadcast(a[r * x.a_stride + l]), b);
    }
  for (int r = 0; r < rows; ++r) {
    double line[panel_width];
    for (int v = 0; v < tile_vectors; ++v) store(line + v * width, sums[r][v].high + sums[r][v].low);
    for (Index j = 0; j < x.columns; ++j) x.c[(row + r) * x.c_stride + j] = line[j];
  }
}

template <class Step>
void multiply_panel(const PanelProduct& x) {
  Index row = 0;
  for (; row + tile_rows <= x.rows; row += tile_rows) multiply_tile<Step, tile_rows>(x, row);
  for (; row < x.rows; ++row) multiply_tile<Step, 1>(x, row);
}

constexpr PanelKernels panel_kernels{panel_width, &multiply_panel<DoubleDoubleStep>, &multiply_panel<Dot2Step>};

}  // namespace
}  // namespace ozbound::bench
