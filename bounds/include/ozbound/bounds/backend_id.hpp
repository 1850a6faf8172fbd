// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ozbound {

/// The backend of a decision, as records name it: `cpu`, `cuda: NVIDIA H200`.
struct BackendId {
  enum class Kind : std::uint8_t { cpu, cuda };

  Kind kind = Kind::cpu;
  std::string device = {};  ///< device name, for people: any device of the same kind may carry out the decision

  bool operator==(const BackendId&) const = default;
};

std::string to_string(const BackendId& id);

/// @throws std::invalid_argument for any other spelling.
BackendId parse_backend_id(std::string_view text);

}  // namespace ozbound
