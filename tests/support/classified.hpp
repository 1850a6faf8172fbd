#pragma once

#include "ozbound/verify/number_classes.hpp"

namespace ozbound::test {

using namespace sampling;

}  // namespace ozbound::test
