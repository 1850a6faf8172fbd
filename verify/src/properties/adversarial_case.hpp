// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/verify/gemm_case.hpp"
#include "ozbound/verify/number_classes.hpp"

// Cases that try to break a certificate, in addition to random cases.

namespace ozbound::case_sampling {

/// The changes to the operands of a drawn case.
enum class Attack {
  none,
  long_inner,  ///< k up to 133145, mostly near the limits of INT32 sums of balanced and of 7-bit digits
  family,      ///< elements of a problem family
  overflow,    ///< entries near the overflow threshold of C's format
  cancelling,  ///< beta C0 is nearly -alpha A B
};
inline constexpr sampling::Weighted<Attack> attack_weights[] = {
    {Attack::none, 4}, {Attack::long_inner, 1}, {Attack::family, 3}, {Attack::overflow, 2}, {Attack::cancelling, 2}};

/// Attacks a case of at least one row, column and inner index. Also replaces every other alpha and beta by a number of any
/// class.
void attack(GemmCase& gemm_case, sampling::RandomBits& random);

}  // namespace ozbound::case_sampling
