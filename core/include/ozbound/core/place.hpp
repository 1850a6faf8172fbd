// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace ozbound {

/// The memory in which a matrix lies. The creator of a view states it; addresses do not reveal it.
struct Place {
  static constexpr int host = -1;

  int device = host;  ///< CUDA device number

  [[nodiscard]] bool is_host() const { return device == host; }
  bool operator==(const Place&) const = default;
};

inline constexpr Place in_host_memory{};
constexpr Place on_cuda_device(int device) { return {device}; }

/// `the host's memory`, `the memory of CUDA device 0`.
inline std::string to_string(Place place) {
  return place.is_host() ? "the host's memory" : "the memory of CUDA device " + std::to_string(place.device);
}

}  // namespace ozbound
