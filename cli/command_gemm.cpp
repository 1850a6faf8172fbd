// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "judged.hpp"
#include "verification.hpp"

#include "commands.hpp"
#include "cuda.hpp"
#include "decision_arguments.hpp"
#include "interruption.hpp"
#include "machine_choice.hpp"
#include "operand_record.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/progress.hpp"
#include "ozbound/core/scheme.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/operands.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/mpfr_oracle.hpp"
#include "product_file.hpp"
#include "report.hpp"
#include "stopwatch.hpp"
#include "watched_oracle.hpp"

namespace ozbound::cli {
namespace command_gemm {
namespace {

constexpr Index sampled_entries = 10000;

enum class Judging { none, sample, exact, mpfr };

struct Arguments {
  files::OperandArguments operands;
  DecisionArguments decision;
  std::string plan, replayed, output, report;  // empty if not given
  Judging judging = Judging::none;
  double workspace = unlimited_workspace;
  bool json = false;
};

Judging parse_judging(const std::string& text) {
  if (text == "none") return Judging::none;
  if (text == "sample") return Judging::sample;
  if (text == "exact") return Judging::exact;
  if (text == "mpfr") return Judging::mpfr;
  throw std::invalid_argument("--verify: " + files::quote(text) + " is not one of none, sample, exact, mpfr");
}

/// Reads a saved decision for an engine that is available.
Decision read_runnable_decision(const std::filesystem::path& path) {
  auto decision = read_decision(path);
  const bool on_device = decision.engine && decision.engine->kind == BackendId::Kind::cuda;
  if (const auto obstacle = cuda_obstacle(); on_device && !obstacle.empty())
    throw files::InputError(path.string(), "the decision is for " + to_string(*decision.engine) + ", and " + obstacle);
  return decision;
}

/// The parts of the decision that the command line fixes before the matrices are read.
class RequestedProduct {
 public:
  explicit RequestedProduct(const Arguments& arguments) : engine_(arguments.decision.engine) {
    if (!arguments.replayed.empty()) replayed_ = read_runnable_decision(arguments.replayed);
    if (!arguments.decision.target.empty()) target_ = parse_target(arguments.decision.target);
    if (arguments.plan.empty()) return;
    if (engine_ == EngineChoice::native) throw std::invalid_argument("--engine: native DGEMM multiplies under no plan");
    plan_ = arguments.plan;
    static_cast<void>(plan(1));  // refuses an invalid plan before a file is read
  }

  /// The engine that must be available. For a replay, the engine of the decision, and its native DGEMM too.
  [[nodiscard]] EngineChoice engine() const {
    if (!replayed_) return engine_;
    const bool on_device = replayed_->engine && replayed_->engine->kind == BackendId::Kind::cuda;
    return on_device ? EngineChoice::cuda : EngineChoice::cpu;
  }

  [[nodiscard]] Target target() const { return target_.value_or(Target::dgemm()); }

  /// The replayed decision, or the decision for a given plan; empty if a decision must be made.
  [[nodiscard]] std::optional<Decision> decision(const files::OperandFiles& files, const Machine& machine) const {
    if (replayed_) return *replayed_;
    return plan_ ? std::optional(planned(files, machine)) : std::nullopt;
  }

  /// True if C is only wanted if it meets the decision's target. A plan without a target promises nothing, nor does its replay.
  [[nodiscard]] bool binds() const { return replayed_ ? std::isfinite(replayed_->ratio) : target_ || !plan_; }

 private:
  /// The given plan, for an inner dimension k. @pre a plan was given.
  [[nodiscard]] Plan plan(Index k) const {
    try {
      return parse_plan(*plan_, k);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(std::string("--plan: ") + error.what());
    }
  }

  [[nodiscard]] Decision planned(const files::OperandFiles& files, const Machine& machine) const {
    const bool refined = target().kind == Target::Kind::correctly_rounded;
    const auto method = refined ? Method::correctly_rounded : Method::one_plan;
    Decision decision{target(), method, plan(files.real_k()), files.m(), files.n(), files.k(), 0, 0, {}, {}};
    decision.complex = files.is_complex();
    machine.choose_backend(decision);
    decision.ratio = target_ ? 1 : std::numeric_limits<double>::infinity();
    decision.reason = target_ ? "plan given; the certificate says whether the target holds" : "plan given without a target";
    return decision;
  }

  EngineChoice engine_;
  std::optional<Decision> replayed_;
  std::optional<Target> target_;
  std::optional<std::string> plan_;  ///< as given
};

/// The outputs, opened before the work to detect early that they cannot be written.
struct Outputs {
  explicit Outputs(const Arguments& arguments) : c(checked(arguments)) {
    if (!arguments.report.empty()) report.emplace(arguments.report);
  }

  files::AtomicFile c;
  std::optional<files::AtomicFile> report;

