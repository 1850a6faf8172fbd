// SPDX-License-Identifier: BSD-3-Clause
#include "largest_bound.hpp"

#include <array>
#include <atomic>
#include <cmath>

#include "largest_entry.hpp"
#include "ozbound/bounds/detail/rounded_error.hpp"
#include "ozbound/core/detail/multiversion.hpp"

namespace ozbound {
namespace {

/// The bits of the largest |x|.
struct TopBits {
  std::int64_t finite = 0;  ///< among finite numbers
  std::int64_t any = 0;     ///< among all numbers
};

OZB_MULTIVERSION TopBits top_bits(const double* x, Index count) {
  TopBits top;
  for (Index j = 0; j < count; ++j) {
    const auto magnitude = static_cast<std::int64_t>(bits_of(x[j]) & ~binary64.sign);
    const auto finite = magnitude < static_cast<std::int64_t>(binary64.inf) ? magnitude : 0;
    top.finite = top.finite < finite ? finite : top.finite;
    top.any = top.any < magnitude ? magnitude : top.any;
  }
  return top;
}

/// candidate[j] = 1 if the bound of an entry may reach `value`: error errors[j] scale factors[j], rounding and underflow. The
/// slack, 2^-40, is far larger than the roundings in this function and in the bound.
OZB_MULTIVERSION void find_candidates(const double* errors, const double* factors, double scale, const double* c,
                                      const double* roundings, double value, Index count, std::uint8_t* candidate) {
  const double result_factor = roundings[0], underflow = roundings[1], below = value * (1 - 0x1p-40);
  for (Index j = 0; j < count; ++j) {
    const double bound = errors[j] * factors[j] * scale + (std::fabs(c[j]) * result_factor + underflow);
    candidate[j] = bound < below ? 0 : 1;
  }
}

/// Elements of a part of a row, contiguous, as doubles.
class RowPart {
 public:
  RowPart(const InputView& c, Index i, Index first, Index count) {
    const auto* doubles = std::get_if<0>(&c.typed());
    if (doubles != nullptr && doubles->col_stride() == 1) {
      elements_ = &(*doubles)(i, first);
      return;
    }
    for (Index j = 0; j < count; ++j) own_[static_cast<std::size_t>(j)] = double_from_bits(c.bits(i, first + j));
    elements_ = own_.data();
  }
  RowPart(const RowPart&) = delete;
  RowPart& operator=(const RowPart&) = delete;

  [[nodiscard]] const double* data() const { return elements_; }

 private:
  std::array<double, static_cast<std::size_t>(chunk_columns)> own_;
  const double* elements_;
};

}  // namespace

LargestBound largest_bound(const ErrorBound& bound, const InputView& c, const SpecialEntries& specials, int threads) {
  const Index n = c.cols();
  const auto row_exponent = [&bound](Index i) { return std::int64_t{bound.row_exponents[static_cast<std::size_t>(i)]}; };
  const std::vector<std::int64_t> exponents(bound.column_exponents.begin(), bound.column_exponents.end());
  const auto chunks = chunk_bound(bound.product, exponents);
  std::atomic<bool> infinite = false;
  const auto of_chunks = [&](Index i, double* upper) {
    chunks.bound.upper_row(i, 0, chunks_of(n), upper);
    for (Index chunk = 0; chunk < chunks_of(n); ++chunk) {
      const Index first = chunk * chunk_columns, count = std::min(chunk_columns, n - first);
      const RowPart row(c, i, first, count);
      const auto top = top_bits(row.data(), count);
      upper[chunk] =
          rounded_error_upper(bound, upper[chunk], row_exponent(i) + chunks.exponents[static_cast<std::size_t>(chunk)],
                              double_from_bits(static_cast<std::uint64_t>(top.finite)));
      for (Index j = 0; top.any >= static_cast<std::int64_t>(binary64.inf) && j < count; ++j)
        if (std::isinf(row.data()[j]) && !specials.at(i, first + j)) infinite = true;
    }
  };
  const ChunkedBound entries(bound.product);
  std::vector<double> factors;
  for (const auto exponent : exponents) factors.push_back(near_power_of_two(exponent));
  const std::array<double, 2> roundings{bound.result_factor, bound.underflow};
  const auto of_entries = [&](Index i, Index first, Index count, LargestEntry& largest) {
    std::array<double, static_cast<std::size_t>(chunk_columns)> product;
    std::array<std::uint8_t, static_cast<std::size_t>(chunk_columns)> candidate;
    entries.upper_row(i, first / chunk_columns, count, product.data());
    const RowPart row(c, i, first, count);
    candidate.fill(1);
    if (largest.value > 0x1p-700)  // far from underflow
      find_candidates(product.data(), factors.data() + first, std::fabs(bound.alpha) * near_power_of_two(row_exponent(i)),
                      row.data(), roundings.data(), largest.value, count, candidate.data());
    for (Index j = 0; j < count; ++j)
      if (candidate[static_cast<std::size_t>(j)] != 0 && !specials.at(i, first + j))
        largest.take({rounded_error_upper(bound, product[static_cast<std::size_t>(j)],
                                          row_exponent(i) + exponents[static_cast<std::size_t>(first + j)], row.data()[j]),
                      i, first + j});
  };
  const double value = largest_entry(c.rows(), n, threads, of_chunks, of_entries).value;
  return {value, infinite};
}

}  // namespace ozbound
