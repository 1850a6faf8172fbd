// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ozbound/core/engine.hpp"
#include "properties/case_product.hpp"

// The integers that an engine makes of a case before any rounding, and the first difference between two engines.

namespace ozbound::properties {

inline bool same_norms(const IntegerNorms& x, const IntegerNorms& y) {
  return x.sum == y.sum && x.sum_squares == y.sum_squares && x.max == y.max;
}

inline bool same_facts(const VectorFacts& x, const VectorFacts& y) {
  const auto same_scale = x.scale.exponent == y.scale.exponent && x.scale.special == y.scale.special;
  return same_scale && same_norms(x.vector, y.vector) && x.floor_squares == y.floor_squares && x.weights == y.weights &&
         std::equal(x.slices.begin(), x.slices.end(), y.slices.begin(), y.slices.end(), same_norms) &&
         std::equal(x.tails.begin(), x.tails.end(), y.tails.begin(), y.tails.end(), same_norms);
}

/// The integers of a case before any rounding.
struct Integers {
  SliceFacts a, b;
  std::vector<int> residues_a, residues_b;  ///< for a plan by residues: all residues, vector by vector
  std::vector<Matrix<std::int64_t>> sums;   ///< sums of the groups; for residues the groups in which C' is recovered

  Integers(const CaseMemory& memory, const Plan& plan, const Engine& engine)
      : a(engine.measure(memory.a.input(), Side::rows_of_a, slicing_of(plan, Side::rows_of_a))),
        b(engine.measure(memory.b.input(), Side::columns_of_b, slicing_of(plan, Side::columns_of_b))) {
    plan.visit(
        [&](const SplitPlan& slices) {
          sums = engine.group_sums(engine.slice(memory.a.input(), Side::rows_of_a, slices.a),
                                   engine.slice(memory.b.input(), Side::columns_of_b, slices.b), slices);
        },
        [&](const ResiduePlan& residues) {
          const auto left = engine.prepare(memory.a.input(), Side::rows_of_a, residues.a()).residues();
          const auto right = engine.prepare(memory.b.input(), Side::columns_of_b, residues.b()).residues();
          residues_a = all_residues(left.residues()), residues_b = all_residues(right.residues());
          sums = engine.recovered_groups(left, right, residues);
        });
  }

 private:
  static Slicing slicing_of(const Plan& plan, Side side) {
    return plan.visit([&](const SplitPlan& slices) { return side == Side::rows_of_a ? slices.a : slices.b; },
                      [](const ResiduePlan&) { return residue_measure; });
  }

  static std::vector<int> all_residues(const Residues& of) {
    std::vector<int> all;
    for (Index i = 0; i < of.count(); ++i)
      for (int t = 0; t < of.form().moduli; ++t)
        for (Index l = 0; l < of.inner_dimension(); ++l) all.push_back(of.residue(i, t, l));
    return all;
  }
};

inline bool same_vectors(const SliceFacts& x, const SliceFacts& y) {
  return std::equal(x.vectors.begin(), x.vectors.end(), y.vectors.begin(), y.vectors.end(), same_facts);
}

inline Finding other_sums(const Integers& x, const Integers& y, const std::string& what) {
  if (x.sums.size() != y.sums.size()) return fmt::format("{} sums; {} {}", x.sums.size(), what, y.sums.size());
  for (std::size_t t = 0; t < x.sums.size(); ++t)
    for (Index i = 0; i < x.sums[t].rows(); ++i)
      for (Index j = 0; j < x.sums[t].cols(); ++j)
        if (x.sums[t](i, j) != y.sums[t](i, j))
          return fmt::format("the sum of group {} of entry ({}, {}) is {}; {} {}", t, i, j, x.sums[t](i, j), what,
                             y.sums[t](i, j));
  return {};
}

inline Finding other_integers(const Integers& x, const Integers& y, const std::string& what) {
  if (!same_vectors(x.a, y.a)) return "facts about A differ; " + what;
  if (!same_vectors(x.b, y.b)) return "facts about B differ; " + what;
  if (x.residues_a != y.residues_a) return "residues of A differ; " + what;
  if (x.residues_b != y.residues_b) return "residues of B differ; " + what;
  return other_sums(x, y, what);
}

}  // namespace ozbound::properties
