#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "columns.hpp"
#include "commands.hpp"
#include "decision_arguments.hpp"
#include "operand_record.hpp"
#include "operands.hpp"
#include "ozbound/bounds/decide.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "stopwatch.hpp"
#include "text.hpp"

namespace ozbound::cli {
namespace {

struct Arguments {
  OperandArguments operands;
  DecisionArguments decision;
  std::string save;
  bool json = false;
};

bool is_chosen(const Candidate& candidate, const Decision& decision) {
  return candidate.certifies && candidate.method == decision.method && candidate.plan == decision.plan;
}

Cells row_of(const Candidate& candidate, const Decision& decision) {
  return {is_chosen(candidate, decision) ? "*" : "",
          to_string(candidate.method),
          candidate.plan ? to_string(*candidate.plan) : "-",
          candidate.plan ? std::to_string(candidate.plan->products()) : "-",
          format_upper(candidate.ratio),
          fmt::format("{:.4g}", candidate.cost),
          candidate.certifies ? "yes" : "no"};
}

void print_for_people(const Decision& decision, double seconds) {
  std::vector<Cells> rows{{"", "method", "plan", "products", "bound/target", "cost", "certifies"}};
  for (const auto& candidate : decision.candidates) rows.push_back(row_of(candidate, decision));
  print_text(format_columns(rows) + "\n");
  print_table({{"target", fmt::format("{} for {} x {}, inner dimension {}", to_string(decision.target), decision.m, decision.n,
                                      decision.k)},
               {"chosen", to_string(decision.method) + (decision.plan ? ", " + to_string(*decision.plan) : "")},
               {"reason", decision.reason},
               {"decided in", fmt::format("{:.3f} s", seconds)}});
}

nlohmann::ordered_json record(const Arguments& arguments, const OperandFiles& files, const Decision& decision,
                              const Stopwatch& watch) {
  nlohmann::ordered_json record{{"schema", "ozbound-plan-1"},
                                {"operands", operand_record(arguments.operands, files)},
                                {"decision", nlohmann::ordered_json(to_json(decision))}};
  for (const auto& [phase, seconds] : watch.phases()) record["seconds"][phase] = seconds;
  return record;
}

ExitCode run(const Arguments& arguments) {
  const auto target = arguments.decision.target.empty() ? Target::dgemm() : parse_target(arguments.decision.target);
  std::optional<AtomicFile> saved;
  if (!arguments.save.empty()) saved.emplace(arguments.save);
  const auto engine = make_engine(arguments.decision.threads);
  Stopwatch watch;
  std::optional<OperandFiles> files;
  watch.time("read", [&] { files.emplace(arguments.operands); });
  const auto decision = watch.time("decide", [&] {
    const Progress progress("deciding");
    return decide(files->a(), files->b(), target, engine, decide_options(*files, arguments.decision.engine));
  });
  if (saved) {
    write_json(*saved, nlohmann::ordered_json(to_json(decision)));
    saved->commit();
  }
  arguments.json ? print_json(record(arguments, *files, decision, watch))
                 : print_for_people(decision, watch.phases().back().second);
  return ExitCode::success;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("plan", "Decide how a product would be computed, and show what else was looked at");
  auto arguments = std::make_shared<Arguments>();
  add_operand_arguments(*command, arguments->operands);
  add_decision_arguments(*command, arguments->decision);
  command->add_option("--save", arguments->save, "File for the decision, which gemm --decision replays")->type_name("FILE");
  command->add_flag("--json", arguments->json, "One JSON object instead of a table");
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
