// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace ozbound::bench {

/// Arguments of `ozbound-bench cpu` (docs/benchmarks.md).
struct CpuArguments {
  bool quick = false, list = false;
  std::string json, compare;  ///< files; empty: none
  std::string filter;         ///< a regular expression; empty: everything
};

/// Measures the CPU engine. Prints tables on standard output and writes the record to a file. Opens files before it measures.
/// @throws std::invalid_argument for a filter that is invalid or matches nothing, files::InputError for an invalid saved run.
void run_cpu(const CpuArguments& arguments);

/// A child of run_cpu: times one DGEMM of the OpenBLAS that this process has (files::core_line).
/// @throws std::runtime_error without OpenBLAS.
void run_openblas();

/// A child of run_cpu: measures the series that standard input names, one on a line, and prints the measurements of each as
/// one line of JSON. @throws std::invalid_argument for an unknown name.
void run_named_series(bool quick);

}  // namespace ozbound::bench
