// SPDX-License-Identifier: BSD-3-Clause
#include "residue_bounds.hpp"

#include <algorithm>
#include <limits>

#include "cuda_check.hpp"
#include "ozbound/bounds/detail/part_norms.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 128;

/// The facts of one vector that bounds of residues use.
struct VectorOfLook {
  const FirstLook& look;
  Index i;

  /// ||.||_1 relative to the vector's scale, rounded up.
  [[nodiscard]] __device__ double sum_upper() const { return relative_sum_upper(look.norms.word(0, i)); }
  /// 2^-bits / 2, or 0 if nothing is rounded.
  [[nodiscard]] __device__ double rounding(int bits) const {
    const bool zero = look.norms.word(2, i) == 0;
    const int exact_bits = zero ? 0 : look.digits.exponents[i] - look.norms.last_bit(i);
    return exact_bits <= bits ? 0 : power_of_two(-bits - 1);
  }
};

struct BoundOut {
  double* rows;
  double* columns;
  int* ends;
  std::int32_t* row_exponents;
  std::int32_t* column_exponents;
};

/// One thread for each vector. Grid: rows in y = 0, columns in y = 1.
__global__ void __launch_bounds__(threads)
    make_residue_bound(const ResidueBoundKind kind, const __grid_constant__ FirstLook a, const __grid_constant__ FirstLook b,
                       Index k, const BoundOut out) {
  using Of = ResidueBoundKind::Of;
  const bool of_columns = blockIdx.y == 1;
  const auto& look = of_columns ? b : a;
  const Index i = Index{blockIdx.x} * threads + threadIdx.x, count = look.norms.count;
  if (i == 0 && !of_columns)
    for (int t = 0; t < kind.outer_products(); ++t) out.ends[t] = t + 1;
  if (i >= count) return;
  const VectorOfLook vector{look, i};
  (of_columns ? out.column_exponents : out.row_exponents)[i] = look.digits.exponents[i];
  auto* const to = (of_columns ? out.columns : out.rows) + i;
  const double sum = vector.sum_upper();
  if (kind.of != Of::plan) {
    to[0] = (kind.of == Of::column_sums) == of_columns ? sum : 1;
    return;
  }
  const int bits_a = kind.chosen == nullptr ? kind.bits_a : kind.chosen->bits_a;
  const int bits_b = kind.chosen == nullptr ? kind.bits_b : kind.chosen->bits_b;
  const double rounding = vector.rounding(of_columns ? bits_b : bits_a);
  to[0] = of_columns ? sum : rounding;
  const double terms = to_double_upper(static_cast<std::uint64_t>(k));
  to[count] = of_columns ? rounding : add_upper(sum, multiply_upper(terms, rounding));
}

}  // namespace

LookedBound launch_residue_bound(const ResidueBoundKind& kind, const FirstLook& a, const FirstLook& b, Index k, Arena& arena,
                                 cudaStream_t stream) {
  const Index m = a.norms.count, n = b.norms.count, outer = kind.outer_products();
  const BoundOut out{arena.take<double>(outer * m), arena.take<double>(outer * n), arena.take<int>(outer),
                     arena.take<std::int32_t>(m), arena.take<std::int32_t>(n)};
  const LookedBound result{
      {out.rows, out.columns, out.ends, static_cast<int>(outer), m, n, std::numeric_limits<double>::infinity()},
      out.row_exponents,
      out.column_exponents};
  if (out.ends == nullptr) return result;
  const Index longest = std::max<Index>({m, n, 1});
  make_residue_bound<<<dim3(static_cast<unsigned>((longest + threads - 1) / threads), 2), threads, 0, stream>>>(kind, a, b, k,
                                                                                                                out);
  check_launch("make_residue_bound");
  return result;
}

}  // namespace ozbound::gpu
