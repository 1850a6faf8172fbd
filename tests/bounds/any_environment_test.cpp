// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ozbound/bounds/calibration.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/detail/cheapest_costs.hpp"
#include "ozbound/bounds/json_text.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "support/any_environment.hpp"

// Decisions and certificates are written and read identically in every floating-point environment of the caller.

namespace ozbound::any_environment_test {
namespace {

using nlohmann::json;
using test::expect_the_same;

const CpuEngine& engine() {
  static const CpuEngine engine({.threads = 1});
  return engine;
}

std::string bits_text(double x) { return std::to_string(bits_of(x)) + " "; }

/// 3 x 4 by 4 x 2: thirds and powers of two.
struct Call {
  Matrix<double> a{3, 4}, b{4, 2}, c{3, 2};
  double alpha, beta;

  Call(double scale, double given_alpha, double given_beta) : alpha(given_alpha), beta(given_beta) {
    for (Index t = 0; t < 12; ++t) a.data()[t] = scale / static_cast<double>(t + 3);
    for (Index t = 0; t < 8; ++t) b.data()[t] = 1 / static_cast<double>(t + 3);
    for (Index t = 0; t < 6; ++t) c.data()[t] = 0x1p1000 * static_cast<double>(t + 1);
  }

  [[nodiscard]] RealProduct product() { return {a, b, c, alpha, beta, std::as_const(c)}; }
};

/// The text of the decision for a call, and the text of the certificate of a product under the decision read from that text.
std::string records(Call call, const Target& target) {
  const auto written = json_text(to_json(decide(call.product(), target, engine())));
  const auto decision = parse_decision(written);
  const auto certificate = multiply(call.product(), decision, engine());
  auto text = written + json_text(to_json(decision)) + json_text(to_json(certificate)) + json_text(to_json(certificate), -1);
  for (Index t = 0; t < 6; ++t) text += bits_text(call.c.data()[t]);
  return text + bits_text(certificate.bound.upper(0, 0, call.c(0, 0)));
}

const std::vector<Target> targets{Target::dgemm(), Target::correctly_rounded(), parse_target("relative:1e-9"),
                                  parse_target("normwise:0.1")};

TEST(AnyEnvironment, RecordsAreTheSame) {
  for (const auto& target : targets)
    for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {0x1p-1074, 0.0}, {0x1p-1074, 0x1p-1074}, {1.0, 0x1p-1040}})
      for (const double scale : {1.0, 0x1p-1022}) {
        const Call call(scale, alpha, beta);
        expect_the_same(to_string(target), [&] { return records(call, target); });
      }
}

/// Numbers that flushing would turn into 0 are written unchanged, and the seal covers them.
TEST(AnyEnvironment, SubnormalNumbersAreWritten) {
  for (const auto& setting : settings) {
    std::string text;
    {
      Call call(1, 0x1p-1074, 0x1p-1074);
      const Disturbed caller(setting);
      Decision decision;
      decision.method = Method::exact, decision.m = 3, decision.n = 2, decision.k = 4;
      text = json_text(to_json(multiply(call.product(), decision, engine())));
    }
    const auto record = json::parse(text);
    EXPECT_EQ(record["alpha"], 0x1p-1074) << setting.name;
    EXPECT_EQ(record["beta"], 0x1p-1074) << setting.name;
    EXPECT_EQ(record["bound"]["underflow"], 0x1p-1074) << setting.name;
    EXPECT_GT(record["largest_bound"], 0) << setting.name;
  }
}

TEST(AnyEnvironment, ComplexRecordsAreTheSame) {
  Matrix<std::complex<double>> a(2, 2), b(2, 2);
  for (Index t = 0; t < 4; ++t) a.data()[t] = {1.0 / 3, 0x1p-1060}, b.data()[t] = {0.3, -0.7};
  for (const std::complex<double> alpha : {std::complex<double>(1), {0x1p-1074, 0.5}, {0.5, 0x1p-1074}})
    expect_the_same("complex", [&] {
      Matrix<std::complex<double>> c(2, 2);
      const ComplexProduct call{a, b, c, alpha, {0, 0x1p-1074}, std::as_const(c)};
      const auto decision = decide(call, parse_target("componentwise:1e-7"), engine());
      auto text = json_text(to_json(decision)) + json_text(to_json(multiply(call, decision, engine())));
      const auto workspace = workspace_of(decision, alpha, {0, 0x1p-1074}, engine());
      for (Index t = 0; t < 4; ++t) text += bits_text(c.data()[t].real()) + bits_text(c.data()[t].imag());
      return text + bits_text(workspace.least) + bits_text(workspace.full);
    });
}

/// Decimal numbers between two doubles, also subnormal ones, are read as the same double in every environment.
TEST(AnyEnvironment, TextIsReadTheSame) {
  const auto decision = to_json(decide({Call(1, 1, 0).a, Call(1, 1, 0).b}, Target::dgemm(), engine()));
  for (const char* number : {"0.1", "3e-320", "4.9406564584124654e-324", "1e-7", "123456789.123456789e-300"})
    expect_the_same(number, [&] {
      auto edited = decision;
      edited["cost"] = "?", edited["ratio"] = "?";
      auto text = json_text(edited);
      for (auto at = text.find("\"?\""); at != std::string::npos; at = text.find("\"?\"")) text.replace(at, 3, number);
      const auto read = parse_decision(text);
      const auto target = parse_target("componentwise:" + std::string(number));
      return bits_text(read.cost) + bits_text(read.ratio) + bits_text(target.tau) + to_string(target) +
             std::to_string(target == Target::componentwise(target.tau));
    });
}

TEST(AnyEnvironment, SubnormalTargetsAreTargets) {
  expect_the_same("targets", [] {
    return std::to_string(Target::relative(0x1p-1074) == Target::relative(0x1p-1073)) + to_string(Target::rowcol(0x1p-1060));
  });
}

TEST(AnyEnvironment, CostsAreTheSame) {
  Calibration machine{"some", "kernel", "1", {4, 16}, {}};
  for (const int threads : {1, 3}) {
    Rates rates{threads, {}, {}, TermSeconds<native_terms>{}};
    for (auto& seconds : rates.slices) seconds = 1e-9 / threads;
    for (auto& seconds : rates.exact) seconds = 3e-320;
    for (auto& seconds : *rates.native) seconds = 0.7e-300;
    machine.rates.push_back(rates);
  }
  const auto parsed = to_json(std::vector{machine});
  expect_the_same("costs", [&] {
    const auto read = calibrations_from_json(parsed);
    const CalibratedCosts costs(machine, 2, {});
    const CheapestCosts cheapest({{&costs, true, true}});
    auto text = json_text(to_json(std::vector{machine})) + json_text(to_json(read));
    for (const auto* model : std::vector<const CostModel*>{&costs, &cheapest})
      text += bits_text(model->planned(SplitPlan::balanced(7, 7, 8), 1001, 999, 12345)) +
              bits_text(model->native(1001, 999, 12345)) + bits_text(model->exact(1001, 999, 12345));
    return text;
  });
  expect_the_same("shipped costs", [] { return json_text(to_json(shipped_calibrations())); });
}

}  // namespace
}  // namespace ozbound::any_environment_test
