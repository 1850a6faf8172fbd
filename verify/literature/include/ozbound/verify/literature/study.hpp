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

/// The claim of a bound of the registry (named_bound.hpp), or of a sum of two, for one product. It is relative to |c|, as the
/// errors are: bound(i, j) / |c(i, j)|, average and maximum.
struct StudyClaim {
  std::string name;      ///< `uchino-total`, `a-posteriori + accumulation`
  bool rigorous = true;  ///< an estimate is drawn, but not judged
  double average_relative = 0;
  double max_relative = 0;

  double worst_ratio = 0;    ///< the largest error / bound over all entries, rounded up
  Index row = -1, col = -1;  ///< the entry with that ratio
  Magnitude error, bound;    ///< of that entry

  /// True if no entry's error is above the bound; always true for an estimate.
  [[nodiscard]] bool holds() const { return !rigorous || worst_ratio <= 1; }
};

/// One product, judged against the exact one in every entry.
struct StudyMeasurement {
  std::string method;  ///< `INT8x9`, `DGEMM`
  std::string plan;    ///< empty for native DGEMM
  std::string data;    ///< the command that regenerates A and B
  double phi = 0;
  Index k = 0;
  int slices = 0;               ///< 0 for native DGEMM
  double average_relative = 0;  ///< average of |C^ - C| / |C|, from errors rounded up
  double max_relative = 0;
  std::vector<StudyClaim> claims;
};

struct StudyOptions {
  double scale = 1;        ///< factor for rows, columns and the longest inner dimension
  std::uint64_t seed = 0;  ///< of the matrices
};

/// C = A B of complex matrices, m x k by k x n, column-major without gaps.
using Zgemm = std::function<void(Index m, Index n, Index k, const std::complex<double>* a, const std::complex<double>* b,
                                 std::complex<double>* c)>;

/// The engine and libraries that a study uses.
struct StudyContext {
  const Engine& engine;
  const NativeGemm* native = nullptr;              ///< without it, its curve is omitted
  std::function<void(double)> progress = nullptr;  ///< if given, called with the share done
  Zgemm zgemm = nullptr;                           ///< without it, its curve is omitted
};

/// The results of a study.
struct Study {
  std::string name;
  StudyOptions options;
  std::vector<StudyMeasurement> measurements;  ///< empty for a study of theory only
  std::vector<Series> series;                  ///< the series of the figure

  /// True if no rigorous bound is below an error.
  [[nodiscard]] bool holds() const;
};

/// A figure of a publication, or one of Ozbound's, measured again with exact references.
struct StudyKind {
  std::string name;       ///< `ootomo-fig6`
  std::string source;     ///< the publication and its figure
  std::string statement;  ///< the content of the figure

  /// Gives the same result on every machine for the same options, except for native DGEMM. @throws std::invalid_argument for a
  /// scale outside [2^-6, 64].
  Study (*run)(const StudyOptions& options, const StudyContext& context);
};

std::span<const StudyKind> all_studies();

/// @throws std::invalid_argument listing the names.
const StudyKind& find_study(std::string_view name);

/// All bounds that fail: data, plan, worst entry, error and bound in hexadecimal. Empty if none fails.
std::string explain_failures(const Study& study);

/// One object: schema ozbound-study-1 (docs/records.md).
nlohmann::ordered_json to_json(const Study& study);

}  // namespace ozbound
