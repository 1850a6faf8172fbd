// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// Which entries of a matrix are judged: all, or a random sample that is the same on every platform.
class EntrySelection {
 public:
  static EntrySelection all() { return {}; }

  /// The four corners and random other entries, `count` distinct ones in all; never fewer than the corners, never more than
  /// there are. @throws std::invalid_argument for a negative count.
  static EntrySelection sample(Index count, std::uint64_t seed);

  [[nodiscard]] bool is_all() const { return all_; }

  /// Positions i * cols + j of the sampled entries, ascending. @pre !is_all().
  [[nodiscard]] std::vector<Index> positions(Index rows, Index cols) const;

 private:
  bool all_ = true;
  Index count_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace ozbound
