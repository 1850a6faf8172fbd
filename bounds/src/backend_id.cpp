// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/backend_id.hpp"

#include <stdexcept>

namespace ozbound {
namespace {

constexpr std::string_view cuda_prefix = "cuda: ";

}  // namespace

std::string to_string(const BackendId& id) {
  return id.kind == BackendId::Kind::cpu ? "cpu" : std::string(cuda_prefix) + id.device;
}

BackendId parse_backend_id(std::string_view text) {
  if (text == "cpu") return {};
  if (text.starts_with(cuda_prefix) && text.size() > cuda_prefix.size())
    return {BackendId::Kind::cuda, std::string(text.substr(cuda_prefix.size()))};
  throw std::invalid_argument("must be cpu or cuda: DEVICE: '" + std::string(text) + "'");
}

}  // namespace ozbound
