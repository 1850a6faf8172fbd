// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/verify/number_classes.hpp"

namespace ozbound::test {

using namespace sampling;

}  // namespace ozbound::test
