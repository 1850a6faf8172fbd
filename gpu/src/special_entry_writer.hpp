// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device_epilogue.hpp"

namespace ozbound::gpu {

/// The operands A (m x k) and B (k x n) of a product, in device memory. No operands if data is null.
struct OperandPair {
  DeviceMatrix a, b;
  Index k = 0;

  [[nodiscard]] OZB_HD bool exists() const { return a.data != nullptr; }
};

#ifdef __CUDACC__

/// The entries that NaN and infinities decide, as core's apply_specials: entries of special vectors, under scalars that are not
/// finite, and over a C0 that is not finite. If there are no terms, because k = 0 or alpha = 0, all of C.
class SpecialEntryWriter {
 public:
  __device__ SpecialEntryWriter(const OperandPair& operands, const DeviceEpilogue& epilogue)
      : operands_(operands),
        epilogue_(epilogue),
        everywhere_(!epilogue.finite_scalars()),
        no_terms_(operands.k == 0 || is_zero(epilogue.alpha_value())) {}

  /// True if every entry is special.
  [[nodiscard]] __device__ bool all() const { return everywhere_ || no_terms_; }

  /// True if every entry is special in a product that computes 0 S + beta C0 like any other when alpha is 0.
  [[nodiscard]] __device__ bool all_but_products() const { return everywhere_ || operands_.k == 0; }

  /// True if (i, j) is special. `of_vectors` says that its row or its column is special.
  [[nodiscard]] __device__ bool contains(Index i, Index j, bool of_vectors) const {
    return all() || of_vectors || !is_finite(epilogue_.c0_bits(i, j), binary64);
  }

  /// @pre contains(i, j, of_vectors).
  __device__ void write(Index i, Index j, bool of_vectors) const {
    const auto special = sum(i, j, !no_terms_ && (everywhere_ || of_vectors));
    epilogue_.c.set_bits(i, j, special.is_special() ? special.bits(epilogue_.c.format()) : without_terms(i, j));
  }

 private:
  /// The sum of the terms that may be special.
  [[nodiscard]] __device__ SpecialSum sum(Index i, Index j, bool with_product) const {
    SpecialSum result;
    const auto alpha = bits_of(epilogue_.alpha_value()), beta = bits_of(epilogue_.beta_value());
    for (Index l = 0; with_product && l < operands_.k; ++l) result.add(alpha, operands_.a.bits(i, l), operands_.b.bits(l, j));
    if (!is_zero(epilogue_.beta_value())) result.add(beta, epilogue_.c0.bits(i, j), bits_of(1.0));
    return result;
  }

  [[nodiscard]] __device__ std::uint64_t without_terms(Index i, Index j) const {
    return round_sum(WideDyadic<1>{}, 0, epilogue_.scalars(), to_dyadic(epilogue_.c0_bits(i, j), binary64), 0).bits;
  }

  const OperandPair& operands_;
  const DeviceEpilogue& epilogue_;
  bool everywhere_, no_terms_;
};

/// Calls combine() for an entry that is not special. Writes a special entry if the operands are given.
template <class Combine>
__device__ void finish_or_write_special(const OperandPair& operands, const DeviceEpilogue& epilogue, Index i, Index j,
                                        bool of_vectors, const Combine& combine) {
  const SpecialEntryWriter specials(operands, epilogue);
  if (!operands.exists()) {
    if (!of_vectors && is_finite(epilogue.c0_bits(i, j), binary64)) combine();
  } else if (specials.contains(i, j, of_vectors)) {
    specials.write(i, j, of_vectors);
  } else {
    combine();
  }
}

#endif

}  // namespace ozbound::gpu
