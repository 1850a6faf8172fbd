// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <stdexcept>
#include <string>

#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/scheme.hpp"
#include "selectors.hpp"

namespace ozbound {
namespace {

constexpr Index coarse_block = 64;
constexpr int none = -100000;  // exp(0): far below every sum of two exponents

/// Largest and smallest exponents of every block of every vector, block by block.
struct Exponents {
  Index blocks = 0;
  std::vector<int> largest, smallest;
  std::vector<int> top;  ///< largest exponent of every vector

  Exponents(InputView operand, Side side, Index block) {
    const auto vectors = vectors_of(operand, side);
    blocks = (vectors.cols() + block - 1) / block;
    for (Index i = 0; i < vectors.rows(); ++i) {
      top.push_back(none);
      for (Index start = 0; start < vectors.cols(); start += block) {
        add_block(vectors.block(i, start, 1, std::min(block, vectors.cols() - start)));
        top.back() = std::max(top.back(), largest.back());
      }
    }
  }

  [[nodiscard]] const int* of(const std::vector<int>& all, Index i) const { return all.data() + i * blocks; }

 private:
  void add_block(const InputView& elements) {
    int low = -none, high = none;
    for (Index l = 0; l < elements.cols(); ++l) {
      const auto x = elements.element(0, l);
      const int exponent = x.magnitude == 0 ? none : x.top_exponent();
      low = std::min(low, exponent);
      high = std::max(high, exponent);
    }
    largest.push_back(high);
    smallest.push_back(low);
  }
};

/// True if an entry has no product that is known to be non-zero.
bool no_product(const Exponents& a, Index i, const Exponents& b, Index j) {
  for (Index t = 0; t < a.blocks; ++t)
    if (a.of(a.largest, i)[t] != none && b.of(b.largest, j)[t] != none) return false;
  return true;
}

/// A lower bound of max over l of exp(a_il) + exp(b_lj).
int largest_product(const Exponents& a, Index i, const Exponents& b, Index j) {
  int largest = 2 * none;
  for (Index t = 0; t < a.blocks; ++t)
    largest =
        std::max({largest, a.of(a.largest, i)[t] + b.of(b.smallest, j)[t], a.of(a.smallest, i)[t] + b.of(b.largest, j)[t]});
  return largest;
}

Selection select(InputView a, InputView b, const Target& target, Index block, const Engine& engine) {
  const auto span = exponent_span(a, b, block, engine.threads());
  if (!span) return {};
  const int slices = (target_bits(target, a.cols()) + *span + 1 + 2 + 7) / 8;  // W <= 8 s - 2
  if (slices > max_slices) return {};
  return {find_scheme("adp").plan(slices, slices, a.cols()), false};
}

}  // namespace

std::optional<int> exponent_span(InputView a, InputView b, Index block, int threads) {
  if (block < 1) throw std::invalid_argument("block must be positive: " + std::to_string(block));
  const Exponents rows(a, Side::rows_of_a, block), columns(b, Side::columns_of_b, block);
  int span = 0;
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(max : span)
  for (Index i = 0; i < a.rows(); ++i)
    failure.run([&] {
      for (Index j = 0; j < b.cols(); ++j) {
        poll_cancelled();
        if (!no_product(rows, i, columns, j))
          span = std::max(span, rows.top[static_cast<std::size_t>(i)] + columns.top[static_cast<std::size_t>(j)] -
                                    largest_product(rows, i, columns, j));
      }
    });
  failure.rethrow();
  if (span > -none / 2) return std::nullopt;
  return span;
}

Selection select_by_exponent_span(InputView a, InputView b, const Target& target, const Engine& engine) {
  return select(a, b, target, 1, engine);
}

Selection select_by_coarse_exponent_span(InputView a, InputView b, const Target& target, const Engine& engine) {
  return select(a, b, target, coarse_block, engine);
}

}  // namespace ozbound
