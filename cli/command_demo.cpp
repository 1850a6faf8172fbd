// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verification.hpp"

#include "commands.hpp"
#include "decision_arguments.hpp"
#include "demo_problems.hpp"
#include "machine_choice.hpp"
#include "ozbound/files/columns.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "ozbound/machine.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_demo {
namespace {

constexpr Index sampled_entries = 20000;
constexpr std::array targets{"componentwise:1e-8", "dgemm", "cr"};

struct Arguments {
  std::string data;
  EngineChoice engine = EngineChoice::cpu;
  bool json = false;
};

/// One problem and one target.
struct Row {
  const DemoProblem* problem;
  Decision decision;
  Certificate certificate;
  Verification verification;
  double seconds = 0;
  std::optional<double> native_seconds;
  bool native_certifies = false;
};

/// The median of up to five runs that begin within a second.
template <class Run>
double median_seconds(Run run) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto first = Clock::now();
  std::vector<double> seconds;
  do {
    const auto start = Clock::now();
    run();
    seconds.push_back(since(start));
  } while (seconds.size() < 5 && since(first) < 1);
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

class Demo {
 public:
  explicit Demo(EngineChoice choice) : machine_(make_machine(choice, 0)), choices_(make_choices(choice)) {}

  /// Shows all targets for one problem. They share the time of native DGEMM, and the oracle's preparation of A and B.
  void show(const DemoProblem& problem, files::Progress& progress, double share) {
    const ExactOracle oracle({problem.a.view(), problem.b.view()});
    const auto native_seconds = time_native(problem);
    for (const auto* target : targets) {
      rows_.push_back(multiply(problem, parse_target(target)));
      rows_.back().native_seconds = native_seconds;
      rows_.back().verification = judge(rows_.back(), oracle);
      done_ += share / static_cast<double>(targets.size());
      progress(done_);
    }
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] int threads() const { return machine_.backends().front().engine().threads(); }

 private:
  Row multiply(const DemoProblem& problem, const Target& target) {
    Row row{};
    row.problem = &problem;
    c_ = Matrix<double>(problem.a.rows(), problem.b.cols());
    const Product product{problem.a, problem.b, c_};
    row.seconds = median_seconds([&] {
      auto multiplied = ozbound::multiply(product, target, machine_, choices_);
      row.decision = std::move(multiplied.decision), row.certificate = std::move(multiplied.certificate);
    });
    row.native_certifies = native_would(problem, target);
    return row;
  }

  /// True if the CPU's native DGEMM certifies the target.
  [[nodiscard]] bool native_would(const DemoProblem& problem, const Target& target) const {
    if (native_gemm(EngineChoice::automatic) == nullptr) return false;
    try {
      decide({problem.a, problem.b}, target, cpu_, make_choices(EngineChoice::native));
      return true;
    } catch (const CannotCertify&) {
      return false;
    }
  }

  [[nodiscard]] Verification judge(const Row& row, const Oracle& oracle) const {
    JudgeOptions options;
    if (c_.rows() * c_.cols() > sampled_entries) options.selection = EntrySelection::sample(sampled_entries, 0);
    return verify_product(c_, row.certificate, oracle, options);
  }

  [[nodiscard]] static std::optional<double> time_native(const DemoProblem& problem) {
    const auto* native = native_gemm(EngineChoice::automatic);
    if (native == nullptr) return std::nullopt;
    Matrix<double> c(problem.a.rows(), problem.b.cols());
    const RealProduct product{problem.a, problem.b, c};
    native->dgemm(product);  // the first call sets up its threads
    return median_seconds([&] { native->dgemm(product); });
  }

  Machine machine_;
  Machine cpu_ = Machine::cpu();
  Choices choices_;
  Matrix<double> c_;
  std::vector<Row> rows_;
  double done_ = 0;
};

int products(const Certificate& certificate) {
  int total = 0;
  for (const auto& plan : certificate.plans) total += plan.products();
  return total;
}

std::string size_text(const Certificate& c) {
  return c.m == c.n && c.n == c.k ? std::to_string(c.n) : fmt::format("{}x{}x{}", c.m, c.n, c.k);
}

/// The plan, or the method used in its place. ` +2` means that two more plans, with more slices, were run for open entries.
std::string plan_text(const Certificate& certificate) {
  if (certificate.plans.empty()) return to_string(certificate.method);
  const auto more = certificate.plans.size() - 1;
  return to_string(certificate.plans.front()) + (more > 0 ? fmt::format(" +{}", more) : "");
}

std::string milliseconds(double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); }

