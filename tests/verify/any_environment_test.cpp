// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ozbound/bounds/json_text.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/verify/check.hpp"
#include "ozbound/verify/complex_operands.hpp"
#include "ozbound/verify/complex_problem.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/measurement.hpp"
#include "ozbound/verify/mpfr_oracle.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "ozbound/verify/reference_product.hpp"
#include "ozbound/verify/verdict.hpp"
#include "support/any_environment.hpp"

// The judging code ignores the caller's floating-point environment, as the judged code does.

namespace ozbound::any_environment_test {
namespace {

using test::expect_the_same;

std::string bits_text(double x) { return std::to_string(std::bit_cast<std::uint64_t>(x)) + " "; }

std::string bits_text(const Matrix<double>& x) {
  std::string text;
  for (Index t = 0; t < x.rows() * x.cols(); ++t) text += bits_text(x.data()[t]);
  return text;
}

TEST(AnyEnvironment, ProblemsAreTheSame) {
  for (const auto family : all_families()) {
    const Recipe recipe{family, 7, 6, 8, 1.5, 3};
    expect_the_same(std::string(name(family)), [&] {
      const auto problem = generate(recipe);
      const auto complex = generate_complex(recipe);
      return bits_text(problem.a) + bits_text(problem.b) + bits_text(complex.b(7, 5).imag()) + generate_command(recipe) +
             std::to_string(phi_matters(family));
    });
  }
}

TEST(AnyEnvironment, RandomNumbersAreTheSame) {
  expect_the_same("random", [] {
    RandomStream random(1);
    std::string text = bits_text(portable_exp(0.7)) + bits_text(portable_log(0.7));
    for (int t = 0; t < 20; ++t)
      text += bits_text(random.normal()) + bits_text(random.signed_unit()) + bits_text(random.positive_unit());
    return text;
  });
}

/// Verdicts are the same in every environment, for alpha A B + beta C0 with subnormal scalars and elements, and a float C with
/// subnormal entries.
TEST(AnyEnvironment, VerdictsAreTheSame) {
  auto problem = generate({Family::uniform, 5, 4, 6, 0, 7});
  problem.a(0, 0) = 0x1p-1074, problem.b(1, 1) = -0x1p-1060;
  Matrix<double> c0(5, 4), c(5, 4);
  Matrix<float> narrow(5, 4);
  for (Index t = 0; t < 20; ++t)
    c0.data()[t] = 0x1p1000, c.data()[t] = 0x1p-1070 * static_cast<double>(t),
    narrow.data()[t] = 0x1p-149f * static_cast<float>(t);
  for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {0x1p-1074, 0x1p-1074}, {0x1p-100, 0x1p-1074}}) {
    const Operands operands{problem.a.view(), problem.b.view(), alpha, beta, c0.view()};
    expect_the_same("verdict", [&] {
      std::string text;
      const ExactOracle exact(operands);
      const MpfrOracle mpfr(operands, MpfrOracle::exact_bits(6));
      for (const Oracle* oracle : std::vector<const Oracle*>{&exact, &mpfr}) {
        for (Index i = 0; i < 5; ++i)
          text += bits_text(oracle->rounded(i, 2)) + std::to_string(std::bit_cast<std::uint32_t>(oracle->rounded_float(i, 2)));
        for (const auto* target : {"dgemm", "cr", "rowcol:1e-7", "relative:1e-3", "normwise:1e-9"})
          for (const auto& view : {ResultView(std::as_const(c).view()), ResultView(std::as_const(narrow).view())}) {
            const auto verdict = verify(view, *oracle, parse_target(target));
            text += explain(verdict) + json_text(to_json(verdict)) + bits_text(verdict.computed) + bits_text(verdict.exact);
            const auto measured = measure(view, *oracle);
            text += bits_text(measured.componentwise_upper) + bits_text(measured.normwise_upper) + bits_text(view(0, 1));
          }
      }
      const reference::Product product(operands, reference::parse_plan("balanced:3x3:full:exact"));
      for (Index i = 0; i < 5; ++i) text += bits_text(product.entry(i, 1, ResultFormat::of_double));
      return text;
    });
  }
}

TEST(AnyEnvironment, ComplexOperandsKeepTheirC0) {
  Matrix<std::complex<double>> one(1, 1);
  one(0, 0) = 1;
  expect_the_same("complex", [&] {
    const ComplexOperands complex({one.view(), false}, {one.view(), false}, {0, 0x1p-1074}, {0x1p-1074, 0}, one.view());
    const ExactOracle oracle(complex.operands());
    return bits_text(oracle.rounded(0, 0)) + bits_text(oracle.rounded(1, 0));
  });
}

TEST(AnyEnvironment, CasesAreTheSame) {
  const auto& property = find_property("any-engine");
  expect_the_same("cases", [&] {
    std::string text;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto sampled = sample_case(property.domain, seed);
      text += to_text({{}, {}, sampled});
      const auto simpler = simpler_cases(sampled);
      if (!simpler.empty()) text += to_text({{}, {}, simpler.back()});
      text += std::to_string(case_from_json(nlohmann::json::parse(to_text({{}, {}, sampled}))).gemm_case == sampled);
    }
    return text;
  });
}

}  // namespace
}  // namespace ozbound::any_environment_test
