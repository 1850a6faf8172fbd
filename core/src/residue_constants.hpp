// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/functions.hpp"

namespace ozbound {

/// What kernels need of the first `count` moduli, made once.
const ResidueConstants& residue_constants(int count);

}  // namespace ozbound
