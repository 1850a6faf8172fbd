// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/entry_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/generators.hpp"

namespace ozbound::entry_bound_test {
namespace {

using test::RandomBits;

constexpr double inf = std::numeric_limits<double>::infinity();

/// Zeros, infinities, numbers whose products underflow or overflow, and ordinary ones.
double sample_norm(RandomBits& random) {
  switch (random.below(8)) {
    case 0: return 0;
    case 1: return random.once_in(8) ? inf : 1;
    case 2: return std::ldexp(1 + random.below(100), random.between(-1074, -500));
    case 3: return std::ldexp(1 + random.below(100), random.between(500, 1000));
    default: return std::ldexp(1 + random.below(1 << 20), random.between(-60, 0));
  }
}

std::vector<double> sample_norms(Index count, RandomBits& random) {
  std::vector<double> norms;
  for (Index i = 0; i < count; ++i) norms.push_back(sample_norm(random));
  return norms;
}

TEST(EntryBoundTest, ARowHasTheBitsOfItsEntries) {
  RandomBits random(1);
  constexpr Index m = 5, n = 611;
  for (int repetition = 0; repetition < 40; ++repetition) {
    EntryBound bound;
    const int terms = random.below(4);
    for (int t = 0; t < terms; ++t) {
      BoundTerm term{"term", {}};
      const int alternatives = random.between(1, 3);
      for (int h = 0; h < alternatives; ++h) term.alternatives.push_back({sample_norms(m, random), sample_norms(n, random)});
      bound.terms.push_back(term);
    }
    if (random.once_in(2)) bound.uniform = sample_norm(random);
    const Index first = random.below(40), count = random.between(0, static_cast<int>(n - first));
    std::vector<double> row(static_cast<std::size_t>(count));
    for (Index i = 0; i < m; ++i) {
      bound.upper_row(i, first, count, row.data());
      for (Index j = 0; j < count; ++j)
        ASSERT_EQ(bits_of(row[static_cast<std::size_t>(j)]), bits_of(bound.upper(i, first + j))) << i << ", " << first + j;
    }
  }
}

}  // namespace
}  // namespace ozbound::entry_bound_test
