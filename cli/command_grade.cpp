// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "commands.hpp"
#include "grade_text.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "ozbound/verify/grade/grade_library.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_grade {
namespace {

struct Arguments {
  GradeRequest request;
  std::string html;
  bool json = false;
};

nlohmann::ordered_json record(const Grade& grade, const GradeOrigin& origin) {
  nlohmann::ordered_json json{
      {"schema", "ozbound-grade-1"}, {"version", origin.version}, {"command", origin.command}, {"date", origin.date}};
  json.update(to_json(grade));
  return json;
}

/// `2026-03-01 12:00 UTC`
std::string now() { return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))); }

Grade grade_with_progress(const GradeRequest& request) {
  files::Progress progress("grading");
  return grade_library(request, [&progress](double done) { progress(done); });
}

ExitCode run(const Arguments& arguments, const std::string& command_line) {
  std::optional<files::AtomicFile> html;
  if (!arguments.html.empty()) html.emplace(arguments.html);
  const auto grade = grade_with_progress(arguments.request);
  const GradeOrigin origin{OZBOUND_VERSION, command_line, now()};
  if (html) {
    html->write(to_html(grade, origin));
    html->commit();
  }
  arguments.json ? print_json(record(grade, origin)) : print_text(grade_text(grade, origin, output_width()));
  return grade.holds() ? ExitCode::success : ExitCode::verdict_failed;
}

std::string part_names() {
  std::string names;
  for (const auto& part : gradable_parts()) names += (names.empty() ? "" : ", ") + part.first;
  return names;
}

void add_options(CLI::App& command, const std::shared_ptr<Arguments>& arguments) {
  auto& request = arguments->request;
  command.add_option("--symbol", request.symbol, "cblas_dgemm, dgemm_ or another; the first that the library has if not given")
      ->type_name("NAME");
  command.add_option("--part", request.parts, "Only this part, and others if repeated: " + part_names())
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option_function<std::string>(
          "--seed",
          [arguments](const std::string& text) { arguments->request.options.seed = files::parse_unsigned(text, "--seed"); },
          "Other random matrices; 0 if not given")
      ->type_name("INTEGER");
  command
      .add_option_function<std::string>(
          "--time-limit",
          [arguments](const std::string& text) { arguments->request.time_limit = files::parse_duration(text, "--time-limit"); },
          "How long one part may take before it counts as hung; 300s if not given")
      ->type_name("TIME");
  command.add_flag("--quick", request.options.quick, "Smaller sizes, seconds instead of minutes");
  command
      .add_option_function<std::string>(
          "--html",
          [arguments](const std::string& file) {
            if (file.empty()) throw std::invalid_argument("--html: a file name is missing");
            arguments->html = file;
          },
          "The report as one page that needs nothing else")
      ->type_name("FILE");
  add_output_options(command, arguments->json, "text");
}

}  // namespace
}  // namespace command_grade

void add_grade(CLI::App& app, Action& action) {
  using namespace command_grade;
  auto* command = app.add_subcommand("grade", "Grade the DGEMM of a shared library");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("LIBRARY", arguments->request.library, "The library, a file or a name for the dynamic linker")
      ->required()
      ->type_name("");
  add_options(*command, arguments);
  command->callback([&action, arguments] { action = [arguments](const std::string& line) { return run(*arguments, line); }; });
}

}  // namespace ozbound::cli
