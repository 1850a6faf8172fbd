// SPDX-License-Identifier: BSD-3-Clause
#include "checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "demo_problems.hpp"
#include "machine_choice.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace {

using nlohmann::ordered_json;

/// The cases that come with Ozbound.
std::filesystem::path shipped_cases() { return data_directory() / "regressions"; }

std::vector<const Property*> chosen_properties(const std::vector<std::string>& names) {
  std::vector<const Property*> chosen;
  for (const auto& property : all_properties())
    if (names.empty()) chosen.push_back(&property);
  for (const auto& name : names) chosen.push_back(&find_property(name));
  return chosen;
}

std::string name_of(CheckedEngine engine) { return engine == CheckedEngine::cuda ? "cuda" : "cpu"; }

/// The command that reproduces a result: the file again or, without a file, the cases up to this one.
std::string reproduction(const CheckArguments& arguments, const CheckResult& result) {
  std::vector<std::string> command{"ozbound", "check", "--engine", name_of(arguments.engine), "--property", result.property};
  const auto& file = result.counterexample->file;
  if (file.empty())
    command.insert(command.end(), {"--seed", std::to_string(arguments.seed), "--time", fmt::format("{}s", arguments.seconds)});
  else
    command.insert(command.end(), {"--replay", file.string()});
  return files::shell_command(command);
}

ordered_json record(const CheckArguments& arguments, const CheckResult& result) {
  const auto& property = find_property(result.property);
  ordered_json object{{"property", result.property}, {"statement", property.statement}, {"source", property.source},
                      {"holds", result.holds()},     {"replayed", result.replayed},     {"drawn", result.drawn}};
  if (result.holds()) return object;
  object["explanation"] = result.counterexample->explanation;
  object["case"] = to_json(*result.counterexample);
  object["file"] = result.counterexample->file.string();
  if (!result.counterexample->not_stored.empty()) object["not_stored"] = result.counterexample->not_stored;
  object["reproduction"] = reproduction(arguments, result);
  return object;
}

std::string where(const CheckResult& result) {
  const auto& found = *result.counterexample;
  if (found.file.empty()) return "not stored: " + found.not_stored;
  return (result.drawn > 0 ? "stored in " : "replayed from ") + found.file.string();
}

void print_for_people(const CheckArguments& arguments, const CheckResult& result) {
  const auto counts = fmt::format("{} replayed, {} drawn", result.replayed, result.drawn);
  print_text(fmt::format("{:<20}  {:<5}  {}\n", result.property, result.holds() ? "holds" : "FAILS", counts));
  if (!result.holds()) {
    const auto& found = *result.counterexample;
    print_text(fmt::format("\n{}\n\n{}\n{}; again by\n{}\n\n", found.explanation, to_text(found), where(result),
                           reproduction(arguments, result)));
  }
  std::fflush(stdout);
}

CheckOptions options_for(const CheckArguments& arguments, std::size_t properties) {
  CheckOptions options;
  options.seconds = arguments.seconds / static_cast<double>(properties);
  options.seed = arguments.seed;
  options.replayed = {shipped_cases()};
  options.store = arguments.regressions;
  const bool twice =
      std::filesystem::weakly_canonical(arguments.regressions) == std::filesystem::weakly_canonical(shipped_cases());
  if (twice) options.replayed.clear();
  return options;
}

CheckResult check_one(const Property& property, const Engine& engine, CheckOptions options) {
  files::Progress progress("checking " + property.name);
  options.progress = [&progress](double done) { progress(done); };
  return check(property, engine, options);
}

ExitCode finish(const CheckArguments& arguments, const std::vector<CheckResult>& results) {
  const bool holds = std::all_of(results.begin(), results.end(), [](const CheckResult& result) { return result.holds(); });
  if (arguments.json) {
    ordered_json object{
        {"schema", "ozbound-check-1"}, {"engine", name_of(arguments.engine)}, {"seed", arguments.seed}, {"holds", holds}};
    object["properties"] = ordered_json::array();
    for (const auto& result : results) object["properties"].push_back(record(arguments, result));
    print_json(object);
  }
  return holds ? ExitCode::success : ExitCode::verdict_failed;
}

/// A case file. Refuses unknown property names, because the file would then never be replayed.
StoredCase read_known_case(const std::filesystem::path& file) {
  auto stored = read_case(file);
  try {
    for (const auto& name : stored.properties) (void)find_property(name);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(file.string() + ": properties: " + error.what());
  }
  return stored;
}

/// Refuses unusable options before any case is judged.
void refuse_unusable(const CheckOptions& options) {
  if (options.store.empty()) throw std::invalid_argument("--regressions: this names no folder");
  try {
    require_storable(options.store);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("--regressions: ") + error.what());
  }
  auto folders = options.replayed;
  folders.push_back(options.store);
  for (const auto& folder : folders)
    for (const auto& file : case_files(folder)) (void)read_known_case(file);
}

/// Replays the file for every chosen property that it is for.
std::vector<CheckResult> replay_file(const CheckArguments& arguments, const Engine& engine) {
  if (arguments.replay->empty()) throw std::invalid_argument("--replay: this names no file");
  const auto stored = read_known_case(*arguments.replay);
  std::vector<CheckResult> results;
  for (const auto* property : chosen_properties(arguments.properties)) {
    if (arguments.properties.empty() && !stored.is_for(property->name)) continue;
    CheckResult result{property->name, 1, 0, {}};
    if (auto wrong = judge(*property, stored.gemm_case, engine)) result.counterexample = {stored, *wrong, *arguments.replay};
    results.push_back(std::move(result));
    if (!arguments.json) print_for_people(arguments, results.back());
  }
  return results;
}

}  // namespace

CheckedEngine parse_checked_engine(const std::string& text) {
  if (text == "cpu") return CheckedEngine::cpu;
  if (text == "cuda") return CheckedEngine::cuda;
  throw std::invalid_argument("--engine: " + files::quote(text) + " is not one of cpu, cuda");
}

std::shared_ptr<const Engine> make_checked_engine(CheckedEngine engine) {
  if (engine == CheckedEngine::cpu) return std::make_shared<const CpuEngine>(CpuEngine::Options{.threads = 1});
  return make_engine(EngineChoice::cuda, 1);
}

ExitCode run_checks(const CheckArguments& arguments, const Engine& engine) {
  if (arguments.replay) return finish(arguments, replay_file(arguments, engine));
  const auto properties = chosen_properties(arguments.properties);
  const auto options = options_for(arguments, properties.size());
  refuse_unusable(options);
  if (!arguments.json) print_text(fmt::format("seed {}\n", arguments.seed));
  std::vector<CheckResult> results;
  for (const auto* property : properties) {
    results.push_back(check_one(*property, engine, options));
    if (!arguments.json) print_for_people(arguments, results.back());
  }
  return finish(arguments, results);
}

void list_properties(bool json) {
  auto list = ordered_json::array();
  for (const auto& property : all_properties()) {
    list.push_back({{"property", property.name}, {"statement", property.statement}, {"source", property.source}});
    if (json) continue;
    print_text(property.name + "\n");
    for (const auto& text : {property.statement, property.source})
      print_text("    " + files::hanging(text, 4, output_width()) + "\n");
  }
  if (json) print_json({{"schema", "ozbound-check-1"}, {"properties", list}});
}

}  // namespace ozbound::cli
