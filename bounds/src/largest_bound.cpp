#include "largest_bound.hpp"

#include <array>

#include "largest_entry.hpp"
#include "ozbound/core/multiversion.hpp"

namespace ozbound {
namespace {

/// Bits of the largest finite |x|.
OZB_MULTIVERSION std::int64_t top_bits(const double* x, Index count) {
  std::int64_t top = 0;
  for (Index j = 0; j < count; ++j) {
    const auto magnitude = static_cast<std::int64_t>(bits_of(x[j]) & ~binary64.sign);
    const auto finite = magnitude < static_cast<std::int64_t>(binary64.inf) ? magnitude : 0;
    top = top < finite ? finite : top;
  }
  return top;
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

double largest_bound(const ErrorBound& bound, const InputView& c, const std::function<bool(Index, Index)>& special,
                     int threads) {
  const Index n = c.cols();
  const auto row_exponent = [&bound](Index i) { return std::int64_t{bound.row_exponents[static_cast<std::size_t>(i)]}; };
  const std::vector<std::int64_t> exponents(bound.column_exponents.begin(), bound.column_exponents.end());
  const auto chunks = chunk_bound(bound.product, exponents);
  const auto of_chunks = [&](Index i, double* upper) {
    chunks.bound.upper_row(i, 0, chunks_of(n), upper);
    for (Index chunk = 0; chunk < chunks_of(n); ++chunk) {
      const Index first = chunk * chunk_columns, count = std::min(chunk_columns, n - first);
      const auto top = static_cast<std::uint64_t>(top_bits(RowPart(c, i, first, count).data(), count));
      upper[chunk] =
          bound.at(upper[chunk], row_exponent(i) + chunks.exponents[static_cast<std::size_t>(chunk)], double_from_bits(top));
    }
  };
  const auto of_entries = [&](Index i, Index first, Index count, Largest& largest) {
    std::array<double, static_cast<std::size_t>(chunk_columns)> product;
    bound.product.upper_row(i, first, count, product.data());
    const RowPart row(c, i, first, count);
    for (Index j = 0; j < count; ++j)
      if (!special(i, first + j))
        largest.take({bound.at(product[static_cast<std::size_t>(j)],
                               row_exponent(i) + exponents[static_cast<std::size_t>(first + j)], row.data()[j]),
                      i, first + j});
  };
  return largest_entry(c.rows(), n, threads, of_chunks, of_entries).value;
}

}  // namespace ozbound
