// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "ozbound/core/entry.hpp"
#include "ozbound/core/product.hpp"
#include "ozbound/core/real_representation.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/special_entries.hpp"

namespace ozbound {

/// Exponents of the smallest and the largest non-zero magnitude among some numbers.
struct ExponentRange {
  int least = std::numeric_limits<int>::max();
  int top = std::numeric_limits<int>::min();

  [[nodiscard]] bool empty() const { return top < least; }
};

/// A matrix in the memory of an engine's operands.
class OwnedMatrix {
 public:
  virtual ~OwnedMatrix() = default;
  [[nodiscard]] virtual OutputView view() = 0;
};

/// Operations on matrix elements that products need, apart from slices and their norms. Each engine has one for the matrices
/// that it takes; HostMatrices serves host memory. Results depend only on the elements: the same bits in every memory.
/// @pre for all members: a FloatEnvironment.
class Matrices {
 public:
  virtual ~Matrices() = default;

  /// True if it takes matrices in this memory.
  [[nodiscard]] virtual bool reaches(Place place) const = 0;

  /// 64 bits of shape and elements, for records. Equal fingerprints do not prove equal matrices.
  [[nodiscard]] virtual std::uint64_t fingerprint(const InputView& matrix) const = 0;

  /// The range of the vectors without specials.
  [[nodiscard]] virtual ExponentRange exponent_range(const InputView& operand, Side side) const = 0;
  /// The range of the finite elements.
  [[nodiscard]] virtual ExponentRange exponent_range(const InputView& matrix) const = 0;

  /// A new matrix with uninitialised elements.
  [[nodiscard]] virtual std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool is_double) const = 0;
  /// A copy: in the same format for host matrices, in binary64 for device matrices.
  [[nodiscard]] virtual std::unique_ptr<OwnedMatrix> copy(const InputView& matrix) const = 0;

  [[nodiscard]] virtual SpecialEntries special_entries(const RealProduct& product) const = 0;
  [[nodiscard]] virtual Index count(const SpecialEntries& specials) const = 0;

  /// Writes only the entries that NaN and infinities decide, as ozbound::apply_specials does.
  virtual void apply_specials(const RealProduct& product, const SpecialEntries& specials) const = 0;
  virtual void write_specials(const RealProduct& product) const { apply_specials(product, special_entries(product)); }

  /// The same as ozbound::multiply_exactly and ozbound::finish_exactly.
  virtual void multiply_exactly(const RealProduct& product, const SpecialEntries& specials) const = 0;
  virtual void finish_exactly(const RealProduct& product, const std::vector<Entry>& entries) const = 0;

  /// The entries of C that are infinite and not special, in row order.
  [[nodiscard]] virtual std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& specials) const = 0;

  /// A complex product with real scalars as a real one. @pre product.check() passes.
  [[nodiscard]] virtual std::unique_ptr<RealRepresentation> represent(const ComplexProduct& product) const = 0;

  /// A product of copies placed where this engine works fastest, for matrices elsewhere. Null if the engine works on the
  /// matrices in place. If C0 is C, the copy's C0 is the copy's C. @pre product.check() passes.
  [[nodiscard]] virtual std::unique_ptr<RealRepresentation> bring(const RealProduct& product) const;
};

/// Matrices in host memory.
class HostMatrices final : public Matrices {
 public:
  /// @param threads 0: OpenMP's number of threads. A child of fork() uses one (usable_threads.hpp)
  explicit HostMatrices(int threads = 0) : threads_(threads) {}

  [[nodiscard]] bool reaches(Place place) const override { return place.is_host(); }
  [[nodiscard]] std::uint64_t fingerprint(const InputView& matrix) const override;
  [[nodiscard]] ExponentRange exponent_range(const InputView& operand, Side side) const override;
  [[nodiscard]] ExponentRange exponent_range(const InputView& matrix) const override;
  [[nodiscard]] std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool is_double) const override;
  [[nodiscard]] std::unique_ptr<OwnedMatrix> copy(const InputView& matrix) const override;
  [[nodiscard]] SpecialEntries special_entries(const RealProduct& product) const override;
  [[nodiscard]] Index count(const SpecialEntries& specials) const override;
  void apply_specials(const RealProduct& product, const SpecialEntries& specials) const override;
  void multiply_exactly(const RealProduct& product, const SpecialEntries& specials) const override;
  void finish_exactly(const RealProduct& product, const std::vector<Entry>& entries) const override;
  [[nodiscard]] std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& specials) const override;
  [[nodiscard]] std::unique_ptr<RealRepresentation> represent(const ComplexProduct& product) const override;

 private:
  [[nodiscard]] int threads() const;

  int threads_;
};

}  // namespace ozbound
