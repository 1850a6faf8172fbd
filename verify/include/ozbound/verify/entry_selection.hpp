// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// The entries of a matrix to judge: all, or a sample that is the same on every platform.
class EntrySelection {
 public:
  static EntrySelection all() { return {}; }

  /// The four corners and random other entries, `count` distinct entries in all, but at least the corners and at most all
  /// entries. @throws std::invalid_argument for a negative count.
  static EntrySelection sample(Index count, std::uint64_t seed);

  /// One random entry of each block of `side` rows and `side` columns, the last of which may be smaller.
  /// @throws std::invalid_argument for a side below 1.
  static EntrySelection one_of_each_block(Index side, std::uint64_t seed);

  [[nodiscard]] bool is_all() const { return all_; }

  /// Positions i * cols + j of the sampled entries, ascending. @pre !is_all().
  [[nodiscard]] std::vector<Index> positions(Index rows, Index cols) const;

 private:
  bool all_ = true;
  Index count_ = 0;
  Index side_ = 0;  ///< of blocks; 0: a sample of the whole
  std::uint64_t seed_ = 0;
};

}  // namespace ozbound
