// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

namespace ozbound {

/// The arithmetic of another unit, as its authors describe it, run bit by bit: docs/models.md.
struct Model {
  std::string_view name;    ///< `m3xu`
  std::string_view source;  ///< publication
};

/// All models.
std::span<const Model> all_models();

}  // namespace ozbound
