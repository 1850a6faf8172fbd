// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ozbound/bounds/json_text.hpp"
#include "ozbound/verify/grade/grade.hpp"
#include "support/any_environment.hpp"

namespace ozbound::any_environment_test {
namespace {

TEST(AnyEnvironment, FindingsAreTheSame) {
  Findings found;
  found.findings.push_back({.test = "t",
                            .statement = "s",
                            .source = "p",
                            .outcome = Outcome::fail,
                            .detail = "",
                            .values = {{"least", 0x1p-1074}, {"tenth", 0.1}}});
  test::expect_the_same("findings", [&] { return json_text(to_json(findings_from_json(to_json(found)))); });
}

}  // namespace
}  // namespace ozbound::any_environment_test
