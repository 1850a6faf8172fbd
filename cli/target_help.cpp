// SPDX-License-Identifier: BSD-3-Clause
#include "target_help.hpp"

#include <string>

#include "ozbound/bounds/target.hpp"

namespace ozbound::cli {

void add_target_help(CLI::App& command) {
  command.footer(
      "TARGET, with M = |alpha||A||B| + |beta||C0| and u = 2^-53 (2^-24 for a C of floats); every entry of C is\n"
      "  cr                 the exact one, rounded once\n"
      "  dgemm              wrong by k u M at most: what a conventional DGEMM guarantees\n"
      "  dgemm-typical      wrong by sqrt(k) u M at most: what a conventional DGEMM leaves if its rounding errors\n"
      "                     have random signs\n"
      "  componentwise:TAU  wrong by TAU M at most\n"
      "  rowcol:TAU         wrong by TAU (|alpha| ||a_i||_2 ||b_j||_2 + |beta||C0|) at most\n"
      "  relative:TAU       wrong by TAU |C| at most\n"
      "or C as a whole is\n"
      "  normwise:TAU       wrong by TAU ||M||_F at most: relative to " +
      std::string(normwise_measure));
}

}  // namespace ozbound::cli
