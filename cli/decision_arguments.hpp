// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ozbound/bounds/decide.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/files/operands.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ozbound::cli {

/// The ways of computing C to choose from.
enum class EngineChoice {
  automatic,  ///< slices, native DGEMM and the superaccumulator, on the CPU and on a CUDA device
  cpu,        ///< slices and the superaccumulator on the CPU, without native DGEMM
  cuda,       ///< likewise on a CUDA device
  native,     ///< only native DGEMM, on the CPU
};

/// The target, the way of computing C, and the threads, from the command line.
struct DecisionArguments {
  std::string target;  ///< empty if not given
  EngineChoice engine = EngineChoice::automatic;
  int threads = 0;  ///< 0: as many as the machine offers
};

/// The options of a subcommand, for others of its options to exclude.
struct DecisionOptions {
  CLI::Option* target;
  CLI::Option* engine;
};

/// Adds --target, --engine and --threads. `arguments` must outlive `command`.
DecisionOptions add_decision_arguments(CLI::App& command, DecisionArguments& arguments);

/// Adds only --target; --help explains each target. `target` must outlive `command`.
CLI::Option* add_target_option(CLI::App& command, std::string& target, const std::string& help);

/// Adds only --engine. `choice` must outlive `command`.
CLI::Option* add_engine_option(CLI::App& command, EngineChoice& choice);

/// Adds only --threads. `threads` must outlive `command`.
void add_threads_option(CLI::App& command, int& threads);

/// For commands that must meet every target. @throws std::invalid_argument for the choice of native DGEMM only.
void refuse_native_alone(EngineChoice choice);

/// An engine with that many threads. Sets the number of threads for the whole process.
CpuEngine make_engine(int threads);

/// The CPU's native DGEMM if the choice allows it, otherwise null.
const NativeGemm* native_gemm(EngineChoice choice);

/// Reads a saved decision (docs/records.md): a file with only a decision, or a report with a member `decision`.
/// @throws InputError for any other file.
Decision read_decision(const std::filesystem::path& path);

}  // namespace ozbound::cli
