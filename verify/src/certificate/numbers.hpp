// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "claims.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/reference_product.hpp"

// The numbers of a certificate, computed from docs/derivations only: from integers, in doubles, with each operation rounded
// outward in the order that docs/derivations/rounding.md fixes. @pre for all functions: a PlainEnvironment.

namespace ozbound::checking {

/// Sum, sum of squares and maximum of non-negative integers.
struct Counts {
  std::uint64_t sum = 0, squares = 0, max = 0;

  void add(std::uint64_t x);
};

/// Integers about one vector under a slicing (general_bound.md, G4).
struct VectorCounts {
  Counts whole;                ///< |x|, in units of rho 2^-16, rounded up
  std::uint64_t floors = 0;    ///< sum of squares of |x| in these units, rounded down
  std::vector<Counts> digits;  ///< |digit p|
  std::vector<int> weights;    ///< of digit p, over rho: exponents
  std::vector<Counts> tails;   ///< |T_p| in units of weight_p 2^-16, rounded up
};

/// An operand's vectors, sliced and counted. Vectors with NaN or infinities count as zero.
struct Counted {
  Counted(MatrixView<const double> vectors, const reference::Slicing& slicing);

  reference::SlicedVectors sliced;
  std::vector<VectorCounts> counts;
};

/// ||.||_1, ||.||_2, ||.||_inf, rounded up, over rho.
struct Norms {
  double one = 0, two = 0, max = 0;
};

/// An error over rho_i sigma_j: the sum of terms h(row, column), or `uniform` if that is smaller.
struct RelativeBound {
  struct Term {
    std::string name;
    std::vector<Norms> rows, columns;
  };

  std::vector<Term> terms;
  double uniform;
  std::vector<int> row_exponents, column_exponents;

  [[nodiscard]] double at(Index i, Index j) const;
  [[nodiscard]] std::int64_t scale(Index i, Index j) const {
    return std::int64_t{row_exponents[static_cast<std::size_t>(i)]} + column_exponents[static_cast<std::size_t>(j)];
  }
};

/// Truncation (G2, G3) and accumulation (G5) of a plan by slices.
RelativeBound plan_bound(const reference::SlicePlan& plan, const Counted& a, const Counted& b);

/// Rounding of a plan by residues (residues.md, R10, R14). @param a, b under `level_one_digits`
RelativeBound residue_bound(const Counted& a, const reference::RoundedVectors& rounded_a, const Counted& b,
                            const reference::RoundedVectors& rounded_b);

/// The first entry that a plan by residues may not hold, by norms (residues.md, R8) and by level 1 (R9). Empty if the plan
/// holds all entries. @param a, b under `level_one_digits`
std::optional<std::pair<Index, Index>> find_not_held(const reference::ResiduePlan& plan, const Counted& a,
                                                     const reference::RoundedVectors& rounded_a, const Counted& b,
                                                     const reference::RoundedVectors& rounded_b);

/// The slicing of level 1 of the enclosure. It has the scales of residues.
inline constexpr reference::Slicing level_one_digits{reference::Digits::truncated, 7, 1};

/// The bound for alpha times a matrix with the bound `bound`, whose real and imaginary parts are in rows 2i and 2i + 1 (G8).
/// @pre alpha has an imaginary part.
RelativeBound times_complex(RelativeBound bound, double alpha, double imaginary_alpha);

/// factor * |A||B|.
RelativeBound summation_bound(const Counted& a, const Counted& b, double factor);

/// The largest ratio of error bound to target allowance (targets.md), and its entry.
struct WorstRatio {
  double ratio = 0;
  Index i = 0, j = 0;
  bool loose = false;  ///< the first level of the enclosure of |A||B| left some entry uncertain by more than a factor of 2
};

/// The ratio of a result that is rounded once, from the ratio of the error before rounding to the allowance left for it (N9).
double with_rounding(double before, double tau, double u);

/// @param finite true for (i, j) if NaN and infinities of the inputs do not decide the entry.
WorstRatio worst_ratio(const RelativeBound& error, const Target& target, double tau, double u, const Operands& operands,
                       const std::vector<std::uint8_t>& finite);

/// True if a library's SGEMM could take the matrices and scalars.
bool all_floats(const Operands& operands);

/// Bounds for the error of native DGEMM (G7).
struct NativeClaims {
  double factor = 0;  ///< k u or gamma_{k+3}
  double underflow = 0;
  std::string obstacle;  ///< the reason why there is no guarantee
};

/// @param k the inner dimension, 0 if alpha is 0.
/// @param narrow true for a library's SGEMM or CGEMM, false for DGEMM or ZGEMM
/// @param schema of the certificate: 4 takes any scaling for a possible underflow
NativeClaims native_claims(const Operands& operands, Index k, bool narrow, int schema);

}  // namespace ozbound::checking
