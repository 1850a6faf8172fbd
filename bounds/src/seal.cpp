// SPDX-License-Identifier: BSD-3-Clause
#include "seal.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "hex.hpp"

namespace ozbound {
namespace {

/// FNV-1a, 64 bits.
std::uint64_t fnv(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace

// The hash of the canonical text: members sorted by name, no spaces. The library's name need not be UTF-8.
std::string seal_of(nlohmann::json certificate) {
  certificate.erase("seal");
  return hex(fnv(certificate.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

}  // namespace ozbound
