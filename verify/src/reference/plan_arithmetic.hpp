// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../exact_number.hpp"
#include "ozbound/verify/reference_product.hpp"

namespace ozbound::reference {

/// An odd hexadecimal integer times a power of two: `-0x1f3ap-120`; `0x0p+0`.
std::string exact_text(const ExactNumber& x);

/// Sums with these weights before alpha, over rho_i sigma_j: the exact sum, or FP64 additions in the given order, with each
/// term and each sum rounded to nearest even, including subnormal ones.
ExactNumber accumulated(Accumulation accumulation, const std::vector<int>& weights, const std::vector<std::int64_t>& sums);

/// The weights of the groups' products at (i, j), over rho_i sigma_j.
std::vector<int> weights_of(const std::vector<Pairs>& groups, const SlicedVectors& a, const SlicedVectors& b, Index i, Index j);

/// The sums of the groups' digit products at (i, j).
std::vector<std::int64_t> sums_of(const std::vector<Pairs>& groups, const SlicedVectors& a, const SlicedVectors& b, Index i,
                                  Index j);

/// The last q that is multiplied with slice p of A; 0 if none.
int last_b(const SlicePlan& plan, int p);

// Functions for residues (docs/derivations/residues.md).

/// H = floor((P - 1) / 2) of the first N moduli: the largest |C'| that they determine.
cpp_int largest_told(int moduli);

/// sum_l x_l y_l; with `magnitudes`, sum_l |x_l y_l|. @pre |x_l|, |y_l| <= 2^120.
cpp_int integer_dot(const RoundedVectors::Integer* x, const RoundedVectors::Integer* y, Index length, bool magnitudes);

}  // namespace ozbound::reference
