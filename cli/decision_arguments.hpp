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

/// Which ways of computing C are open.
enum class EngineChoice {
  automatic,  ///< slices, native DGEMM and the superaccumulator, on the CPU and on a CUDA device
  cpu,        ///< there, no native DGEMM
  cuda,       ///< likewise
  native,     ///< native DGEMM of the CPU alone
};

/// How the command line wants C to be computed, and with how many threads.
struct DecisionArguments {
  std::string target;  ///< empty where it is not given
  EngineChoice engine = EngineChoice::automatic;
  int threads = 0;  ///< 0: as many as the machine offers
};

/// The options of a subcommand that others of its options may exclude.
struct DecisionOptions {
  CLI::Option* target;
  CLI::Option* engine;
};

/// --target, --engine and --threads. `arguments` must outlive `command`.
DecisionOptions add_decision_arguments(CLI::App& command, DecisionArguments& arguments);

/// --target alone, of which --help says what each means. `target` must outlive `command`.
CLI::Option* add_target_option(CLI::App& command, std::string& target, const std::string& help);

/// --engine alone. `choice` must outlive `command`.
CLI::Option* add_engine_option(CLI::App& command, EngineChoice& choice);

/// --threads alone. `threads` must outlive `command`.
void add_threads_option(CLI::App& command, int& threads);

/// For commands that must meet every target. @throws std::invalid_argument for native DGEMM alone.
void refuse_native_alone(EngineChoice choice);

/// An engine with that many threads, which everything else in this process uses from now on too.
CpuEngine make_engine(int threads);

/// The CPU's native DGEMM, where a choice leaves it open, or null.
const NativeGemm* native_gemm(EngineChoice choice);

/// A saved decision (docs/records.md): the file holds it alone, or a report with a member `decision`.
/// @throws InputError for anything else.
Decision read_decision(const std::filesystem::path& path);

}  // namespace ozbound::cli
