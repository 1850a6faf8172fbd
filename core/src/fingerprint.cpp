// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/fingerprint.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "ozbound/core/detail/fingerprint_term.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/detail/team_size.hpp"

namespace ozbound {
namespace {

constexpr std::size_t block = 512;

/// The sum over consecutive elements, whose keys are key, key + step, and so on.
OZB_MULTIVERSION std::uint64_t mixed_sum(const std::uint64_t* elements, std::size_t count, std::uint64_t key,
                                         std::uint64_t step) {
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < count; ++t, key += step) sum += fingerprint_term(elements[t], key);
  return sum;
}

/// Elements [first, first + count) of a row, as the bits of binary64 numbers.
template <class T>
void read(MatrixView<const T> lines, Index i, Index first, std::size_t count, std::uint64_t* elements) {
  if constexpr (sizeof(T) == sizeof(double))
    if (lines.col_stride() == 1) {
      std::memcpy(elements, &lines(i, first), count * sizeof(T));
      return;
    }
  for (std::size_t t = 0; t < count; ++t) {
    const T x = lines(i, first + static_cast<Index>(t));
    if constexpr (sizeof(T) == sizeof(double))
      elements[t] = bits_of(x);
    else
      elements[t] = widen_bits(x);
  }
}

/// The sum over lines, which may be rows or columns: element (i, l) has the number i * by_line + l * by_element.
template <class T>
std::uint64_t sum_of_lines(MatrixView<const T> lines, Index by_line, Index by_element, int threads) {
  std::uint64_t sum = 0;
  const double steps = static_cast<double>(lines.rows()) * static_cast<double>(lines.cols());
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(team_size(threads, steps)) reduction(+ : sum)
  for (Index i = 0; i < lines.rows(); ++i)
    failure.run([&] {
      std::array<std::uint64_t, block> elements;
      for (Index l = 0; l < lines.cols(); l += static_cast<Index>(block)) {
        const auto count = std::min(block, static_cast<std::size_t>(lines.cols() - l));
        read(lines, i, l, count, elements.data());
        const auto number = static_cast<std::uint64_t>(i * by_line + l * by_element);
        sum += mixed_sum(elements.data(), count, fingerprint_key(number),
                         static_cast<std::uint64_t>(by_element) * fingerprint_step);
      }
    });
  failure.rethrow();
  return sum;
}

}  // namespace

std::uint64_t fingerprint(const InputView& matrix, int threads) {
  return std::visit(
      [&](const auto& view) {
        const bool by_columns = view.row_stride() == 1 && view.col_stride() != 1;
        return by_columns ? sum_of_lines(view.transposed(), 1, view.cols(), threads)
                          : sum_of_lines(view, view.cols(), 1, threads);
      },
      matrix.typed());
}

}  // namespace ozbound