files::Cells cells(const Row& row) {
  const auto& certificate = row.certificate;
  const auto native = row.native_seconds;
  return {row.problem->name,
          size_text(certificate),
          to_string(certificate.target),
          plan_text(certificate),
          std::to_string(products(certificate)),
          files::format_upper(certificate.ratio),
          row.verification.holds() ? "holds" : "FAILS",
          files::format_upper(row.verification.ratio()),
          milliseconds(row.seconds),
          native ? milliseconds(*native) : "-",
          native ? fmt::format("{:.0f}", row.seconds / *native) : "-"};
}

nlohmann::ordered_json record(const Row& row) {
  return {
      {"problem", row.problem->name},
      {"source", row.problem->source},
      {"target", to_string(row.certificate.target)},
      {"products", products(row.certificate)},
      {"seconds", row.seconds},
      {"native_seconds", row.native_seconds ? nlohmann::ordered_json(*row.native_seconds) : nlohmann::ordered_json(nullptr)},
      {"native_certifies", row.native_certifies},
      {"decision", nlohmann::ordered_json(to_json(row.decision))},
      {"certificate", nlohmann::ordered_json(to_json(row.certificate))},
      {"verification", to_json(row.verification)}};
}

bool holds(const Row& row) { return row.certificate.holds && row.verification.holds(); }

void print_for_people(const std::vector<DemoProblem>& problems, const std::vector<Row>& rows, int threads) {
  Table sources;
  for (const auto& problem : problems) sources.emplace_back(problem.name, problem.source);
  print_table(sources);
  std::vector<files::Cells> lines{
      {"problem", "n", "target", "plan", "products", "bound/target", "verdict", "error/bound", "ms", "OpenBLAS ms", "ratio"}};
  for (const auto& row : rows) lines.push_back(cells(row));
  print_text("\n");
  print_columns(lines);
  print_text("\n");
  print_paragraph(fmt::format(
      "{} of {} targets are certified and hold by the exact oracle, on {} entries of each product or all of a smaller one.",
      std::count_if(rows.begin(), rows.end(), holds), rows.size(), sampled_entries));
  print_paragraph(fmt::format(
      "OpenBLAS's own bound certifies {} of them. Times are medians of up to 5 runs on {} threads, decisions included.",
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.native_certifies; }), threads));
}

void print_for_programs(const std::vector<Row>& rows, int threads) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& row : rows) list.push_back(record(row));
  print_json({{"schema", "ozbound-demo-1"}, {"threads", threads}, {"sampled_entries", sampled_entries}, {"rows", list}});
}

ExitCode run(const Arguments& arguments) {
  refuse_native_alone(arguments.engine);
  Demo demo(arguments.engine);
  const auto problems = demo_problems(arguments.data.empty() ? data_directory() : std::filesystem::path(arguments.data));
  {
    files::Progress progress("multiplying and judging");
    for (const auto& problem : problems) demo.show(problem, progress, 1 / static_cast<double>(problems.size()));
  }
  const auto& rows = demo.rows();
  arguments.json ? print_for_programs(rows, demo.threads()) : print_for_people(problems, rows, demo.threads());
  const bool all_hold = std::all_of(rows.begin(), rows.end(), holds);
  return !rows.empty() && all_hold ? ExitCode::success : ExitCode::verdict_failed;
}

}  // namespace
}  // namespace command_demo

void add_demo(CLI::App& app, Action& action) {
  using namespace command_demo;
  auto* command = app.add_subcommand("demo", "Multiply six pairs of matrices to three targets and judge every product");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--data", arguments->data, "Folder of the matrices that come with Ozbound")->type_name("FOLDER");
  add_engine_option(*command, arguments->engine)
      ->description("cuda: on the device; auto: the cheapest way, native DGEMM among them; cpu if not given");
  add_output_options(*command, arguments->json, "a table");
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
