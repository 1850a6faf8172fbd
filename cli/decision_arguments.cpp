// SPDX-License-Identifier: BSD-3-Clause
#include "decision_arguments.hpp"

#include <omp.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "help.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/files/json_file.hpp"
#include "ozbound/files/text.hpp"
#include "ozbound/native.hpp"

namespace ozbound::cli {
namespace {

constexpr std::int64_t most_threads = 1024;

EngineChoice parse_engine(const std::string& text) {
  if (text == "auto") return EngineChoice::automatic;
  if (text == "cpu") return EngineChoice::cpu;
  if (text == "cuda") return EngineChoice::cuda;
  if (text == "native") return EngineChoice::native;
  throw std::invalid_argument("--engine: " + files::quote(text) + " is not one of auto, cpu, cuda, native");
}

}  // namespace

CLI::Option* add_engine_option(CLI::App& command, EngineChoice& choice) {
  const auto store = [&choice](const std::string& text) { choice = parse_engine(text); };
  return command
      .add_option_function<std::string>("--engine", store,
                                        "cpu, cuda: there, no native DGEMM; native: nothing else; auto: the cheapest way")
      ->type_name("auto|cpu|cuda|native");
}

void add_threads_option(CLI::App& command, int& threads) {
  const auto store = [&threads](const std::string& text) {
    threads = static_cast<int>(files::parse_integer(text, "--threads", 1, most_threads));
  };
  command.add_option_function<std::string>("--threads", store, "Threads; as many as the machine offers if not given")
      ->type_name("COUNT");
}

CLI::Option* add_target_option(CLI::App& command, std::string& target, const std::string& help) {
  const auto store = [&target](const std::string& text) {
    static_cast<void>(parse_target(text));  // throws before a file is read
    target = text;
  };
  command.footer(target_help());
  return command.add_option_function<std::string>("--target", store, help)->type_name("TARGET");
}

DecisionOptions add_decision_arguments(CLI::App& command, DecisionArguments& arguments) {
  auto* target = add_target_option(command, arguments.target, "How accurate, see below; dgemm if not given");
  auto* engine = add_engine_option(command, arguments.engine);
  add_threads_option(command, arguments.threads);
  return {target, engine};
}

void refuse_native_alone(EngineChoice choice) {
  if (choice == EngineChoice::native)
    throw std::invalid_argument("--engine: native DGEMM alone cannot meet every target here; auto, cpu or cuda");
}

CpuEngine make_engine(int threads) {
  if (threads > 0) omp_set_num_threads(threads);
  return CpuEngine({.threads = threads});
}

const NativeGemm* native_gemm(EngineChoice choice) {
  if (choice == EngineChoice::cpu || choice == EngineChoice::cuda) return nullptr;
  const auto* native = ozbound::native_gemm();
  if (native == nullptr && choice == EngineChoice::native)
    throw std::invalid_argument("--engine: this build has no native DGEMM");
  return native;
}

Decision read_decision(const std::filesystem::path& path) {
  const FloatEnvironment environment;
  const files::InputFile file(path);
  const auto json = files::read_json(file);
  try {
    return decision_from_json(files::member_of_report(file, json, "decision"));
  } catch (const std::invalid_argument& error) {
    throw files::InputError(file.name(), error.what());
  }
}

}  // namespace ozbound::cli
