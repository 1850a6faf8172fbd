// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace ozbound {

/// In whose memory a matrix lies. Who makes a view says so; addresses alone do not tell.
struct Place {
  static constexpr int host = -1;

  int device = host;  ///< CUDA's number of a device

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
