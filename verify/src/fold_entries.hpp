// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/verify/entry_selection.hpp"
#include "plain_environment.hpp"

namespace ozbound::judging {

/// Visits the selected entries of a rows x cols matrix in parallel, and gathers the results.
///
/// Each run of consecutive entries gathers into its own copy of `empty` by visit(copy, i, j). The copies are then joined in
/// order by total.merge(copy). The runs, and thus the result, do not depend on the number of threads. Rethrows an exception of
/// a visit. Visits have a floating-point environment of their own.
template <class Gathered, class Visit>
Gathered fold_entries(const EntrySelection& selection, Index rows, Index cols, const Gathered& empty, Visit visit) {
  constexpr Index run_length = 64;
  const auto sampled = selection.is_all() ? std::vector<Index>{} : selection.positions(rows, cols);
  const Index count = selection.is_all() ? rows * cols : static_cast<Index>(sampled.size());
  const Index runs = (count + run_length - 1) / run_length;
  std::vector<Gathered> gathered(static_cast<std::size_t>(runs), empty);
  FirstException failure;
#pragma omp parallel for schedule(dynamic) if (runs > 1)
  for (Index run = 0; run < runs; ++run)
    failure.run([&] {
      const checking::PlainEnvironment environment;
      for (Index t = run * run_length; t < std::min(count, (run + 1) * run_length); ++t) {
        const Index position = selection.is_all() ? t : sampled[static_cast<std::size_t>(t)];
        poll_cancelled();
        visit(gathered[static_cast<std::size_t>(run)], position / cols, position % cols);
      }
    });
  failure.rethrow();
  Gathered total = empty;
  for (const auto& part : gathered) total.merge(part);
  return total;
}

}  // namespace ozbound::judging
