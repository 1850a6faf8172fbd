// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <string>

namespace ozbound {

/// A double exactly, as C writes hexadecimal floating-point numbers: `0x1.8p+1`, `-0x0p+0`. (Of 0, fmt's own `{:a}` depends on
/// its version.)
inline std::string hex_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

}  // namespace ozbound
