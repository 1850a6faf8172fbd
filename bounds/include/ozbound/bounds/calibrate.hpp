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

/// One product to be timed, or timed.
struct Sample {
  Method method = Method::one_plan;
  std::optional<Plan> plan;  ///< for slices or residues
  Index m = 0;
  Index n = 0;
  Index k = 0;
  double seconds = 0;  ///< median, with certificate and without deciding; 0: not timed
};

/// The products that a calibration times: 1 to 45 slice products, 2 to 18 moduli, cubes up to 1024, or 8192 for a `large`
/// machine, and products of which one or two sizes are small. Of each method in the order of the work.
std::vector<Sample> calibration_samples(bool large = false);

/// Least sum of relative errors, about, every term >= 0: slices, residues, the superaccumulator and native DGEMM each by its
/// own samples. Samples that were not timed do not count. @throws std::invalid_argument if there are none for slices or the
/// superaccumulator.
Rates fit_rates(const std::vector<Sample>& samples, int threads, KernelTile tile);

/// Median of the seconds that `run` takes: a first run, which does not count if there are others, then up to seven more, as
/// many as are likely to end within `budget` seconds.
double median_seconds(const std::function<void()>& run, double budget);

struct CalibrationOptions {
  double seconds = 20;                             ///< to be spent, about
  std::function<void(double)> progress = nullptr;  ///< told how much is done, in [0, 1]

  /// What is timed; null: `multiply`.
  std::function<void(const RealProduct&, const Decision&, const Backend&)> multiply = nullptr;
};

/// Times as many of calibration_samples() as the time allows, smallest first, with random operands in the host's memory, and
/// fits an engine's rates. `native` may be null; it must be about to use as many threads as the engine, which for OpenBLAS are
/// those of OpenMP.
Rates measure_rates(const CpuEngine& engine, const NativeGemm* native, const CalibrationOptions& options = {});

/// The same for samples of one's own, and for any backend, whose kernel has this tile. The samples get their seconds.
Rates measure_rates(std::vector<Sample>& samples, const Backend& backend, KernelTile tile,
                    const CalibrationOptions& options = {});
void time_samples(std::vector<Sample>& samples, const Backend& backend, const CalibrationOptions& options = {});

}  // namespace ozbound
