// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <random>

#include "checks.hpp"
#include "commands.hpp"
#include "ozbound/files/text.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_check {
namespace {

struct Arguments {
  CheckArguments check;
  bool list = false;
};

/// A seed that differs in every run. Counterexamples are on file anyway.
std::uint64_t fresh_seed() { return std::random_device{}(); }

ExitCode run(const Arguments& arguments) {
  if (arguments.list) {
    list_properties(arguments.check.json);
    return ExitCode::success;
  }
  return run_checks(arguments.check, *make_checked_engine(arguments.check.engine));
}

CLI::Option* add_text(CLI::App& command, const std::string& option, const std::string& type, const std::string& help,
                      const std::function<void(const std::string&)>& store) {
  return command.add_option_function<std::string>(option, store, help)->type_name(type);
}

}  // namespace
}  // namespace command_check

void add_check(CLI::App& app, Action& action) {
  using namespace command_check;
  auto* command = app.add_subcommand("check", "Look for an input that falsifies a property of the products");
  auto arguments = std::make_shared<Arguments>();
  auto& check = arguments->check;
  check.seed = fresh_seed();
  auto* engine = add_text(*command, "--engine", "cpu|cuda", "Whose products; cpu if not given",
                          [&check](const std::string& text) { check.engine = parse_checked_engine(text); });
  auto* properties = command->add_option("--property", check.properties, "This property; may be repeated; all if not given");
  properties->type_name("NAME")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* time =
      add_text(*command, "--time", "TIME", "For all properties together, 60s if not given", [&check](const std::string& text) {
        check.seconds = std::chrono::duration<double>(files::parse_duration(text, "--time")).count();
      });
  auto* seed = add_text(*command, "--seed", "INTEGER", "The same cases again; others at every run if not given",
                        [&check](const std::string& text) { check.seed = files::parse_unsigned(text, "--seed"); });
  auto* regressions =
      add_text(*command, "--regressions", "DIRECTORY", "Folder of case files to replay first, and to store counterexamples in",
               [&check](const std::string& text) { check.regressions = text; });
  auto* replay = add_text(*command, "--replay", "FILE", "Judge the case of this file alone",
                          [&check](const std::string& text) { check.replay = text; });
  replay->excludes(time)->excludes(seed)->excludes(regressions);
  auto* list = command->add_flag("--list", arguments->list, "Say what the properties are, and check none");
  list->excludes(engine)->excludes(properties)->excludes(time)->excludes(seed)->excludes(regressions)->excludes(replay);
  add_output_options(*command, check.json, "lines");
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
