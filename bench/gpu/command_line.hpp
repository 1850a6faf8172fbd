// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "ozbound/gpu/cuda_engine.hpp"

namespace ozbound::bench {

/// Runs a benchmark and returns its exit code: the result of run(quick, file of the JSON or null), or 2 for a wrong argument,
/// without a device, or if run throws.
inline int run_benchmark(const char* name, int count, char** arguments, const std::function<int(bool, const char*)>& run) {
  bool quick = false;
  const char* json = nullptr;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--quick") {
      quick = true;
    } else if (argument == "--json" && i + 1 < count) {
      json = arguments[++i];
    } else {
      std::fprintf(stderr, "usage: %s [--quick] [--json FILE]\n", name);
      return 2;
    }
  }
  if (gpu::device_count() == 0) {
    std::fprintf(stderr, "no CUDA device\n");
    return 2;
  }
  try {
    return run(quick, json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

}  // namespace ozbound::bench
