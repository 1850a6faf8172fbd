// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <string>

namespace ozbound {

/// A double exactly, in C's hexadecimal notation: `0x1.8p+1`, `-0x0p+0`. (For 0, the output of fmt's `{:a}` depends on fmt's
/// version.)
inline std::string hex_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

}  // namespace ozbound
