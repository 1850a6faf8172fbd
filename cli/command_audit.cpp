// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "audit_report.hpp"
#include "commands.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_audit {
namespace {

struct Arguments {
  std::vector<std::string> logs;
  bool json = false;
};

ExitCode run(const Arguments& arguments) {
  AuditReport report;
  for (const auto& log : arguments.logs) report.add(log);
  arguments.json ? print_json(report.json()) : report.print_for_people();
  return ExitCode::success;
}

}  // namespace
}  // namespace command_audit

void add_audit(CLI::App& app, Action& action) {
  using namespace command_audit;
  auto* command = app.add_subcommand("audit", "Say what the logs of ozbound run --log hold");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("log", arguments->logs, "The logs of one run or of several")->required()->type_name("FILE");
  add_output_options(*command, arguments->json, "tables");
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
