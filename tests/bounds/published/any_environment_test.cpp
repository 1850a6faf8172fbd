// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "ozbound/bounds/published/named_bound.hpp"
#include "ozbound/bounds/published/selector.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "support/any_environment.hpp"

namespace ozbound::any_environment_test {
namespace {

std::string bits_text(double x) { return std::to_string(bits_of(x)) + " "; }

TEST(AnyEnvironment, NamedBoundsAndSelectorsAreTheSame) {
  const CpuEngine engine({.threads = 1});
  Matrix<double> a(3, 4), b(4, 2);
  for (Index t = 0; t < 12; ++t) a.data()[t] = 0x1p-500 / static_cast<double>(t + 3);
  for (Index t = 0; t < 8; ++t) b.data()[t] = 1 / static_cast<double>(t + 3);
  for (const auto& bound : all_bounds())
    for (const char* plan : {"balanced:3x3:full:exact", "truncated7:3x3:cut=4:per_product", "nearest7:3x3:full:per_diagonal"}) {
      const auto split = parse_plan(plan).split();
      if (!bound.covers(split)) continue;
      test::expect_the_same(bound.name, [&] {
        const auto value = bound.value({a, b, split, engine});
        return bits_text(value.multiple) + (value.relative.terms.empty() ? "" : bits_text(value.relative.upper(1, 1)));
      });
    }
  for (const auto& selector : all_selectors())
    test::expect_the_same(selector.name, [&] {
      const auto selection = selector.select(a, b, Target::componentwise(1e-9), engine);
      return selection.plan ? to_string(*selection.plan) : "none";
    });
}

}  // namespace
}  // namespace ozbound::any_environment_test
