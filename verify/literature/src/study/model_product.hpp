// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/literature/study.hpp"

namespace ozbound::study {

/// A problem for the oracle, and its elements in a model's type: T is float or double.
template <class T>
struct ModelProblem {
  Problem exact;
  Matrix<T> a, b;
  std::string data;
};

/// The problem as generated.
ModelProblem<double> binary64_problem(const Recipe& recipe);

/// The problem with every element rounded to binary32.
ModelProblem<float> binary32_problem(const Recipe& recipe);

/// One bound of a product, entry by entry.
struct ModelClaim {
  std::string name;
  bool rigorous;
  std::function<Magnitude(Index, Index, const OracleEntry&)> upper;
};

/// The claim factor |A||B|.
ModelClaim multiple_of_scale(std::string name, bool rigorous, double factor);

/// Judges every entry of C, by every claim, against the exact AB.
StudyMeasurement judge(const Matrix<float>& c, const ModelProblem<float>& problem, const std::vector<ModelClaim>& claims);
StudyMeasurement judge(const Matrix<double>& c, const ModelProblem<double>& problem, const std::vector<ModelClaim>& claims);

/// Conventional binary32, with fused multiply-adds. The bound k u |A||B| holds for any order of summation (Jeannerod, Rump) if
/// products do not underflow.
StudyMeasurement measure_binary32(const ModelProblem<float>& problem);

}  // namespace ozbound::study
