// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ozbound/bounds/calibration.hpp"
#include "ozbound/bounds/decision.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound {

/// One product to be timed, or one that was timed.
struct Sample {
  Method method = Method::one_plan;
  std::optional<Plan> plan;  ///< for slices or residues
  Index m = 0;
  Index n = 0;
  Index k = 0;
  double seconds = 0;  ///< median time with certificate, without the decision; 0: not timed
};

/// The products that a calibration times: 1 to 45 slice products, 2 to 18 moduli, cubes up to 1024 (8192 for a `large`
/// machine), and products with one or two small sizes. The samples of each method are ordered by work.
std::vector<Sample> calibration_samples(bool large = false);

/// Fits rates to samples so that the sum of relative errors is about minimal and every term is >= 0. Slices, residues, the
/// superaccumulator and native DGEMM are fitted separately. Samples that were not timed do not count. @throws
/// std::invalid_argument if there are no timed samples for slices or the superaccumulator.
Rates fit_rates(const std::vector<Sample>& samples, int threads, KernelTile tile);

/// Median of the seconds that `run` takes. After a first run, which counts only if it is the single one, it makes up to seven
/// more, as many as are likely to end within `budget` seconds.
double median_seconds(const std::function<void()>& run, double budget);

struct CalibrationOptions {
  double seconds = 20;                             ///< approximate time to spend
  std::function<void(double)> progress = nullptr;  ///< receives the finished share, in [0, 1]

  /// The function to time; null: `multiply`.
  std::function<void(const RealProduct&, const Decision&, const Backend&)> multiply = nullptr;
};

/// Times as many of calibration_samples() as the time allows, smallest first, with random operands in host memory, and fits an
/// engine's rates. `native` may be null; otherwise it must be set to use as many threads as the engine. For OpenBLAS these are
/// OpenMP's threads.
Rates measure_rates(const CpuEngine& engine, const NativeGemm* native, const CalibrationOptions& options = {});

/// The same for the caller's samples and for any backend, whose kernel has this tile. Sets the seconds of the samples.
Rates measure_rates(std::vector<Sample>& samples, const Backend& backend, KernelTile tile,
                    const CalibrationOptions& options = {});
void time_samples(std::vector<Sample>& samples, const Backend& backend, const CalibrationOptions& options = {});

}  // namespace ozbound
