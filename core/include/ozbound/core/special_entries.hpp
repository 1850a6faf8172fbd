// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ozbound/core/product.hpp"

namespace ozbound {

/// The entries of C that NaN and infinities decide: those of special rows of A and columns of B, those over a C0 that is not
/// finite, and every one under scalars that are not.
struct SpecialEntries {
  std::vector<std::uint8_t> rows, columns;  ///< [m], [n]: 1 where the vector holds a NaN or an infinity
  bool everywhere = false;
  InputView c0;  ///< m x n where it is read, else empty

  /// Whether A, B and the scalars make an entry special, whatever C0 is.
  [[nodiscard]] bool product(Index i, Index j) const {
    return everywhere || rows[static_cast<std::size_t>(i)] != 0 || columns[static_cast<std::size_t>(j)] != 0;
  }

  /// Whether an entry is special. Reads C0.
  [[nodiscard]] bool at(Index i, Index j) const {
    return product(i, j) || (!c0.empty() && !is_finite(c0.bits(i, j), binary64));
  }

  /// How many entries are special whatever C0 is.
  [[nodiscard]] Index count_by_product() const;
};

/// The special entries of a call, without what it never reads.
SpecialEntries special_entries(const RealProduct& call, int threads);

/// apply_specials and multiply_exactly of gemm.hpp, where the entries are known.
void apply_specials(const RealProduct& call, const SpecialEntries& specials, int threads);
void multiply_exactly(const RealProduct& call, const SpecialEntries& specials, int threads);

}  // namespace ozbound
