// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "ozbound/core/plan.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/literature/study.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound::study {

/// A and B with their exact product, for measuring one method after the other.
class Judged {
 public:
  /// @param data the command that regenerates the problem, for people
  Judged(Problem problem, std::string data) : problem_(std::move(problem)), oracle_(problem_), data_(std::move(data)) {}
  Judged(const Judged&) = delete;
  Judged& operator=(const Judged&) = delete;

  /// Measures AB under a plan, with every bound of the registry on the total error that covers the plan. A truncation bound is
  /// drawn together with Ozbound's bound of the accumulation, a bound of the accumulation together with Ozbound's bound of the
  /// truncation. The rounding of C^ is added to all of them.
  [[nodiscard]] StudyMeasurement measure(const std::string& method, const SplitPlan& plan, const Engine& engine) const;

  /// Measures AB by native DGEMM, with every bound of conventional summation.
  [[nodiscard]] StudyMeasurement measure(const NativeGemm& native, const Engine& engine) const;

 private:
  struct Claim;
  [[nodiscard]] StudyMeasurement judge(const Matrix<double>& c, const std::vector<Claim>& claims) const;
  [[nodiscard]] StudyMeasurement measured(std::string method, const Matrix<double>& c, const std::vector<Claim>& claims) const;

  Problem problem_;
  ExactOracle oracle_;
  std::string data_;
};

}  // namespace ozbound::study
