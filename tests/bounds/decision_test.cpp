// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/products.hpp"

#include "ozbound/bounds/decision.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace ozbound::decision_test {
namespace {

using nlohmann::json;

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

const std::vector<const char*>& targets() {
  static const std::vector<const char*> all{"cr",           "dgemm",          "dgemm-typical",  "componentwise:1e-12",
                                            "rowcol:1e-13", "normwise:1e-14", "relative:1e-10", "componentwise:0x1p-53"};
  return all;
}

void expect_same(const Decision& x, const Decision& y) {
  EXPECT_EQ(x.target, y.target);
  EXPECT_EQ(x.method, y.method);
  EXPECT_EQ(x.plan, y.plan);
  EXPECT_EQ(x.m, y.m);
  EXPECT_EQ(x.n, y.n);
  EXPECT_EQ(x.k, y.k);
  EXPECT_EQ(x.cost, y.cost);
  EXPECT_EQ(x.ratio, y.ratio);
  EXPECT_EQ(x.reason, y.reason);
}

TEST(Decision, SavedAndReadAgainGivesTheSameBits) {
  for (const double phi : {0.0, 3.0})
    for (const char* target : targets()) {
      const auto product = test::product_of({Family::wide_exponents, 5, 6, 30, phi, 1});
      const auto decision = test::decide_for(product, parse_target(target), engine());
      const auto replayed = decision_from_json(json::parse(to_json(decision).dump()));
      expect_same(replayed, decision);
      const auto first = test::compute_with(product, decision, engine());
      const auto second = test::compute_with(product, replayed, engine());
      EXPECT_TRUE(test::same_bits(first.c, second.c)) << target;
      EXPECT_EQ(to_json(first.certificate), to_json(second.certificate)) << target;
      EXPECT_TRUE(test::keeps_its_target(product, second)) << target;
    }
}

TEST(Decision, EveryMethodRoundTrips) {
  for (const auto method : {Method::one_plan, Method::correctly_rounded, Method::native, Method::exact}) {
    Decision decision{Target::rowcol(1.0 / 3), method, {}, 1, 2, 3, 1.0 / 7, 0.1, "so", {}};
    if (method == Method::one_plan) decision.plan = parse_plan("truncated7,nearest7:3x4:cut=5:per_diagonal");
    if (method == Method::correctly_rounded) decision.plan = SplitPlan::balanced(7, 7, 8);
    expect_same(decision_from_json(json::parse(to_json(decision).dump())), decision);
  }
  EXPECT_THROW((void)to_string(static_cast<Method>(9)), std::invalid_argument);
}

TEST(Decision, RecordsItsCandidates) {
  const auto product = test::product_of({Family::wide_exponents, 5, 6, 30, 2, 1});
  const auto decision = test::decide_for(product, Target::dgemm(), engine());
  const auto record = to_json(decision);
  EXPECT_EQ(record.at("schema"), "ozbound-decision-3");
  ASSERT_EQ(record.at("candidates").size(), decision.candidates.size());
  for (std::size_t t = 0; t < decision.candidates.size(); ++t) {
    const auto& candidate = record.at("candidates")[t];
    EXPECT_EQ(candidate.at("method"), to_string(decision.candidates[t].method));
    EXPECT_EQ(candidate.at("certifies"), decision.candidates[t].certifies);
    if (decision.candidates[t].plan) {
      EXPECT_EQ(candidate.at("plan"), to_string(*decision.candidates[t].plan));
      EXPECT_EQ(candidate.at("products"), decision.candidates[t].plan->products());
    }
  }
}

TEST(Decision, SaysWhatItsCostsAre) {
  Decision decision{Target::dgemm(), Method::exact, {}, 1, 2, 3, 0.5, 1, "", {}};
  const auto costs_of = [&decision] { return decision_from_json(json::parse(to_json(decision).dump())).costs; };
  EXPECT_EQ(to_json(decision)["costs"], (json{{"model", "products"}, {"unit", "products"}}));
  EXPECT_EQ(costs_of(), decision.costs);
  decision.costs = {"shipped", "seconds", "a processor", "avx2", 8, "a note"};
  EXPECT_EQ(to_json(decision)["costs"]["threads"], 8);
  EXPECT_EQ(costs_of(), decision.costs);
}

TEST(Decision, SaysTheEngineThatItIsFor) {
  Decision decision{Target::dgemm(), Method::exact, {}, 1, 2, 3, 0.5, 1, "", {}};
  EXPECT_FALSE(to_json(decision).contains("engine"));
  EXPECT_FALSE(decision_from_json(to_json(decision)).engine);
  for (const auto& [id, text] : {std::pair<BackendId, std::string>{{}, "cpu"},
                                 {{BackendId::Kind::cuda, "a device: with a colon"}, "cuda: a device: with a colon"}}) {
    decision.engine = id;
    EXPECT_EQ(to_json(decision)["engine"], text);
    EXPECT_EQ(decision_from_json(to_json(decision)).engine, id);
  }
  for (const auto* other : {"", "CPU", "cuda", "cuda:", "cuda: ", "rocm: a device", "cpu "}) {
    auto edited = to_json(decision);
    edited["engine"] = other;
    EXPECT_THROW((void)decision_from_json(edited), std::invalid_argument) << other;
  }
}

/// An infinite cost survives writing and reading: a decision may have only one possible method, whatever that costs.
TEST(Decision, AnInfiniteCostComesBack) {
  Decision decision;
  decision.method = Method::native;
  decision.cost = std::numeric_limits<double>::infinity();
  EXPECT_EQ(parse_decision(to_json(decision).dump()).cost, decision.cost);
}

/// A decision of the second schema, whose ratio excludes the rounding, is still read: it fixes the same bits.
TEST(Decision, RatiosOfTheSecondSchemaStopBeforeTheRounding) {
  const Decision decision{Target::dgemm(), Method::one_plan, SplitPlan::balanced(7, 7, 8), 2, 3, 4, 28, 0.5, "reason", {}};
  auto older = to_json(decision);
  older["schema"] = "ozbound-decision-2";
  older["costs"] = {{"model", "shipped"}, {"unit", "seconds"}};
  EXPECT_EQ(decision_from_json(older).plan, decision.plan);
  EXPECT_EQ(decision_from_json(older).ratio, 0.5);
  EXPECT_EQ(decision_from_json(older).costs.unit, "seconds");
  older["schema"] = "ozbound-decision-4";
  EXPECT_THROW(decision_from_json(older), std::invalid_argument);
}

TEST(Decision, TheOlderSchemaCountsProducts) {
  auto older =
      to_json(Decision{Target::dgemm(), Method::one_plan, SplitPlan::balanced(7, 7, 8), 2, 3, 4, 28, 0.5, "reason", {}});
  older["schema"] = "ozbound-decision-1";
  older["costs"] = {{"model", "shipped"}, {"unit", "seconds"}};  // without a meaning in that schema
  const auto decision = decision_from_json(older);
  EXPECT_EQ(decision.plan, SplitPlan::balanced(7, 7, 8));
  EXPECT_EQ(decision.cost, 28);
  EXPECT_EQ(decision.costs, CostOrigin{});
}

/// The message of the std::invalid_argument that refuses a JSON; a test failure if nothing or something else is thrown.
std::string refusal(const json& bad) {
  try {
    (void)decision_from_json(bad);
  } catch (const std::invalid_argument& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception: " << e.what() << " for " << bad.dump();
    return "";
  }
  ADD_FAILURE() << "not refused: " << bad.dump();
  return "";
}

json good() {
  return to_json(Decision{Target::dgemm(), Method::one_plan, SplitPlan::balanced(7, 7, 8), 2, 3, 4, 28, 0.5, "reason", {}});
}

TEST(Decision, AMissingMemberIsNamed) {
  for (const char* name : {"schema", "target", "method", "plan", "m", "n", "k"}) {
    auto bad = good();
    bad.erase(name);
    EXPECT_NE(refusal(bad).find(name), std::string::npos) << refusal(bad);
  }
  for (const char* name : {"cost", "ratio", "reason", "costs", "candidates"}) {  // informative members, which decide nothing
    auto fine = good();
    fine.erase(name);
    EXPECT_NO_THROW((void)decision_from_json(fine)) << name;
  }
}

TEST(Decision, AMemberOfTheWrongTypeIsNamed) {
  const std::vector<json> wrong{nullptr, true, 1.5, -1, json::array(), json::object(), "nonsense", "", json::array({1})};
  for (const char* name : {"schema", "target", "method", "plan", "m", "n", "k"})
    for (const auto& value : wrong) {
      auto bad = good();
      bad[name] = value;
      EXPECT_NE(refusal(bad).find(name), std::string::npos) << name << " = " << value.dump() << ": " << refusal(bad);
    }
  for (const auto& value : {json(nullptr), json(true), json(7), json::array(), json::object()}) {
    auto bad = good();
    bad["reason"] = value;
    EXPECT_NE(refusal(bad).find("reason"), std::string::npos) << value.dump();
  }
  for (const auto& value : wrong) {
    auto bad = good();
    bad["costs"] = value;
    EXPECT_NE(refusal(bad).find("model"), std::string::npos) << value.dump();
    bad["costs"] = {{"model", "m"}, {"unit", "u"}, {"kernel", 1}};
    EXPECT_NE(refusal(bad).find("kernel"), std::string::npos);
  }
  auto infinite = good();
  infinite["cost"] = "nan";
  EXPECT_NE(refusal(infinite).find("cost"), std::string::npos);
}

TEST(Decision, SizesAreChecked) {
  for (const char* text : {"18446744073709551615", "9223372036854775808", "-1", "1e3", "\"4\"", "1e999"}) {
    auto bad = good();
    bad["k"] = json::parse(text, nullptr, false);
    EXPECT_NE(refusal(bad).find("'k'"), std::string::npos) << text;
  }
  auto fine = good();
  fine["m"] = 0;
  EXPECT_EQ(decision_from_json(fine).m, 0);
}

TEST(Decision, OtherJsonIsRefused) {
  for (const auto& value : {json(nullptr), json::array(), json("text"), json(1), json::object()})
    EXPECT_FALSE(refusal(value).empty());
  auto other = good();
  other["schema"] = "ozbound-certificate-1";
  EXPECT_NE(refusal(other).find("schema"), std::string::npos);
  auto plan = good();
  plan["plan"] = "balanced:7x7:cut=99:exact";
  EXPECT_NE(refusal(plan).find("cut"), std::string::npos);
  auto tau = good();
  tau["target"] = "relative:-1";
  EXPECT_NE(refusal(tau).find("tau"), std::string::npos);
}

}  // namespace
}  // namespace ozbound::decision_test
