// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/functions.hpp"
#include "ozbound/core/residues.hpp"

namespace ozbound {

static_assert(most_moduli == max_moduli);

/// What kernels need of the first `count` moduli, made once.
const ResidueConstants& residue_constants(int count);

}  // namespace ozbound
