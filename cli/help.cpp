// SPDX-License-Identifier: BSD-3-Clause
#include "help.hpp"

#include "ozbound/bounds/target.hpp"

namespace ozbound::cli {

std::string target_help() {
  return "TARGET, with M = |alpha||A||B| + |beta||C0| and u = 2^-53 (2^-24 for a C of floats); every entry of C is\n"
         "  cr                 the exact one, rounded once\n"
         "  dgemm              wrong by k u M at most, by gamma_{k+3} M with alpha or C0: what a conventional DGEMM\n"
         "                     guarantees\n"
         "  dgemm-typical      wrong by sqrt(k) u M at most: what a conventional DGEMM leaves if its rounding errors\n"
         "                     have random signs\n"
         "  componentwise:TAU  wrong by TAU M at most\n"
         "  rowcol:TAU         wrong by TAU (|alpha| ||a_i||_2 ||b_j||_2 + |beta||C0|) at most\n"
         "  relative:TAU       wrong by TAU |C| at most\n"
         "or C as a whole is\n"
         "  normwise:TAU       wrong by TAU ||M||_F at most: relative to " +
         std::string(normwise_measure);
}

std::string exit_code_help() {
  return "Exit codes\n"
         "  0                  done; what was to be judged holds\n"
         "  1                  a verdict failed: a product is not as accurate as it should be\n"
         "  2                  arguments or files that cannot be used, or an output that cannot be written\n"
         "  3                  no certificate for the target; no product was written";
}

}  // namespace ozbound::cli
