// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "decision_arguments.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/columns.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "ozbound/native.hpp"
#include "ozbound/verify/literature/study.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_study {
namespace {

struct Arguments {
  std::string study;
  StudyOptions options;
  std::string svg;
  bool json = false;
};

Study run_with_progress(const StudyKind& kind, const StudyOptions& options) {
  const auto engine = make_engine(0);
  files::Progress progress("measuring");
  StudyContext context{
      .engine = engine, .native = ozbound::native_gemm(), .progress = [&progress](double done) { progress(done); }};
  if (const auto zgemm = ozbound::native_zgemm(); zgemm != nullptr) context.zgemm = zgemm;
  return kind.run(options, context);
}

/// The tightest proven bound, or null.
const StudyClaim* tightest(const StudyMeasurement& one) {
  const StudyClaim* best = nullptr;
  for (const auto& claim : one.claims)
    if (claim.rigorous && (best == nullptr || claim.average_relative < best->average_relative)) best = &claim;
  return best;
}

std::string short_number(double x) { return fmt::format("{:.3g}", x); }

files::Cells cells(const StudyMeasurement& one) {
  const auto* best = tightest(one);
  const bool holds = std::all_of(one.claims.begin(), one.claims.end(), [](const auto& claim) { return claim.holds(); });
  return {one.method,
          fmt::format("{}", one.phi),
          std::to_string(one.k),
          short_number(one.average_relative),
          short_number(one.max_relative),
          best == nullptr ? "-" : best->name,
          best == nullptr ? "-" : short_number(best->average_relative),
          holds ? "hold" : "FAIL"};
}

/// For a study of theory: prints a line for each curve.
void print_curves(const Study& study) {
  std::vector<files::Cells> rows{{"plot", "curve", "points"}};
  for (const auto& one : study.series) {
    std::string points;
    for (const auto& [x, y] : one.points) points += fmt::format("{}{:g}:{:g}", points.empty() ? "" : " ", x, y);
    rows.push_back({one.plot, one.label, points});
  }
  print_columns(rows);
}

void print_measurements(const Study& study) {
  std::vector<files::Cells> rows{{"method", "φ", "k", "average", "largest", "tightest bound", "its average", "bounds"}};
  Index bounds = 0;
  for (const auto& one : study.measurements) {
    rows.push_back(cells(one));
    bounds += static_cast<Index>(
        std::count_if(one.claims.begin(), one.claims.end(), [](const auto& claim) { return claim.rigorous; }));
  }
  print_columns(rows);
  print_text(fmt::format("\n{} proven bounds on {} products: {}\n", bounds, study.measurements.size(),
                         study.holds() ? "none is below an error" : "NOT ALL HOLD"));
}

void print_for_people(const Study& study, const StudyKind& kind) {
  print_paragraph(kind.source);
  print_paragraph(kind.statement);
  print_text("\n");
  study.measurements.empty() ? print_curves(study) : print_measurements(study);
  print_text(explain_failures(study));
}

/// An object with one line for each member and each element of an array, because there are thousands of numbers.
std::string by_lines(const nlohmann::ordered_json& object) {
  std::string text;
  for (const auto& [name, value] : object.items()) {
    text += (text.empty() ? "{\n  \"" : ",\n  \"") + name + "\": ";
    if (!value.is_array()) {
      text += value.dump();
      continue;
    }
    std::string elements;
    for (const auto& element : value) elements += (elements.empty() ? "\n    " : ",\n    ") + element.dump();
    text += "[" + elements + "\n  ]";
  }
  return text + "\n}\n";
}

std::string record(const Study& study) {
  auto json = to_json(study);
  json["version"] = OZBOUND_VERSION;
  return by_lines(json);
}

ExitCode run(const Arguments& arguments) {
  const auto& kind = find_study(arguments.study);
  std::optional<files::AtomicFile> figure;
  if (!arguments.svg.empty()) figure.emplace(arguments.svg);
  const auto study = run_with_progress(kind, arguments.options);
  if (figure) {
    figure->write(svg(study.series));
    figure->commit();
  }
  arguments.json ? print_json_text(record(study)) : print_for_people(study, kind);
  return study.holds() ? ExitCode::success : ExitCode::verdict_failed;
}

std::string study_names() {
  std::string names;
  for (const auto& kind : all_studies()) names += (names.empty() ? "" : ", ") + kind.name;
  return names;
}

CLI::Option* add_text(CLI::App& command, const std::string& option, const std::string& type, const std::string& help,
                      const std::function<void(const std::string&)>& store) {
  return command.add_option_function<std::string>(option, store, help)->type_name(type);
}

void add_options(CLI::App& command, const std::shared_ptr<Arguments>& arguments) {
  add_text(command, "--scale", "FACTOR", "Of rows, columns and the longest inner dimension; 1 if not given",
           [arguments](const std::string& text) { arguments->options.scale = files::parse_real(text, "--scale"); });
  add_text(command, "--seed", "INTEGER", "Other random matrices; 0 if not given",
           [arguments](const std::string& text) { arguments->options.seed = files::parse_unsigned(text, "--seed"); });
  add_text(command, "--svg", "FILE", "The figure, as a file that needs nothing else", [arguments](const std::string& file) {
    if (file.empty()) throw std::invalid_argument("--svg: a file name is missing");
    arguments->svg = file;
  });
  add_output_options(command, arguments->json, "a table");
}

}  // namespace
}  // namespace command_study

void add_study(CLI::App& app, Action& action) {
  using namespace command_study;
  auto* command = app.add_subcommand("study", "Measure a figure of the literature again, with exact references and bounds");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("NAME", arguments->study, "One of " + study_names())->required()->type_name("");
  add_options(*command, arguments);
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
