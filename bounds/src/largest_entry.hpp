// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/team_size.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// An entry and its value >= 0.
struct LargestEntry {
  double value = 0;
  Index i = 0;
  Index j = 0;

  /// Keeps the larger of two values. If they are equal and not 0, keeps the first one, row by row.
  void take(const LargestEntry& other) {
    const bool first = other.value == value && value > 0 && std::tie(other.i, other.j) < std::tie(i, j);
    if (other.value > value || first) *this = other;
  }
};

/// Number of columns of a matrix that share one bound, starting with the first column.
inline constexpr Index chunk_columns = 64;
constexpr Index chunks_of(Index n) { return (n + chunk_columns - 1) / chunk_columns; }

/// The largest entry of an m x n matrix, exactly, without evaluating most entries (branch and bound).
///
/// `bound(i, upper)` sets upper[c] to a number no smaller than any entry of row i and chunk c, for every chunk. `visit(i,
/// first, count, largest)` passes the entries of a chunk to `largest`, or at least those that are not below it. Both are called
/// from many threads, in a FloatEnvironment.
template <class Bound, class Visit>
LargestEntry largest_entry(Index m, Index n, int threads, const Bound& bound, const Visit& visit) {
  if (m == 0 || n == 0) return {};
  const Index chunks = chunks_of(n);
  Matrix<double> upper(m, chunks);
  const auto look = [&](Index i, Index chunk, LargestEntry& largest) {
    poll_cancelled();
    const Index first = chunk * chunk_columns;
    visit(i, first, std::min(chunk_columns, n - first), largest);
  };
  const int team = team_size(threads, 64 * static_cast<double>(m) * static_cast<double>(n));
  FirstException failure;
#pragma omp parallel num_threads(team)
  {
    const FloatEnvironment environment;
#pragma omp for schedule(static)
    for (Index i = 0; i < m; ++i) failure.run([&] { bound(i, &upper(i, 0)); });
  }
  failure.rethrow();
  LargestEntry largest;
  const auto top = std::max_element(upper.data(), upper.data() + m * chunks) - upper.data();
  look(top / chunks, top % chunks, largest);
#pragma omp parallel num_threads(team)
  {
    const FloatEnvironment environment;
    LargestEntry own = largest;
#pragma omp for schedule(dynamic, 4)
    for (Index i = 0; i < m; ++i)
      failure.run([&] {
        for (Index chunk = 0; chunk < chunks; ++chunk)
          if (upper(i, chunk) > 0 && upper(i, chunk) >= own.value) look(i, chunk, own);
      });
#pragma omp critical
    largest.take(own);
  }
  failure.rethrow();
  return largest;
}

/// 2^shift, or +Inf if it is not near 1; an entry with +Inf is always evaluated.
double near_power_of_two(std::int64_t shift);

/// Evaluates a bound chunk by chunk. It skips the alternatives that are never the minimum in a chunk, usually most of them. The
/// bits are the same.
class ChunkedBound {
 public:
  /// `bound` must outlive it.
  explicit ChunkedBound(const EntryBound& bound);

  /// bound.upper(i, j) for the `count` columns of a chunk. @pre a FloatEnvironment.
  void upper_row(Index i, Index chunk, Index count, double* out) const;

 private:
  /// The smallest and the largest column factor of an alternative, for every chunk.
  struct Ranges {
    std::vector<double> least, largest;
  };

  const EntryBound& bound_;
  std::vector<std::vector<Ranges>> ranges_;  ///< [term][alternative]
};

/// A bound for all columns of a chunk at once. Its entry (i, c), relative to 2^exponents[c], is no smaller than the bound of
/// (i, j) relative to 2^e_j, for every column j of the chunk and every row.
struct ChunkBound {
  EntryBound bound;                     ///< m x chunks_of(n)
  std::vector<std::int64_t> exponents;  ///< the largest e_j of every chunk
};

/// @param exponents e_j of every column.
ChunkBound chunk_bound(const EntryBound& bound, const std::vector<std::int64_t>& exponents);

}  // namespace ozbound
