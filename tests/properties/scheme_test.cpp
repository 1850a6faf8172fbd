// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/scheme.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/verify/check.hpp"
#include "ozbound/verify/number_classes.hpp"
#include "ozbound/verify/property.hpp"

namespace ozbound {

void PrintTo(const Scheme& scheme, std::ostream* out) { *out << scheme.name; }

}  // namespace ozbound

namespace ozbound::scheme_test {
namespace {

class SchemeProperties : public testing::TestWithParam<Scheme> {};

/// Every property holds for the plans that a scheme makes; exact accumulation is tested only for schemes that have it.
TEST_P(SchemeProperties, Hold) {
  const auto& scheme = GetParam();
  const CpuEngine engine({.threads = 1});
  sampling::RandomBits random(30);
  for (const auto& property : all_properties())
    for (int t = 0; t < 8; ++t) {
      if (property.domain.plans == PlanKinds::residues) break;
      auto one = sample_case(property.domain, random());
      const int slices = random.between(1, 6);
      one.plan = scheme.plan(slices, slices, one.k());
      if (property.domain.exact_only && one.plan.split().accumulation != Accumulation::exact) break;
      const auto wrong = judge(property, one, engine);
      ASSERT_FALSE(wrong.has_value()) << property.name << ": " << *wrong << "\n" << to_text({{property.name}, "", one});
    }
}

INSTANTIATE_TEST_SUITE_P(All, SchemeProperties, testing::ValuesIn(all_schemes().begin(), all_schemes().end()),
                         [](const auto& tested) {
                           auto name = tested.param.name;
                           for (auto& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace ozbound::scheme_test