 private:
  static const std::string& checked(const Arguments& arguments) {
    files::output_format(arguments.output);
    if (files::same_file(arguments.output, arguments.report))
      throw std::invalid_argument(arguments.output + ": C and the report cannot be the same file");
    return arguments.output;
  }
};

/// One run of the command, and its results.
class Run {
 public:
  Run(const Arguments& arguments, const std::string& command_line)
      : arguments_(arguments), command_line_(command_line), requested_(arguments), outputs_(arguments) {}

  ExitCode go() {
    const auto machine = make_machine(requested_.engine(), arguments_.decision.threads);
    watch_.time("read", [&] { files_.emplace(arguments_.operands); });
    interruptibly(unwritten(), [&] { multiply(machine); });
    if (requested_.binds() && !certificate_.holds) refuse();
    if (arguments_.judging != Judging::none) watch_.time("verify", [&] { interruptibly(unwritten(), [&] { judge(); }); });
    watch_.time("write", [&] { write(); });
    return finish();
  }

 private:
  void multiply(const Machine& machine) {
    c_ = new_product(*files_);
    const auto product = product_of(*files_, c_);
    std::optional<files::Progress> progress("deciding");
    const ProgressScope of_product([&progress](double share) { progress->update(share); });
    watch_.start();
    MultiplyOptions options{.workspace = arguments_.workspace};
    options.decided = [&](const Decision&) {
      watch_.stop("decide");
      progress.emplace("multiplying");
      watch_.start();
    };
    if (auto decision = requested_.decision(*files_, machine)) {
      decision_ = *std::move(decision);
      options.decided(decision_);
      certificate_ = ozbound::multiply(product, decision_, machine, options);
    } else {
      auto multiplied = ozbound::multiply(product, requested_.target(), machine, make_choices(requested_.engine()), options);
      decision_ = std::move(multiplied.decision), certificate_ = std::move(multiplied.certificate);
    }
    watch_.stop("multiply");
    const auto& backend = machine.backend_of(decision_);
    ran_ = backend.id();
    threads_ = backend.engine().threads();
  }

  /// The state of the outputs after an interruption.
  [[nodiscard]] std::string unwritten() const {
    const bool both = !arguments_.report.empty();
    return "interrupted; " + arguments_.output + (both ? " and " + arguments_.report + " are" : " is") + " not written";
  }

  [[noreturn]] void refuse() const {
    throw CannotCertify(
        fmt::format("{} does not certify {}: {} may be wrong by {} times what the target allows; {} is not written",
                    decision_.plan ? to_string(*decision_.plan) : to_string(decision_.method), to_string(decision_.target),
                    certificate_.worst_entry(), files::format_upper(certificate_.ratio), arguments_.output));
  }

  void judge() {
    const JudgedOperands operands(*files_);
    const JudgedResult result(c_);
    const auto oracle = make_oracle(operands);
    JudgeOptions options;
    options.reproduction = command_line_;
    if (arguments_.judging == Judging::sample) options.selection = EntrySelection::sample(sampled_entries, 0);
    const Index all = files_->real_m() * files_->n();
    const Index entries = options.selection.is_all() ? all : std::min(all, sampled_entries);
    files::Progress progress("judging");
    const WatchedOracle watched(*oracle, entries * verification_passes(certificate_, options.selection), progress);
    verification_ = verify_product(result.view(), certificate_, watched, options);
  }

  [[nodiscard]] std::unique_ptr<Oracle> make_oracle(const JudgedOperands& judged) const {
    const auto& operands = judged.operands();
    if (arguments_.judging == Judging::mpfr)
      return std::make_unique<MpfrOracle>(operands, MpfrOracle::exact_bits(judged.inner()));
    return std::make_unique<ExactOracle>(operands);
  }

  void write() {
    const files::Progress progress("writing");
    std::visit([this](const auto& values) { files::write_matrix(outputs_.c, values.view()); }, c_.values);
    outputs_.c.flush();
  }

  /// Writes C and its report, both or neither: each is on the disk before the first gets its name.
  ExitCode finish() {
    const auto record = report();
    if (outputs_.report) {
      write_json(*outputs_.report, record);
      outputs_.report->flush();
    }
    outputs_.c.commit();
    if (outputs_.report) outputs_.report->commit();
    arguments_.json ? print_json(record) : print_for_people();
    if (!verification_ || verification_->holds()) return ExitCode::success;
    fmt::print(stderr, "ozbound: the verdict failed; {} is written all the same\n", files::one_line(arguments_.output));
    return ExitCode::verdict_failed;
  }

  [[nodiscard]] nlohmann::ordered_json report() const {
    nlohmann::ordered_json record{
        {"schema", "ozbound-report-1"},
        {"version", OZBOUND_VERSION},
        {"command", command_line_},
        {"operands", operand_record(arguments_.operands, *files_)},
        {"result", {{"file", arguments_.output}, {"type", c_.type()}}},
        {"engine", certificate_.method == Method::native && ran_.kind == BackendId::Kind::cpu ? "native" : to_string(ran_)},
        {"threads", threads_},
        {"decision", nlohmann::ordered_json(to_json(decision_))},
        {"certificate", nlohmann::ordered_json(to_json(certificate_))}};
    if (verification_) record["verification"] = to_json(*verification_);
    for (const auto& [phase, seconds] : watch_.phases()) record["seconds"][phase] = seconds;
    return record;
  }

