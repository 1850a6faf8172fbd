// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "ozbound/bounds/certificate.hpp"
#include "ozbound/core/views.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/verdict.hpp"
#include "support/stored_matrix.hpp"

namespace ozbound::fuzz {

using test::Storage;
using test::StoredMatrix;

inline constexpr double inf = std::numeric_limits<double>::infinity();

/// Numbers at which behaviour changes: zeros and specials, the ends of both formats, ties, and the larger scale of balanced
/// digits.
inline constexpr std::array<double, 32> telling_numbers{0.0,
                                                        -0.0,
                                                        1,
                                                        -1,
                                                        inf,
                                                        -inf,
                                                        std::numeric_limits<double>::quiet_NaN(),
                                                        0x1p-1074,
                                                        -0x1p-1074,
                                                        0x1p-1022,
                                                        0x1.fffffffffffffp1023,
                                                        -0x1.fffffffffffffp1023,
                                                        0x1p1023,
                                                        0x1p-149,
                                                        0x1p-126,
                                                        0x1.fffffep127,
                                                        0x1p-150,
                                                        0x1.FDp0,
                                                        0x1.FCfffffffffffp0,
                                                        0x1.fffffffffffffp0,
                                                        0x1.0000000000001p0,
                                                        0x1.000002p0,
                                                        0x1p53,
                                                        0x1p-53,
                                                        0x1.8p-53,
                                                        0x1p-24,
                                                        0x1p511,
                                                        -0x1p-537,
                                                        127,
                                                        -128,
                                                        0x1.5555555555555p-2,
                                                        0x1.fep6};

/// A number of the element type: one of the numbers above, a short one of moderate size, or arbitrary bits.
inline double number(Bytes& bytes, bool single) {
  const auto kind = bytes.byte();
  double value = 0;
  if (kind < telling_numbers.size())
    value = telling_numbers[kind];
  else if (kind < 192)
    value = std::ldexp(kind - 112, static_cast<std::int8_t>(bytes.byte()));
  else if (single)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bytes.bits(4)));
  else
    return std::bit_cast<double>(bytes.bits(8));
  return single ? static_cast<double>(static_cast<float>(value)) : value;
}

inline StoredMatrix matrix(Bytes& bytes, Index rows, Index cols, Storage storage) {
  StoredMatrix result(rows, cols, storage);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) result.set(i, j, number(bytes, storage.single));
  return result;
}

inline Target target(Bytes& bytes) {
  constexpr std::array<double, 12> taus{0x1p-53, 0x1p-52, 0x1.8p-53, 0x1p-50, 0x1p-45, 1e-12,
                                        0x1p-24, 0x1p-22, 1e-6,      1e-3,    1,       0x1p-60};
  Target result{static_cast<Target::Kind>(bytes.between(0, 6)), 0};
  if (result.has_tau()) result.tau = bytes.pick(taus);
  return result;
}

/// The values of a matrix as doubles.
inline Matrix<double> values(const InputView& view) {
  Matrix<double> result(view.rows(), view.cols());
  for (Index i = 0; i < view.rows(); ++i)
    for (Index j = 0; j < view.cols(); ++j) result(i, j) = double_from_bits(view.bits(i, j));
  return result;
}

/// All bits of a matrix, row by row.
inline std::vector<std::uint64_t> bits_of_matrix(const StoredMatrix& matrix) {
  std::vector<std::uint64_t> bits;
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) bits.push_back(matrix.bits(i, j));
  return bits;
}

/// Records the parts that a product must not change: its inputs' elements, and the memory beside the elements of each matrix.
class Untouched {
 public:
  explicit Untouched(std::vector<const StoredMatrix*> inputs) : inputs_(std::move(inputs)) {
    for (const auto* input : inputs_) before_.push_back(bits_of_matrix(*input));
  }

  void check(const StoredMatrix& c) const {
    require(c.intact(), "an element beside C was written");
    for (std::size_t t = 0; t < inputs_.size(); ++t)
      require(inputs_[t]->intact() && bits_of_matrix(*inputs_[t]) == before_[t], "an input was written");
  }

 private:
  std::vector<const StoredMatrix*> inputs_;
  std::vector<std::vector<std::uint64_t>> before_;
};

inline ResultView result_of(const OutputView& c) {
  return std::visit([](const auto& view) { return ResultView(view); }, c.typed());
}

/// Requires that the certificate's bound holds for every entry, its target if it says so, and that exact results are correctly
/// rounded.
inline void require_certified(const OutputView& c, const Oracle& oracle, const Certificate& certificate) {
  const auto check = [](const Verdict& verdict) { require(verdict.holds(), explain(verdict)); };
  const auto result = result_of(c);
  check(verify(result, oracle, certificate.bound.over(c.as_input())));
  if (certificate.holds) check(verify(result, oracle, certificate.target));
  if (certificate.method == Method::exact || certificate.method == Method::correctly_rounded)
    check(verify(result, oracle, Target::correctly_rounded()));
}

}  // namespace ozbound::fuzz
