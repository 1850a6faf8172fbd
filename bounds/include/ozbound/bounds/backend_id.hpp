// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ozbound {

/// Which backend a decision is for, as records have it: `cpu`, `cuda: NVIDIA H200`.
struct BackendId {
  enum class Kind : std::uint8_t { cpu, cuda };

  Kind kind = Kind::cpu;
  std::string device = {};  ///< its name, for people: any of the same kind may carry a decision out

  bool operator==(const BackendId&) const = default;
};

std::string to_string(const BackendId& id);

/// @throws std::invalid_argument for another spelling.
BackendId parse_backend_id(std::string_view text);

}  // namespace ozbound
