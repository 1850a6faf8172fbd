// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/gemm_files.hpp"
#include "verify/altered_certificates.hpp"

#include "ozbound/bounds/recorded_bound.hpp"

namespace ozbound::cli::test::command_bounds_test {
namespace {

class CommandBounds : public testing::Test {
 protected:
  [[nodiscard]] static std::vector<std::string> bounds(const std::string& report, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"bounds", report};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  [[nodiscard]] json report(const std::vector<std::string>& more) const {
    auto record = files_.report(more);
    write_bytes(report_, record.dump());
    return record;
  }

  GemmFiles files_{Recipe{.family = Family::wide_exponents, .m = 5, .n = 4, .k = 30, .phi = 2, .seed = 1}};
  std::string report_ = files_.path("report.json"), e_ = files_.path("E.npy");
};

TEST_F(CommandBounds, BoundsTheErrorOfEveryEntry) {
  for (const auto* target : {"dgemm", "componentwise:1e-6", "cr", "relative:1e-10"}) {
    const auto record = report({"--engine", "cpu", "--target", target});
    const auto finished = ozbound(bounds(report_, {"-o", e_}));
    ASSERT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.out, testing::ContainsRegex("bounds +5 x 4 in "));
    const auto e = files::read_matrix(e_).to_double(), c = files_.c();
    const auto recorded = bound_from_json(record["certificate"]).bound;
    const Problem problem{{}, Matrix<double>(files_.a()), Matrix<double>(files_.b())};
    const ExactOracle oracle(operands(problem));
    double largest = 0;
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j) {
        EXPECT_EQ(e(i, j), recorded.upper(i, j, c(i, j)));
        EXPECT_FALSE(oracle.evaluate(i, j, c(i, j)).error_upper > Magnitude::of(e(i, j))) << target << i << j;
        largest = std::max(largest, e(i, j));
      }
    EXPECT_EQ(largest, record["certificate"]["largest_bound"].get<double>()) << target;
  }
}

TEST_F(CommandBounds, WritesOverNothingThatItReads) {
  static_cast<void>(report({}));
  const auto before = read_bytes(files_.c_path());
  expect_refusal(bounds(report_, {"-o", files_.c_path()}), "--output: " + files_.c_path() + " would be written over");
  const auto named = files_.path("report.npy");
  std::filesystem::rename(report_, named);
  expect_refusal(bounds(named, {"-o", named}), "--output: " + named + " would be written over");
  EXPECT_EQ(read_bytes(files_.c_path()), before);
}

TEST_F(CommandBounds, TakesACertificateAndSaysWhatItWrote) {
  const auto record = report({});
  write_bytes(report_, record["certificate"].dump());
  expect_refusal(bounds(report_, {"-o", e_}), report_ + ": it does not say which file C is in; --of does");
  const auto finished = ozbound(bounds(report_, {"-o", files_.path("E.mtx"), "--of", files_.c_path(), "--json"}));
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto told = json::parse(finished.out);
  EXPECT_EQ(told["schema"], "ozbound-bounds-1");
  EXPECT_EQ(told["c"], files_.c_path());
  EXPECT_EQ(told["file"], files_.path("E.mtx"));
  EXPECT_EQ(told["largest"], record["certificate"]["largest_bound"]);
  EXPECT_EQ(told["assumptions"], record["certificate"]["assumptions"]);
  EXPECT_EQ(files::read_matrix(files_.path("E.mtx")).rows(), 5);
}

TEST_F(CommandBounds, OfAComplexProduct) {
  const auto alone = report({"--engine", "cpu", "--alpha", "0.5,-2", "--target", "componentwise:1e-9"});
  ASSERT_EQ(ozbound(bounds(report_, {"-o", e_})).code, 0);
  const auto file = files::read_matrix(e_);
  const auto& e = std::get<Matrix<std::complex<double>>>(file.values);
  const auto c_file = files::read_matrix(files_.c_path());
  const auto& c = std::get<Matrix<std::complex<double>>>(c_file.values);
  const auto recorded = bound_from_json(alone["certificate"]).bound;
  ASSERT_EQ(e.rows(), 5);
  for (Index i = 0; i < e.rows(); ++i)
    for (Index j = 0; j < e.cols(); ++j) {
      EXPECT_EQ(e(i, j).real(), recorded.upper(i, j, Part::real, c(i, j).real()));
      EXPECT_EQ(e(i, j).imag(), recorded.upper(i, j, Part::imaginary, c(i, j).imag()));
    }
}

TEST_F(CommandBounds, ANaNHasNoError) {
  auto a = files_.a();
  a(1, 2) = std::numeric_limits<double>::quiet_NaN();
  files::write_matrix(files_.a_path(), a.view());
  ASSERT_EQ(report({"--engine", "cpu"})["schema"], "ozbound-report-1");
  ASSERT_EQ(ozbound(bounds(report_, {"-o", e_})).code, 0);
  const auto e = files::read_matrix(e_).to_double();
  for (Index j = 0; j < e.cols(); ++j) {
    EXPECT_TRUE(std::isnan(e(1, j)));
    EXPECT_TRUE(e(0, j) > 0);
  }
}

TEST_F(CommandBounds, RefusesWhatIsNotTheRecordsC) {
  auto record = report({});
  auto c = files_.c();
  c(2, 3) = std::nextafter(c(2, 3), 0.0);
  files::write_matrix(files_.c_path(), c.view());
  const auto names = files_.names();
  expect_refusal(bounds(report_, {"-o", e_}), files_.c_path() + ": this is not the C that the certificate is about");
  files::write_matrix(files_.c_path(), Matrix<double>(4, 5).view());
  expect_refusal(bounds(report_, {"-o", e_}), files_.c_path() + ": this is not the C that the certificate is about");
  record["certificate"]["largest_bound"] = 0;
  write_bytes(report_, record.dump());
  expect_refusal(bounds(report_, {"-o", e_}), report_ + ": certificate: 'seal' is not that of the other members");
  record["certificate"] = json::object();
  write_bytes(report_, record.dump());
  expect_refusal(bounds(report_, {"-o", e_}), report_ + ": certificate: 'schema' is missing");
  expect_refusal(bounds(report_, {"-o", files_.path("E.csv")}),
                 error_of<std::invalid_argument>([&] { files::output_format(files_.path("E.csv")); }));
  expect_usage_error(bounds(report_), "--output is required");
  EXPECT_EQ(files_.names(), names) << "nothing is written";
}

}  // namespace
}  // namespace ozbound::cli::test::command_bounds_test
