// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ozbound/core/product.hpp"

namespace ozbound {

/// The entries of C that NaN and infinities decide: those of special rows of A and of special columns of B, those over a C0
/// that is not finite, and all entries if a scalar is not finite.
struct SpecialEntries {
  std::vector<std::uint8_t> rows, columns;  ///< [m], [n]: 1 if the vector holds a NaN or an infinity
  bool everywhere = false;
  InputView c0;  ///< m x n if it is read, otherwise empty

  /// True if A, B and the scalars make an entry special, for any C0.
  [[nodiscard]] bool product(Index i, Index j) const {
    return everywhere || rows[static_cast<std::size_t>(i)] != 0 || columns[static_cast<std::size_t>(j)] != 0;
  }

  /// True if an entry is special. Reads C0.
  [[nodiscard]] bool at(Index i, Index j) const {
    return product(i, j) || (!c0.empty() && !is_finite(c0.bits(i, j), binary64));
  }

  /// Number of entries that are special for any C0.
  [[nodiscard]] Index count_by_product() const;
};

/// The special entries of a call. Operands that the call never reads do not count.
SpecialEntries special_entries(const RealProduct& product, int threads);

/// apply_specials and multiply_exactly of gemm.hpp, if the special entries are already known.
void apply_specials(const RealProduct& product, const SpecialEntries& specials, int threads);
void multiply_exactly(const RealProduct& product, const SpecialEntries& specials, int threads);

}  // namespace ozbound
