// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace ozbound::bench {

/// `ozbound-bench cpu` (docs/benchmarks.md).
struct CpuArguments {
  bool quick = false, list = false;
  std::string json, compare;  ///< files; empty: none
  std::string filter;         ///< a regular expression; empty: everything
};

/// Measures the CPU engine: tables on standard output, the record in a file. Files are opened before anything is measured.
/// @throws std::invalid_argument for a filter that is none or leaves nothing, cli::InputError for a saved run that is none.
void run_cpu(const CpuArguments& arguments);

}  // namespace ozbound::bench
