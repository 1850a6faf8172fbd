#include "largest_entry.hpp"

#include <cmath>
#include <cstddef>

namespace ozbound {
namespace {

/// x 2^shift, shift <= 0, exactly or from above.
double shrunk_upper(double x, std::int64_t shift) {
  if (x == 0 || shift == 0) return x;
  return std::max(std::ldexp(x, static_cast<int>(std::max<std::int64_t>(shift, -3000))), 0x1p-900);
}

}  // namespace

ChunkBound chunk_bound(const EntryBound& bound, const std::vector<std::int64_t>& exponents) {
  const auto n = static_cast<Index>(exponents.size());
  const auto chunk = [](Index j) { return static_cast<std::size_t>(j / chunk_columns); };
  ChunkBound result{bound, std::vector<std::int64_t>(static_cast<std::size_t>(chunks_of(n)))};
  for (Index j = 0; j < n; ++j) {
    const auto exponent = exponents[static_cast<std::size_t>(j)];
    auto& top = result.exponents[chunk(j)];
    top = j % chunk_columns == 0 ? exponent : std::max(top, exponent);
  }
  for (auto& term : result.bound.terms)
    for (auto& outer : term.alternatives) {
      std::vector<double> tops(result.exponents.size());
      for (Index j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(j);
        tops[chunk(j)] = std::max(tops[chunk(j)], shrunk_upper(outer.columns[at], exponents[at] - result.exponents[chunk(j)]));
      }
      outer.columns = std::move(tops);
    }
  return result;
}

}  // namespace ozbound
