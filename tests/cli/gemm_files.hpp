// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/verdict.hpp"

namespace ozbound::cli::test {

using Names = std::set<std::string>;
using nlohmann::json;

/// A.npy and B.npy in a temporary directory, the results of `ozbound gemm` for them, and the exact product.
class GemmFiles {
 public:
  GemmFiles(Matrix<double> a, Matrix<double> b) : doubles_a_(std::move(a)), doubles_b_(std::move(b)) {
    files::write_matrix(a_path(), std::as_const(doubles_a_).view());
    files::write_matrix(b_path(), std::as_const(doubles_b_).view());
  }
  explicit GemmFiles(const Recipe& recipe) : GemmFiles(ozbound::generate(recipe)) {}

  [[nodiscard]] std::string a_path() const { return directory_ / "A.npy"; }
  [[nodiscard]] std::string b_path() const { return directory_ / "B.npy"; }
  [[nodiscard]] std::string c_path() const { return directory_ / "C.npy"; }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] Names names() const { return directory_.names(); }
  [[nodiscard]] const Matrix<double>& a() const { return doubles_a_; }
  [[nodiscard]] const Matrix<double>& b() const { return doubles_b_; }

  /// The arguments of gemm A B -o C, and `more`.
  [[nodiscard]] std::vector<std::string> gemm(const std::vector<std::string>& more = {}) const {
    return joined({"gemm", a_path(), b_path(), "-o", c_path()}, more);
  }
  /// The arguments of plan A B, and `more`.
  [[nodiscard]] std::vector<std::string> plan(const std::vector<std::string>& more = {}) const {
    return joined({"plan", a_path(), b_path()}, more);
  }

  /// The report of a gemm, which must succeed.
  json report(const std::vector<std::string>& more = {}) const {  // NOLINT(modernize-use-nodiscard): that it succeeds is enough
    const auto finished = ozbound(joined(gemm(more), {"--json"}));
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    return finished.code == 0 ? json::parse(finished.out) : json();
  }

  [[nodiscard]] std::string c_bytes() const { return read_bytes(c_path()); }
  [[nodiscard]] Matrix<double> c() const { return files::read_matrix(c_path()).to_double(); }

  /// The bytes of C after a gemm, which must succeed.
  [[nodiscard]] std::string product(const std::vector<std::string>& more) const {
    std::filesystem::remove(c_path());
    report(more);
    return c_bytes();
  }

  [[nodiscard]] Verdict judge(const Target& target, double alpha = 1) const {
    return verify(c(), ExactOracle({doubles_a_.view(), doubles_b_.view(), alpha}), target);
  }

  /// Checks that the input is refused with this line and that nothing was written.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& wrong) const {
    const auto before = names();
    expect_refusal(arguments, wrong);
    EXPECT_EQ(names(), before) << wrong;
  }

 private:
  explicit GemmFiles(Problem problem) : GemmFiles(std::move(problem.a), std::move(problem.b)) {}

  static std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }

  TemporaryDirectory directory_;
  Matrix<double> doubles_a_, doubles_b_;
};

}  // namespace ozbound::cli::test
