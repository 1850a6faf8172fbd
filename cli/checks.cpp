#include "checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "demo_problems.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "text.hpp"

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

std::string reproduction(const CheckResult& result) {
  if (result.counterexample->file.empty()) return {};
  return shell_command({"ozbound", "check", "--property", result.property, "--replay", result.counterexample->file.string()});
}

ordered_json record(const CheckResult& result) {
  const auto& property = find_property(result.property);
  ordered_json object{{"property", result.property}, {"statement", property.statement}, {"source", property.source},
                      {"holds", result.holds()},     {"replayed", result.replayed},     {"drawn", result.drawn}};
  if (result.holds()) return object;
  object["explanation"] = result.counterexample->explanation;
  object["case"] = to_json(StoredCase{{result.property}, "", result.counterexample->gemm_case});
  object["file"] = result.counterexample->file.string();
  object["reproduction"] = reproduction(result);
  return object;
}

void print_for_people(const CheckResult& result) {
  const auto counts = fmt::format("{} replayed, {} drawn", result.replayed, result.drawn);
  print_text(fmt::format("{:<20}  {:<5}  {}\n", result.property, result.holds() ? "holds" : "FAILS", counts));
  if (!result.holds()) {
    const auto& found = *result.counterexample;
    const StoredCase shrunk{{result.property}, found.explanation, found.gemm_case};
    print_text(fmt::format("\n{}\n\n{}\nstored in {}; again by\n{}\n\n", found.explanation, to_text(shrunk),
                           found.file.string(), reproduction(result)));
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
  Progress progress("checking " + property.name);
  options.progress = [&progress](double done) { progress(done); };
  return check(property, engine, options);
}

ExitCode finish(const CheckArguments& arguments, const std::vector<CheckResult>& results) {
  const bool holds = std::all_of(results.begin(), results.end(), [](const CheckResult& result) { return result.holds(); });
  if (arguments.json) {
    ordered_json object{{"schema", "ozbound-check-1"}, {"engine", "cpu"}, {"seed", arguments.seed}, {"holds", holds}};
    object["properties"] = ordered_json::array();
    for (const auto& result : results) object["properties"].push_back(record(result));
    print_json(object);
  }
  return holds ? ExitCode::success : ExitCode::verdict_failed;
}

/// The file for every chosen property that it is for.
std::vector<CheckResult> replay_file(const CheckArguments& arguments, const Engine& engine) {
  const auto stored = read_case(arguments.replay);
  std::vector<CheckResult> results;
  for (const auto* property : chosen_properties(arguments.properties)) {
    if (arguments.properties.empty() && !stored.is_for(property->name)) continue;
    CheckResult result{property->name, 1, 0, {}};
    if (auto wrong = judge(*property, stored.gemm_case, engine))
      result.counterexample = {stored.gemm_case, *wrong, arguments.replay};
    results.push_back(std::move(result));
    if (!arguments.json) print_for_people(results.back());
  }
  if (results.empty()) throw std::invalid_argument(arguments.replay.string() + ": properties: names none that is known here");
  return results;
}

}  // namespace

CheckedEngine parse_checked_engine(const std::string& text) {
  if (text == "cpu") return CheckedEngine::cpu;
  throw std::invalid_argument("--engine: " + quote(text) + " is not cpu");
}

std::unique_ptr<Engine> make_checked_engine(CheckedEngine engine) {
  switch (engine) {
    case CheckedEngine::cpu: break;
  }
  return std::make_unique<CpuEngine>(CpuEngine::Options{.threads = 1});
}

ExitCode run_checks(const CheckArguments& arguments, const Engine& engine) {
  if (!arguments.replay.empty()) return finish(arguments, replay_file(arguments, engine));
  const auto properties = chosen_properties(arguments.properties);
  const auto options = options_for(arguments, properties.size());
  if (!arguments.json) print_text(fmt::format("seed {}\n", arguments.seed));
  std::vector<CheckResult> results;
  for (const auto* property : properties) {
    results.push_back(check_one(*property, engine, options));
    if (!arguments.json) print_for_people(results.back());
  }
  return finish(arguments, results);
}

void list_properties(bool json) {
  auto list = ordered_json::array();
  for (const auto& property : all_properties()) {
    list.push_back({{"property", property.name}, {"statement", property.statement}, {"source", property.source}});
    if (!json) print_text(fmt::format("{}\n    {}\n    {}\n", property.name, property.statement, property.source));
  }
  if (json) print_json({{"schema", "ozbound-check-1"}, {"properties", list}});
}

}  // namespace ozbound::cli
