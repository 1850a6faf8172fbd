// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound::files {

/// A variable of the environment.
struct Variable {
  std::string name, value;
};

/// The variables that are set here and may change what is measured: those of OpenBLAS, BLIS, OpenMP and its runtimes, cuBLAS
/// and CUDA. In their order in the environment.
std::vector<Variable> measuring_variables();

/// `OMP_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell`.
std::string to_string(const std::vector<Variable>& variables);

/// Runs a program with the environment of this one, but none of `measuring_variables`, but with `variables`. `input` is its
/// standard input; `line` gets every line that it prints. @param arguments the program's file first @return its exit code, or
/// 128 and the signal that ended it
/// @throws std::system_error if it cannot be started.
int run_to_measure(const std::vector<std::string>& arguments, const std::vector<Variable>& variables, std::string_view input,
                   const std::function<void(std::string_view)>& line);

/// The time of one DGEMM of n = 1024 on one thread, with one of OpenBLAS's kernels.
struct OpenBlasCore {
  std::string core;     ///< as OPENBLAS_CORETYPE names it; empty: OpenBLAS's own choice
  std::string library;  ///< as the library names itself then; its own choice may be any kernel
  double seconds = 0;
};

/// The line by which a child of `measure_cores` answers. @param native a DGEMM on one thread
std::string core_line(const NativeGemm& native);

/// Times every kernel of OpenBLAS that this processor runs, each in a child, which prints `core_line`.
/// @param child the child's program and arguments @param avx512 false: without kernels that need AVX-512
/// @return the fastest first; empty if no child answers
std::vector<OpenBlasCore> measure_cores(const std::vector<std::string>& child, bool avx512);

}  // namespace ozbound::files
