// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/detail/residue_constants.hpp"
#include "ozbound/core/residues.hpp"

namespace ozbound {

static_assert(most_moduli == max_moduli);

/// The base that recovers integers of kind `what`.
ResidueBase residue_base(int count, Recovered what);

}  // namespace ozbound
