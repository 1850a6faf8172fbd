// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/literature/study.hpp"

namespace ozbound::study {

/// A problem as the oracle takes it, and its elements as a model does: T is float or double.
template <class T>
struct ModelProblem {
  Problem exact;
  Matrix<T> a, b;
  std::string data;
};

/// As generated.
ModelProblem<double> binary64_problem(const Recipe& recipe);

/// Every element rounded to binary32.
ModelProblem<float> binary32_problem(const Recipe& recipe);

/// One bound of a product, entry by entry.
struct ModelClaim {
  std::string name;
  bool rigorous;
  std::function<Magnitude(Index, Index, const OracleEntry&)> upper;
};

/// factor |A||B|.
ModelClaim multiple_of_scale(std::string name, bool rigorous, double factor);

/// Every entry of C against all of AB, by every claim.
StudyMeasurement judge(const Matrix<float>& c, const ModelProblem<float>& problem, const std::vector<ModelClaim>& claims);
StudyMeasurement judge(const Matrix<double>& c, const ModelProblem<double>& problem, const std::vector<ModelClaim>& claims);

/// Conventional binary32, fused multiply-adds; k u |A||B| is of any order of summation (Jeannerod, Rump) where products do not
/// underflow.
StudyMeasurement measure_binary32(const ModelProblem<float>& problem);

}  // namespace ozbound::study
