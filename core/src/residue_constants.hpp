// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/functions.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/residues.hpp"

namespace ozbound {

static_assert(most_moduli == max_moduli);

/// The integers that are recovered from sums of products: those of real operands, or a part of those of complex ones
/// (complex_base).
enum class Recovered { real_product, real_part, imaginary_part };
ResidueBase residue_base(int count, Recovered what);

/// What kernels need of the first `count` moduli, made once.
const ResidueConstants& residue_constants(int count, Recovered what = Recovered::real_product);

}  // namespace ozbound
