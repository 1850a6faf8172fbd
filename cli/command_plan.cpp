// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "commands.hpp"
#include "decision_arguments.hpp"
#include "interruption.hpp"
#include "machine_choice.hpp"
#include "operand_record.hpp"
#include "ozbound/bounds/calibrate.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/files/columns.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/operands.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "product_file.hpp"
#include "report.hpp"
#include "stopwatch.hpp"

namespace ozbound::cli {
namespace command_plan {
namespace {

struct Arguments {
  files::OperandArguments operands;
  DecisionArguments decision;
  std::string save;
  bool measure = false;
  bool json = false;
};

constexpr double longest_measurement = 10;  ///< seconds: products that are predicted to take longer are not run
constexpr double measurement_budget = 2;    ///< seconds, for the runs of one candidate

/// A candidate that certifies the target, and the time of its product.
struct Measured {
  Candidate candidate;
  std::optional<double> seconds;  ///< median; empty if it would have taken too long
};

bool is_chosen(const Candidate& candidate, const Decision& decision) {
  return candidate.certifies && candidate.method == decision.method && candidate.plan == decision.plan;
}

/// A cost in seconds with a unit, or in products.
std::string format_cost(double cost, const Decision& decision) {
  if (decision.costs.unit != "seconds") return fmt::format("{:.4g}", cost);
  if (cost < 1e-3) return fmt::format("{:.4g} us", 1e6 * cost);
  return cost < 1 ? fmt::format("{:.4g} ms", 1e3 * cost) : fmt::format("{:.4g} s", cost);
}

files::Cells row_of(const Candidate& candidate, const Decision& decision) {
  return {is_chosen(candidate, decision) ? "*" : "",
          way_text(candidate.method, candidate.plan),
          candidate.plan ? to_string(*candidate.plan) : "-",
          candidate.plan ? std::to_string(candidate.plan->products()) : "-",
          files::format_upper(candidate.ratio),
          format_cost(candidate.cost, decision),
          candidate.certifies ? "yes" : "no"};
}

std::string origin_text(const CostOrigin& costs) {
  const auto of = costs.threads == 0 ? "" : fmt::format(", {}, {}, {} threads", costs.processor, costs.kernel, costs.threads);
  return costs.model + of + (costs.note.empty() ? "" : "; " + costs.note);
}

files::Cells row_of(const Measured& measured, const Decision& decision) {
  auto row = row_of(measured.candidate, decision);
  row.back() = measured.seconds ? format_cost(*measured.seconds, decision) : "-";
  return row;
}

/// The product of a decision, in words.
std::string product_text(const files::OperandFiles& files) {
  return fmt::format("{}{} x {}, inner dimension {}", files.is_complex() ? "a complex " : "", files.m(), files.n(), files.k());
}

/// The bytes of the slices or residues of A and B, for people.
std::string bytes_text(const Decision& decision) {
  const auto bytes = decision.plan->operand_bytes(decision.real_m(), decision.n, decision.real_k());
  return files::format_bytes(static_cast<std::uint64_t>(bytes)) + " for the slices or residues of A and B";
}

void print_for_people(const Decision& decision, const files::OperandFiles& files, const std::vector<Measured>& measured,
                      double seconds) {
  const bool predicts = decision.costs.unit == "seconds";
  std::vector<files::Cells> rows{
      {"", "method", "plan", "products", "bound/target", predicts ? "predicted" : "cost", "certifies"}};
  for (const auto& candidate : decision.candidates) rows.push_back(row_of(candidate, decision));
  print_columns(rows);
  print_text("\n");
  if (!measured.empty()) {
    rows.resize(1);
    rows[0].back() = "measured";
    for (const auto& one : measured) rows.push_back(row_of(one, decision));
    print_columns(rows);
    print_text("\n");
  }
  Table table{{"target", fmt::format("{} for {}", to_string(decision.target), product_text(files))}};
  if (decision.target.kind == Target::Kind::normwise) table.emplace_back("relative to", normwise_measure);
  const auto plan = decision.plan ? ", " + to_string(*decision.plan) : "";
  table.insert(table.end(), {{"engine", to_string(decision.engine.value_or(BackendId{}))},
                             {"chosen", way_text(decision.method, decision.plan) + plan},
                             {"bytes", decision.plan ? bytes_text(decision) : "none beside A, B and C"},
                             {"reason", decision.reason},
                             {"costs", origin_text(decision.costs)},
                             {"decided in", fmt::format("{:.3f} s", seconds)}});
  print_table(table);
}

nlohmann::ordered_json measured_json(const std::vector<Measured>& measured) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [candidate, seconds] : measured)
    list.push_back({{"method", to_string(candidate.method)},
                    {"plan", candidate.plan ? nlohmann::ordered_json(to_string(*candidate.plan)) : nullptr},
                    {"cost", json_number(candidate.cost)},
                    {"seconds", seconds ? nlohmann::ordered_json(*seconds) : nullptr}});
  return list;
}

nlohmann::ordered_json record(const Arguments& arguments, const files::OperandFiles& files, const Decision& decision,
                              const std::vector<Measured>& measured, const Stopwatch& watch) {
  nlohmann::ordered_json record{{"schema", "ozbound-plan-1"},
                                {"operands", operand_record(arguments.operands, files)},
                                {"decision", nlohmann::ordered_json(to_json(decision))}};
  if (arguments.measure) record["measured"] = measured_json(measured);
  for (const auto& [phase, seconds] : watch.phases()) record["seconds"][phase] = seconds;
  return record;
}

/// The candidates that certify the target. If native DGEMM is chosen, also the candidate that would be chosen without it.
std::vector<Candidate> certified(const Decision& decision, const files::OperandFiles& files, const Machine& machine,
                                 Choices choices) {
  std::vector<Candidate> candidates;
  const auto add = [&candidates](const Candidate& candidate) {
    if (candidate.certifies) candidates.push_back(candidate);
  };
  if (decision.method == Method::native && choices.slices) {
    choices.native = false;
    const auto other = decide(product_of(files), decision.target, machine, choices);
    for (const auto& candidate : other.candidates)
      if (candidate.plan) add(candidate);
  }
  for (const auto& candidate : decision.candidates) add(candidate);
  return candidates;
}

std::vector<Measured> measure(const std::vector<Candidate>& candidates, const Decision& decision,
                              const files::OperandFiles& files, const Machine& machine) {
  auto c = new_product(files);
  const auto product = product_of(files, c);
  std::vector<Measured> result;
  for (const auto& candidate : candidates) {
    auto way = decision;
    way.method = candidate.method, way.plan = candidate.plan;
    result.push_back({candidate, {}});
    if (candidate.cost > longest_measurement) continue;
    const auto& backend = machine.backend_of(candidate, decision);
    result.back().seconds = median_seconds([&] { (void)multiply(product, way, backend); }, measurement_budget);
  }
  return result;
}

ExitCode run(const Arguments& arguments) {
  const auto target = arguments.decision.target.empty() ? Target::dgemm() : parse_target(arguments.decision.target);
  std::optional<files::AtomicFile> saved;
  if (!arguments.save.empty()) saved.emplace(arguments.save);
  const auto machine = make_machine(arguments.decision.engine, arguments.decision.threads);
  const auto choices = make_choices(arguments.decision.engine);
  Stopwatch watch;
  std::optional<files::OperandFiles> files;
  watch.time("read", [&] { files.emplace(arguments.operands); });
  const std::string unwritten = "interrupted" + (saved ? "; " + arguments.save + " is not written" : "");
  Decision decision;
  watch.time("decide", [&] {
    interruptibly(unwritten, [&] {
      const files::Progress progress("deciding");
      decision = decide(product_of(*files), target, machine, choices);
    });
  });
  const double seconds = watch.phases().back().second;
  std::vector<Measured> measured;
  if (arguments.measure)
    watch.time("measure", [&] {
      interruptibly(unwritten, [&] {
        const files::Progress progress("measuring");
        measured = measure(certified(decision, *files, machine, choices), decision, *files, machine);
      });
    });
  if (saved) {
    write_json(*saved, nlohmann::ordered_json(to_json(decision)));
    saved->commit();
  }
  arguments.json ? print_json(record(arguments, *files, decision, measured, watch))
                 : print_for_people(decision, *files, measured, seconds);
  return ExitCode::success;
}

}  // namespace
}  // namespace command_plan

void add_plan(CLI::App& app, Action& action) {
  using namespace command_plan;
  auto* command = app.add_subcommand("plan", "Decide how a product would be computed, and show what else was looked at");
  auto arguments = std::make_shared<Arguments>();
  files::add_operand_arguments(*command, arguments->operands);
  add_decision_arguments(*command, arguments->decision);
  command->add_flag("--measure", arguments->measure, "Run what certifies the target, and show how long it took");
  command->add_option("--save", arguments->save, "File for the decision, which gemm --decision replays")->type_name("FILE");
  add_output_options(*command, arguments->json, "a table");
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
