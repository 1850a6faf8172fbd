// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/magnitude.hpp"
#include "ozbound/verify/plot/plot.hpp"

namespace ozbound {

/// What a bound of the registry (named_bound.hpp), or a sum of two, says of one product. Relative to |c| as the errors are:
/// bound(i, j) / |c(i, j)|, averaged and at most.
struct StudyClaim {
  std::string name;      ///< `uchino-total`, `a-posteriori + accumulation`
  bool rigorous = true;  ///< an estimate is drawn, and not judged
  double average_relative = 0;
  double max_relative = 0;

  double worst_ratio = 0;    ///< the largest error / bound of an entry, rounded up
  Index row = -1, col = -1;  ///< that entry
  Magnitude error, bound;    ///< there

  /// No entry's error is above the bound; always, for an estimate.
  [[nodiscard]] bool holds() const { return !rigorous || worst_ratio <= 1; }
};

/// One product, judged against the exact one in every entry.
struct StudyMeasurement {
  std::string method;  ///< `INT8x9`, `DGEMM`
  std::string plan;    ///< empty for native DGEMM
  std::string data;    ///< what regenerates A and B
  double phi = 0;
  Index k = 0;
  int slices = 0;               ///< 0 for native DGEMM
  double average_relative = 0;  ///< of |C^ - C| / |C|, from errors rounded up
  double max_relative = 0;
  std::vector<StudyClaim> claims;
};

struct StudyOptions {
  double scale = 1;        ///< of rows, columns and of the longest inner dimension
  std::uint64_t seed = 0;  ///< of the matrices
};

/// C = A B of complex matrices, m x k by k x n, column-major without gaps.
using Zgemm = std::function<void(Index m, Index n, Index k, const std::complex<double>* a, const std::complex<double>* b,
                                 std::complex<double>* c)>;

/// What a study computes with.
struct StudyContext {
  const Engine& engine;
  const NativeGemm* native = nullptr;              ///< its curve is left out where there is none
  std::function<void(double)> progress = nullptr;  ///< told the share that is done, if given
  Zgemm zgemm = nullptr;                           ///< as native
};

/// What a study found.
struct Study {
  std::string name;
  StudyOptions options;
  std::vector<StudyMeasurement> measurements;  ///< empty for a study of theory alone
  std::vector<Series> series;                  ///< the figure

  /// No rigorous bound is below an error.
  [[nodiscard]] bool holds() const;
};

/// A figure of a publication, or one of ours, measured again with exact references.
struct StudyKind {
  std::string name;       ///< `ootomo-fig6`
  std::string source;     ///< the publication and its figure
  std::string statement;  ///< what is drawn

  /// The same on every machine for the same options, but for native DGEMM. @throws std::invalid_argument for a scale outside
  /// [2^-6, 64].
  Study (*run)(const StudyOptions& options, const StudyContext& context);
};

std::span<const StudyKind> all_studies();

/// @throws std::invalid_argument listing the names.
const StudyKind& find_study(std::string_view name);

/// Every bound that fails: data, plan, worst entry, error and bound in hexadecimal. Empty if none does.
std::string explain_failures(const Study& study);

/// One object: schema ozbound-study-1 (docs/records.md).
nlohmann::ordered_json to_json(const Study& study);

}  // namespace ozbound
