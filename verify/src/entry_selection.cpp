// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/entry_selection.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "ozbound/verify/random_stream.hpp"

namespace ozbound {

EntrySelection EntrySelection::sample(Index count, std::uint64_t seed) {
  if (count < 0) throw std::invalid_argument("count must not be negative: " + std::to_string(count));
  EntrySelection selection;
  selection.all_ = false;
  selection.count_ = count;
  selection.seed_ = seed;
  return selection;
}

EntrySelection EntrySelection::one_of_each_block(Index side, std::uint64_t seed) {
  if (side < 1) throw std::invalid_argument("side must be at least 1: " + std::to_string(side));
  auto selection = sample(0, seed);
  selection.side_ = side;
  return selection;
}

namespace {

std::vector<Index> positions_in_blocks(Index rows, Index cols, Index side, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<Index> chosen;
  for (Index i = 0; i < rows; i += side)
    for (Index j = 0; j < cols; j += side) {
      const Index row = random.integer(i, std::min(i + side, rows) - 1), col = random.integer(j, std::min(j + side, cols) - 1);
      chosen.push_back(row * cols + col);
    }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<Index> EntrySelection::positions(Index rows, Index cols) const {
  const Index total = rows * cols;
  if (total == 0) return {};
  if (side_ > 0) return positions_in_blocks(rows, cols, side_, seed_);
  std::vector<Index> chosen{0, cols - 1, total - cols, total - 1};
  const auto wanted = static_cast<std::size_t>(std::min(total, count_));
  RandomStream random(seed_);
  const auto make_distinct = [&chosen] {
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  };
  for (make_distinct(); chosen.size() < wanted; make_distinct())
    for (auto missing = wanted - chosen.size(); missing > 0; --missing) chosen.push_back(random.integer(0, total - 1));
  return chosen;
}

}  // namespace ozbound
