// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "properties/stored_complex.hpp"

namespace ozbound::test {

using ozbound::StoredComplex;

}  // namespace ozbound::test
