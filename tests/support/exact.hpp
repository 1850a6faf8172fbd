// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "properties/exact_number.hpp"
#include "support/classified.hpp"

namespace ozbound::test {

using namespace exact_arithmetic;

}  // namespace ozbound::test
