// SPDX-License-Identifier: BSD-3-Clause
#include "group_table.hpp"

namespace ozbound::gpu {

GroupTable::GroupTable(const std::vector<ProductGroup>& groups) {
  for (const auto& group : groups) {
    diagonal[count] = static_cast<std::uint8_t>(group.diagonal);
    first_a[count] = static_cast<std::uint8_t>(group.first_a);
    last_a[count] = static_cast<std::uint8_t>(group.last_a);
    ++count;
  }
}

}  // namespace ozbound::gpu
