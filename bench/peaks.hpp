// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

namespace ozbound::bench {

/// One instruction on registers only. No kernel that uses the instruction can be faster.
struct Peak {
  std::string_view name;    ///< `vpdpbusd zmm`
  std::string_view unit;    ///< `INT8` or `FP64`
  std::string_view kernel;  ///< the engine's kernel that uses it; empty for FP64
  double operations;        ///< of one run on one thread; a multiplication and an addition count as two
  bool (*supported)();      ///< by this processor
  void (*run)();
};

/// The peaks that this processor runs, the fastest registers of a unit first.
std::span<const Peak> peaks();

/// The FP64 peak; null if none is known for this processor.
const Peak* float_peak();

/// The peak of the instruction that the kernel of this name uses. For a kernel without instructions of its own, the widest
/// integer instruction that every processor of this family has. Null if none is known.
const Peak* integer_peak(std::string_view kernel);

/// Runs a peak on each of so many threads.
void run(const Peak& peak, int threads);

}  // namespace ozbound::bench
