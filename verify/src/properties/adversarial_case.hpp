// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/verify/gemm_case.hpp"
#include "ozbound/verify/number_classes.hpp"

// Cases that are made to break a certificate, beside those that are drawn at random.

namespace ozbound::case_sampling {

/// What is done to the operands of a drawn case.
enum class Attack {
  none,
  long_inner,  ///< k up to 133145, above all where INT32 sums of balanced and of 7-bit digits end
  family,      ///< of a problem family
  overflow,    ///< entries about the overflow threshold of C's format
  cancelling,  ///< beta C0 is nearly -alpha A B
};
inline constexpr sampling::Weighted<Attack> attack_weights[] = {
    {Attack::none, 4}, {Attack::long_inner, 1}, {Attack::family, 3}, {Attack::overflow, 2}, {Attack::cancelling, 2}};

/// Attacks a case of at least one row, column and inner index; every other alpha and beta becomes a number of any class.
void attack(GemmCase& gemm_case, sampling::RandomBits& random);

}  // namespace ozbound::case_sampling
