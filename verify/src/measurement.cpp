// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/measurement.hpp"

#include <algorithm>

#include "fold_entries.hpp"
#include "judge.hpp"

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

using namespace judging;

struct Gathered {
  Measurement counts;
  Magnitude componentwise, relative;
  SquareSum errors, scales;

  void add(const OracleEntry& entry, double computed) {
    ++counts.entries;
    if (special_mismatch(entry, computed)) {
      ++counts.special_mismatches;
      return;
    }
    if (!entry.rounding_known) ++counts.undecided;
    if (entry.rounding_known && !correctly_rounded(entry, computed)) ++counts.not_correctly_rounded;
    if (entry.kind != OracleEntry::Kind::finite) return;
    componentwise = std::max(componentwise, divide_upper(entry.error_upper, entry.scale_lower));
    relative = std::max(relative, divide_upper(entry.error_upper, entry.value_lower));
    errors.add_upper(entry.error_upper);
    scales.add_lower(entry.scale_lower);
  }

  void merge(const Gathered& other) {
    counts.entries += other.counts.entries;
    counts.special_mismatches += other.counts.special_mismatches;
    counts.not_correctly_rounded += other.counts.not_correctly_rounded;
    counts.undecided += other.counts.undecided;
    componentwise = std::max(componentwise, other.componentwise);
    relative = std::max(relative, other.relative);
    errors.merge_upper(other.errors);
    scales.merge_lower(other.scales);
  }
};

}  // namespace

Measurement measure(const ResultView& c, const Oracle& oracle, const EntrySelection& selection) {
  const FloatEnvironment environment;
  check_shape(c, oracle);
  const auto gathered = fold_entries(selection, c.rows(), c.cols(), Gathered{}, [&](Gathered& part, Index i, Index j) {
    part.add(oracle.evaluate(i, j, c(i, j), c.format()), c(i, j));
  });
  const auto inner = Magnitude::of(static_cast<double>(std::max<Index>(oracle.inner(), 1)));
  const auto roundoff = Magnitude::of(unit_roundoff(c.format()));
  Measurement result = gathered.counts;
  result.componentwise_upper = to_double_upper(gathered.componentwise);
  result.dgemm_upper = to_double_upper(divide_upper(divide_upper(gathered.componentwise, inner), roundoff));
  result.dgemm_typical_upper = to_double_upper(divide_upper(divide_upper(gathered.componentwise, sqrt_lower(inner)), roundoff));
  result.normwise_upper = to_double_upper(divide_upper(gathered.errors.root_upper(), gathered.scales.root_lower()));
  result.relative_upper = to_double_upper(gathered.relative);
  return result;
}

}  // namespace ozbound
