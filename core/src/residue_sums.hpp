// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/functions.hpp"
#include "ozbound/core/detail/complex_residues.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "residue_constants.hpp"
#include "tiled_product.hpp"

namespace ozbound {

/// Recovers C' of entries from the sums of their moduli, as groups of a carry chain (residue_layout).
class Recovery {
 public:
  static constexpr Index part = EntrySums::part;

  Recovery(int moduli_count, Recovered what, const KernelFunctions& functions)
      : constants_(residue_constants(moduli_count, what)), what_(what), functions_(functions) {}

  /// Recovers from INT64 sums, |sums| < 2^46: [t * part + j] belongs to modulus t.
  void take(const std::int64_t* sums, Index count, std::int64_t* groups) const {
    if (functions_.recover(sums, part, count, constants_, groups)) return;
    const auto base = residue_base(constants_.count, what_);
    for (Index j = 0; j < count; ++j)
      to_groups(base.reconstruct(sums + j, part), residue_groups(constants_.count), residue_radix(constants_.count), groups + j,
                part);
  }

  [[nodiscard]] bool takes_int32() const { return functions_.recover_products != nullptr; }
  /// Recovers from INT32 sums; false if an entry is not certain.
  [[nodiscard]] bool take(const SumTile::RowProducts& row, std::int64_t* groups) const {
    return functions_.recover_products(row.products, row.stride, row.corrections, row.correction_stride, row.count, constants_,
                                       groups, part);
  }

 private:
  const ResidueConstants& constants_;
  Recovered what_;
  const KernelFunctions& functions_;
};

/// C' of the entries of a tile, from the sums of its moduli.
class ResidueSums final : public EntrySums {
 public:
  ResidueSums(SumTile& tile, int moduli_count, const KernelFunctions& functions)
      : tile_(tile), recovery_(moduli_count, Recovered::real_product, functions) {}

  const std::int64_t* sums(Index i, Index first, Index count) override {
    if (!take_products(i, first, count)) recovery_.take(tile_.sums(i, first, count), count, groups_.data());
    return groups_.data();
  }
  [[nodiscard]] Index row() const override { return tile_.row(); }
  [[nodiscard]] Index column() const override { return tile_.column(); }
  [[nodiscard]] Index rows() const override { return tile_.rows(); }
  [[nodiscard]] Index columns() const override { return tile_.columns(); }

 private:
  /// Recovers from INT32 products, panel by panel; false if there are no such products, or an entry is not certain.
  bool take_products(Index i, Index first, Index count) {
    if (!recovery_.takes_int32()) return false;
    for (Index j = first; j < first + count;) {
      const auto row = tile_.row_products(i, j, first + count - j);
      if (row.products == nullptr || !recovery_.take(row, groups_.data() + (j - first))) return false;
      j += row.count;
    }
    return true;
  }

  SumTile& tile_;
  Recovery recovery_;
  std::array<std::int64_t, static_cast<std::size_t>(part) * most_residue_limbs> groups_{};
};

/// Number of complex residue products whose sums and differences fit INT32: |p2 - p0 - p1| <= 3 k 128^2.
inline constexpr Index complex_int32_terms = residue_int32_terms / 3;

/// C' of complex operands, from a tile of complex entries. Row i of the tile gives rows 2i (real parts) and 2i + 1 (imaginary
/// parts).
class ComplexResidueSums final : public EntrySums {
 public:
  /// @param inner complex elements of a row of A
  ComplexResidueSums(SumTile& tile, int moduli_count, const KernelFunctions& functions, Index inner)
      : tile_(tile),
        moduli_(ComplexModuli::of(moduli_count)),
        parts_{{moduli_count, Recovered::real_part, functions}, {moduli_count, Recovered::imaginary_part, functions}},
        takes_int32_(parts_[0].takes_int32() && inner <= complex_int32_terms) {}

  const std::int64_t* sums(Index i, Index first, Index count) override {
    if (!take_products(i, first, count)) take_sums(i, first, count);
    return groups_.data();
  }
  [[nodiscard]] Index row() const override { return 2 * tile_.row(); }
  [[nodiscard]] Index column() const override { return tile_.column(); }
  [[nodiscard]] Index rows() const override { return 2 * tile_.rows(); }
  [[nodiscard]] Index columns() const override { return tile_.columns(); }

 private:
  /// out[t * part + j] = the value of the part modulo modulus t, from layers [l * stride + j]; correction(l) is added to layer
  /// l.
  template <class Integer, class Correction>
  void combine(const Integer* layers, Index stride, const Correction& correction, Index count, bool imaginary, Integer* out) {
    for (int t = 0; t < moduli_.count; ++t, out += part) {
      const auto modulus = moduli_.of_modulus[t];  // a copy, so that `out` does not alias it
      const int first = modulus.first_layer - 1, last = first + modulus.layers() - 1;
      const Integer *p0 = layers + first * stride, *p1 = p0 + stride, *p2 = layers + last * stride;
      const Integer c0 = correction(first), c1 = correction(first + 1), c2 = correction(last);
      const Integer real = modulus.real(c0, c1), of_both = modulus.imaginary(c0, c1, c2);
      if (!imaginary)
        for (Index j = 0; j < count; ++j) out[j] = modulus.real(p0[j], p1[j]) + real;
      else
        for (Index j = 0; j < count; ++j) out[j] = modulus.imaginary(p0[j], p1[j], p2[j]) + of_both;
    }
  }

  bool take_products(Index i, Index first, Index count) {
    if (!takes_int32_) return false;
    for (Index j = first; j < first + count;) {
      const auto row = tile_.row_products(i / 2, j, first + count - j);
      if (row.products == nullptr) return false;
      const auto correction = [&row](int l) { return row.corrections[l * row.correction_stride]; };
      combine(reinterpret_cast<const std::uint32_t*>(row.products), row.stride, correction, row.count, i % 2 != 0,
              words_.data());
      static constexpr std::uint32_t none = 0;
      const auto* const words = reinterpret_cast<const std::int32_t*>(words_.data());
      if (!parts_[i % 2].take({words, row.count, part, &none, 0}, groups_.data() + (j - first))) return false;
      j += row.count;
    }
    return true;
  }

  void take_sums(Index i, Index first, Index count) {
    if (i / 2 != row_ || first != first_ || count != count_)
      layers_ = tile_.sums(i / 2, first, count), row_ = i / 2, first_ = first, count_ = count;
    combine(layers_, part, [](int) { return std::int64_t{0}; }, count, i % 2 != 0, of_moduli_.data());
    parts_[i % 2].take(of_moduli_.data(), count, groups_.data());
  }

  SumTile& tile_;
  ComplexModuli moduli_;
  Recovery parts_[2];
  bool takes_int32_;
  Index row_ = -1, first_ = 0, count_ = 0;  ///< the entries in layers_
  const std::int64_t* layers_ = nullptr;    ///< sums of the layers' products, owned by the tile
  std::array<std::uint32_t, static_cast<std::size_t>(part) * max_moduli> words_{};
  std::array<std::int64_t, static_cast<std::size_t>(part) * max_moduli> of_moduli_{};
  std::array<std::int64_t, static_cast<std::size_t>(part) * most_residue_limbs> groups_{};
};

}  // namespace ozbound
