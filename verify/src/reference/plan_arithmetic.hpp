#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../exact_number.hpp"
#include "ozbound/verify/reference_product.hpp"

namespace ozbound::reference {

/// An odd hexadecimal integer times a power of two: `-0x1f3ap-120`; `0x0p+0`.
std::string exact_text(const ExactNumber& x);

/// What a plan's sums are before alpha, over rho_i sigma_j: the exact sum, or FP64 additions in the plan's order, each rounded
/// to nearest even at any exponent.
ExactNumber accumulated(const Plan& plan, const std::vector<Pairs>& groups, const std::vector<std::int64_t>& sums);

/// alpha * product + beta * c0. @pre what is read is finite.
ExactNumber scaled_sum(const Operands& operands, Index i, Index j, const ExactNumber& product);

/// The sums of the digit products of groups at (i, j).
std::vector<std::int64_t> sums_of(const std::vector<Pairs>& groups, const SlicedVectors& a, const SlicedVectors& b, Index i,
                                  Index j);

/// The last q that slice p of A meets; 0 if none.
int last_b(const Plan& plan, int p);

}  // namespace ozbound::reference
