// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

namespace ozbound::bench {

/// One instruction on registers alone: what no kernel made of it can exceed.
struct Peak {
  std::string_view name;    ///< `vpdpbusd zmm`
  std::string_view unit;    ///< `INT8` or `FP64`
  std::string_view kernel;  ///< the engine's kernel that is made of it; empty for FP64
  double operations;        ///< of one run on one thread; a multiplication and an addition are two
  bool (*supported)();      ///< by this processor
  void (*run)();
};

/// Those that this processor runs, the fastest registers of a unit first.
std::span<const Peak> peaks();

/// The FP64 peak; null where none is known for this processor.
const Peak* float_peak();

/// What a kernel of this name is made of; the widest integer instruction that every processor of this family has for a kernel
/// without instructions of its own. Null where none is known.
const Peak* integer_peak(std::string_view kernel);

/// Runs it on every one of so many threads.
void run(const Peak& peak, int threads);

}  // namespace ozbound::bench