  void print_for_people() const {
    const auto* kind = files_->is_complex() ? "complex " : "";
    Table table{{"C", fmt::format("{}{} x {} in {}", kind, files_->m(), files_->n(), arguments_.output)},
                {"engine", to_string(ran_)},
                {"method", method_text()},
                {"plan", plan_text()},
                {"target", to_string(decision_.target) + (certificate_.holds ? ", proven" : ", not proven")},
                {"bound", files::format_upper(certificate_.ratio) + " of what the target allows"}};
    add_meaning(table);
    table.emplace_back("largest bound", files::format_upper(certificate_.largest_bound) +
                                            (certificate_.complex ? " of any part of an entry" : " of any entry"));
    if (!certificate_.plans.empty() || certificate_.exact > 0)
      table.emplace_back("left open",
                         fmt::format("{} {}; {} summed exactly", certificate_.undecided,
                                     certificate_.complex ? "real and imaginary parts" : "entries", certificate_.exact));
    for (const auto& assumption : certificate_.assumptions()) table.emplace_back("assumes", assumption);
    for (const auto& [phase, seconds] : watch_.phases()) table.emplace_back(phase, fmt::format("{:.3f} s", seconds));
    print_table(table);
    if (!verification_) return;
    for (const auto& verdict : verification_->verdicts) print_text(explain(verdict));
  }

  /// Compares the bound with familiar quantities: a conventional DGEMM's error, and C.
  void add_meaning(Table& table) const {
    const bool normwise = certificate_.target.kind == Target::Kind::normwise;
    if (normwise) table.emplace_back("relative to", normwise_measure);
    const auto factor = certificate_.typical_factor_upper();
    if (factor && std::isfinite(*factor))
      table.emplace_back("typical DGEMM", fmt::format("errs by about sqrt({}) u {}; the bound is {} times that",
                                                      certificate_.complex ? "2k" : "k", normwise ? "||M||_F" : "M",
                                                      files::format_upper(*factor)));
  }

  [[nodiscard]] std::string method_text() const {
    if (certificate_.method == Method::native && certificate_.native.empty())
      return "none: alpha or beta is NaN or infinite, and with it every entry";
    if (certificate_.method == Method::native) return "native DGEMM, " + certificate_.native;
    return way_text(certificate_.method, decision_.plan) + (decision_.reason.empty() ? "" : ": " + decision_.reason);
  }

  [[nodiscard]] std::string plan_text() const {
    std::string text;
    for (const auto& plan : certificate_.plans)
      text += fmt::format("{}{}, {} products", text.empty() ? "" : "; then ", to_string(plan), plan.products());
    return text.empty() ? "none" : text;
  }

  const Arguments& arguments_;
  const std::string& command_line_;
  RequestedProduct requested_;
  Outputs outputs_;
  std::optional<files::OperandFiles> files_;
  Decision decision_;
  files::MatrixFile c_;
  Certificate certificate_;
  std::optional<Verification> verification_;
  Stopwatch watch_;
  BackendId ran_;
  int threads_ = 0;
};

}  // namespace
}  // namespace command_gemm

void add_gemm(CLI::App& app, Action& action) {
  using namespace command_gemm;
  auto* command = app.add_subcommand("gemm", "Multiply to a target accuracy, and prove it");
  auto arguments = std::make_shared<Arguments>();
  files::add_operand_arguments(*command, arguments->operands);
  command->add_option("-o,--output", arguments->output, "File of C, .npy or .mtx")->required()->type_name("FILE");
  const auto options = add_decision_arguments(*command, arguments->decision);
  auto* plan = command->add_option("--plan", arguments->plan,
                                   "Multiply under this plan: balanced:7x7:cut=8:exact, residues:13:46x47, ozimmu-ef:9x9");
  plan->type_name("SPEC");
  command->add_option("--decision", arguments->replayed, "Replay the decision of this file, or of this report")
      ->type_name("FILE")
      ->excludes(options.target)
      ->excludes(options.engine)
      ->excludes(plan);
  command
      ->add_option_function<std::string>(
          "--verify", [arguments](const std::string& text) { arguments->judging = parse_judging(text); },
          "Judge C by an oracle: a sample of 10000 entries exactly, all of them exactly, or all by MPFR")
      ->type_name("none|sample|exact|mpfr");
  command->add_option("--report", arguments->report, "File for decision, certificate and verdict as JSON")->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--workspace",
          [arguments](const std::string& text) {
            arguments->workspace = static_cast<double>(files::parse_bytes(text, "--workspace"));
          },
          "Memory for slices or residues, such as 512M; C has the same bits for any")
      ->type_name("SIZE");
  add_output_options(*command, arguments->json, "a table: the report");
  command->callback([&action, arguments] {
    action = [arguments](const std::string& command_line) { return Run(*arguments, command_line).go(); };
  });
}

}  // namespace ozbound::cli
