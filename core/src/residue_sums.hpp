// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/functions.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "residue_constants.hpp"
#include "tiled_product.hpp"

namespace ozbound {

/// Products of residues that INT32 holds the sum of: floor((2^31 - 1) / 128^2) (docs/derivations/residues.md, R4).
inline constexpr Index residue_int32_terms = ((Index{1} << 31) - 1) / (128 * 128);

/// One product a modulus: layer t of A with layer t of B.
inline std::vector<ProductGroup> residue_products(int moduli_count) {
  std::vector<ProductGroup> groups;
  for (int t = 1; t <= moduli_count; ++t) groups.push_back({2 * t, t, t});
  return groups;
}

/// C' of the entries of a tile, from the sums of its moduli, as groups of a carry chain (residue_layout).
class ResidueSums final : public EntrySums {
 public:
  ResidueSums(SumTile& tile, int moduli_count, const KernelFunctions& functions)
      : tile_(tile), constants_(residue_constants(moduli_count)), functions_(functions) {}

  const std::int64_t* sums(Index i, Index first, Index count) override {
    if (recover_products(i, first, count)) return groups_.data();
    const auto* const of_moduli = tile_.sums(i, first, count);
    if (functions_.recover(of_moduli, part, count, constants_, groups_.data())) return groups_.data();
    const auto base = ResidueBase::of(constants_.count);
    for (Index j = 0; j < count; ++j)
      to_groups(base.reconstruct(of_moduli + j, part), residue_groups(constants_.count), residue_radix(constants_.count),
                groups_.data() + j, part);
    return groups_.data();
  }
  [[nodiscard]] Index row() const override { return tile_.row(); }
  [[nodiscard]] Index column() const override { return tile_.column(); }
  [[nodiscard]] Index rows() const override { return tile_.rows(); }
  [[nodiscard]] Index columns() const override { return tile_.columns(); }

 private:
  /// From INT32 products, panel by panel; false where there are none, or one entry is not sure.
  bool recover_products(Index i, Index first, Index count) {
    if (functions_.recover_products == nullptr) return false;
    for (Index j = first; j < first + count;) {
      const auto row = tile_.row_products(i, j, first + count - j);
      if (row.products == nullptr ||
          !functions_.recover_products(row.products, row.stride, row.corrections, row.correction_stride, row.count, constants_,
                                       groups_.data() + (j - first), part))
        return false;
      j += row.count;
    }
    return true;
  }

  SumTile& tile_;
  const ResidueConstants& constants_;
  const KernelFunctions& functions_;
  std::array<std::int64_t, static_cast<std::size_t>(part) * most_residue_limbs> groups_{};
};

}  // namespace ozbound
