// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "judged.hpp"
#include "verification.hpp"

#include "commands.hpp"
#include "decision_arguments.hpp"
#include "formula_claim.hpp"
#include "interruption.hpp"
#include "ozbound/files/claims.hpp"
#include "ozbound/files/input_file.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/operands.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/measurement.hpp"
#include "ozbound/verify/mpfr_oracle.hpp"
#include "ozbound/verify/verdict.hpp"
#include "report.hpp"
#include "watched_oracle.hpp"

namespace ozbound::cli {
namespace command_verify {
namespace {

struct Arguments {
  files::OperandArguments operands;
  std::string c;
  std::string target, report, certificate;  // empty if not given
  std::string formula;                      // empty if not given: the value of `--claims`
  std::optional<Index> sample;
  std::optional<std::uint64_t> seed;
  bool all = false;  // entries of a certificate
  bool mpfr = false;
  bool json = false;
};

/// Reads C, which is complex if the product is.
files::MatrixFile read_result(const std::string& path, const files::OperandFiles& files) {
  auto c = files::read_matrix(path);
  if (c.is_complex() && !files.is_complex()) throw files::InputError(path, "C is complex, and the product is real");
  if (c.rows() != files.m() || c.cols() != files.n())
    throw std::invalid_argument(
        fmt::format("{}: C is {} x {}, and the product is {} x {}", path, c.rows(), c.cols(), files.m(), files.n()));
  return files.is_complex() ? std::move(c).to_complex() : c;
}

/// A sample of entries, if not all are judged: its size and the number of entries.
struct Sample {
  Index entries = 0, all = 0;
  std::uint64_t seed = 0;
  bool complex = false;  ///< the entries are real and imaginary parts
};

/// The name of the judged and counted items.
const char* judged_name(bool complex) { return complex ? "real and imaginary parts" : "entries"; }

std::string text_of(const Sample& sample) {
  return fmt::format("a sample of {} of {} {}, seed {}", sample.entries, sample.all, judged_name(sample.complex), sample.seed);
}

/// C, and the oracle that judges it.
class Judge {
 public:
  Judge(const Arguments& arguments, const std::string& command_line)
      : arguments_(arguments), files_(arguments.operands), judged_(files_), c_(read_result(arguments.c, files_)), result_(c_) {
    options_.reproduction = command_line;
    const auto c = result_.view();
    if (arguments.sample && *arguments.sample < c.rows() * c.cols()) select(EntrySelection::sample(*arguments.sample, seed()));
    if (!arguments.certificate.empty()) return;  // checking a certificate uses its own oracle
    if (arguments.mpfr)
      oracle_ = std::make_unique<MpfrOracle>(judged_.operands(), MpfrOracle::exact_bits(judged_.inner()));
    else
      oracle_ = std::make_unique<ExactOracle>(judged_.operands());
  }

  [[nodiscard]] const files::OperandFiles& files() const { return files_; }

  /// The sample of entries to judge; empty if all are judged.
  [[nodiscard]] const std::optional<Sample>& sample() const { return sample_; }

  /// Recomputes every claim of the certificate in a file, or in the file's report. Checks all entries if asked to, otherwise
  /// the requested sample, otherwise as many entries as are affordable.
  CertificateCheck check(const std::string& path) {
    const files::InputFile file(path);
    if (file.size() > largest_certificate) throw files::InputError(file.name(), "the file is too large for a certificate");
    const auto text = file.head(static_cast<std::size_t>(file.size()));
    files::Progress progress("checking");
    try {
      if (!arguments_.all && !arguments_.sample) select(affordable_selection(text, seed()));
      CertificateCheck found;
      interruptibly("interrupted", [&] {
        found = check_certificate(text, judged_.operands(), result_.view(),
                                  {options_.selection, [&progress](double done) { progress.update(done); }});
      });
      return found;
    } catch (const std::invalid_argument& error) {
      throw files::InputError(file.name(), error.what());
    }
  }

  [[nodiscard]] Measurement measure() const {
    return watched<Measurement>(
        [this](const Oracle& oracle) { return ozbound::measure(result_.view(), oracle, options_.selection); });
  }

  [[nodiscard]] Verdict judge(const Target& target) const {
    return watched<Verdict>([&](const Oracle& oracle) { return ozbound::verify(result_.view(), oracle, target, options_); });
  }

  [[nodiscard]] Verdict judge(double largest_bound) const {
    const auto bound = [largest_bound](Index, Index) { return largest_bound; };
    return watched<Verdict>([&](const Oracle& oracle) { return ozbound::verify(result_.view(), oracle, bound, options_); });
  }

  /// Judges C by the bound of a formula, and by its bits.
  [[nodiscard]] FormulaVerdict judge(const std::string& claim, const Formula& formula) const {
    if (files_.is_complex())
      throw std::invalid_argument("--claims: what cuBLAS's emulation makes of complex products is not known");
    if (result_.view().format() != ResultFormat::of_double) throw std::invalid_argument("--claims: C must be of doubles");
    const auto product = formula(judged_.operands());
    auto verdict = watched<Verdict>(
        [&](const Oracle& oracle) { return ozbound::verify(result_.view(), oracle, product.bound_upper, options_); });
    verdict.claim = "bound of " + claim;
    return {claim, verdict, product.compare(result_.view(), options_.selection)};
  }

 private:
  static constexpr std::uint64_t largest_certificate = std::uint64_t{1} << 30;

  [[nodiscard]] std::uint64_t seed() const { return arguments_.seed.value_or(0); }

  [[nodiscard]] Index entries() const {
    const auto c = result_.view();
    const auto& selection = options_.selection;
    return selection.is_all() ? c.rows() * c.cols() : static_cast<Index>(selection.positions(c.rows(), c.cols()).size());
  }

  /// Sets the sample, unless it holds every entry.
  void select(const EntrySelection& selection) {
    const Index all = result_.view().rows() * result_.view().cols();
    options_.selection = selection;
    if (entries() == all)
      options_.selection = EntrySelection::all();
    else
      sample_ = {entries(), all, seed(), files_.is_complex()};
  }

  template <class Result>
  [[nodiscard]] Result watched(const std::function<Result(const Oracle&)>& pass) const {
    files::Progress progress("judging");
    Result result;
    interruptibly("interrupted", [&] { result = pass(WatchedOracle(*oracle_, entries(), progress)); });
    return result;
  }

  const Arguments& arguments_;
  files::OperandFiles files_;
  JudgedOperands judged_;
  files::MatrixFile c_;
  JudgedResult result_;
  JudgeOptions options_;
  std::optional<Sample> sample_;
  std::unique_ptr<Oracle> oracle_;
};

nlohmann::ordered_json record(const Measurement& measured) {
  return {{"entries", measured.entries},
          {"special_mismatches", measured.special_mismatches},
          {"not_correctly_rounded", measured.not_correctly_rounded},
          {"undecided", measured.undecided},
          {"componentwise", json_number(measured.componentwise_upper)},
          {"dgemm", json_number(measured.dgemm_upper)},
          {"dgemm_typical", json_number(measured.dgemm_typical_upper)},
          {"normwise", json_number(measured.normwise_upper)},
          {"relative", json_number(measured.relative_upper)}};
}

void print_for_people(const Measurement& measured, bool complex) {
  const auto* const k = complex ? "2k" : "k";
  print_table({{complex ? "parts measured" : "entries measured", fmt::format("{}", measured.entries)},
               {"NaN or infinity wrong", fmt::format("{}", measured.special_mismatches)},
               {"not correctly rounded", fmt::format("{}", measured.not_correctly_rounded)},
               {"rounding undecided", fmt::format("{}", measured.undecided)},
               {"componentwise", files::format_upper(measured.componentwise_upper) + "  max |C^ - C| / M"},
               {"dgemm", fmt::format("{}  max |C^ - C| / ({} u M)", files::format_upper(measured.dgemm_upper), k)},
               {"dgemm-typical",
                fmt::format("{}  max |C^ - C| / (sqrt({}) u M)", files::format_upper(measured.dgemm_typical_upper), k)},
               {"normwise", fmt::format("{}  ||C^ - C||_F / ||M||_F: relative to {}",
                                        files::format_upper(measured.normwise_upper), normwise_measure)},
               {"relative", files::format_upper(measured.relative_upper) + "  max |C^ - C| / |C|"}});
}

Verification judge_claims(const Judge& judge, const files::Claims& claims) {
  Verification verification;
  for (const auto& target : claims.targets) verification.verdicts.push_back(judge.judge(target));
  for (const double bound : claims.largest_bounds) verification.verdicts.push_back(judge.judge(bound));
  return verification;
}

files::Claims claims_of(const Arguments& arguments) {
  files::Claims claims;
  if (!arguments.report.empty()) claims = files::read_claims(arguments.report);
  if (!arguments.target.empty()) claims.targets.push_back(parse_target(arguments.target));
  return claims;
}

void print_sample(const Judge& judge) {
  if (judge.sample()) print_text(text_of(*judge.sample()) + ", is looked at:\n");
}

ExitCode report_verdicts(const Verification& verification, const Judge& judge, bool json) {
  json ? print_json(to_json(verification)) : print_sample(judge);
  for (const auto& verdict : verification.verdicts)
    if (!json) print_text(explain(verdict));
  return verification.holds() ? ExitCode::success : ExitCode::verdict_failed;
}

ExitCode report_measurement(const Measurement& measured, const Judge& judge, bool json) {
  if (!json) print_sample(judge);
  json ? print_json({{"schema", "ozbound-verification-1"}, {"measurement", record(measured)}})
       : print_for_people(measured, judge.files().is_complex());
  return ExitCode::success;
}

nlohmann::ordered_json record(const std::optional<Sample>& sample) {
  if (!sample) return nullptr;
  return {{"entries", sample->entries}, {"of", sample->all}, {"seed", sample->seed}};
}

nlohmann::ordered_json record(const CertificateCheck& check, const std::optional<Sample>& sample) {
  auto claims = nlohmann::ordered_json::array();
  for (const auto& [claim, holds, finding] : check.claims)
    claims.push_back({{"claim", claim}, {"holds", holds}, {"finding", finding}});
  return {{"schema", "ozbound-certificate-check-1"},
          {"holds", check.holds()},
          {"entries", check.entries},
          {"sample", record(sample)},
          {"claims", claims},
          {"limits", check.limits}};
}

/// The result, and the entries it is about. A sample does not show that every claim holds.
std::string headline(const CertificateCheck& check, const std::optional<Sample>& sample) {
  if (!sample) return check.holds() ? "every claim holds" : "REJECTED";
  return text_of(*sample) + (check.holds() ? ": no claim fails" : ": REJECTED");
}

void print_for_people(const CertificateCheck& check, const std::optional<Sample>& sample, bool complex) {
  Table table{{"certificate", headline(check, sample)},
              {"claims", fmt::format("{} recomputed", check.claims.size())},
              {complex ? "parts" : "entries", fmt::format("{} recomputed", check.entries)}};
  for (const auto& claim : check.claims)
    if (!claim.holds) table.emplace_back("wrong", files::one_line(claim.claim + ": " + claim.finding));
  for (const auto& limit : check.limits) table.emplace_back("not shown", limit);
  print_table(table);
}

ExitCode report_check(const CertificateCheck& check, const Judge& judge, bool json) {
  const auto& sample = judge.sample();
  json ? print_json(record(check, sample)) : print_for_people(check, sample, judge.files().is_complex());
  return check.holds() ? ExitCode::success : ExitCode::verdict_failed;
}

ExitCode report_formula(const FormulaVerdict& verdict, const Judge& judge, bool json) {
  if (!json) print_sample(judge);
  json ? print_json(to_json(verdict)) : print_text(explain(verdict));
  return verdict.bound.holds() ? ExitCode::success : ExitCode::verdict_failed;
}

ExitCode check(const Arguments& arguments, const std::string& command_line) {
  Judge judge(arguments, command_line);
  const auto found = judge.check(arguments.certificate);
  return report_check(found, judge, arguments.json);
}

ExitCode run(const Arguments& arguments, const std::string& command_line) {
  if (!arguments.certificate.empty()) return check(arguments, command_line);
  if (arguments.seed && !arguments.sample) throw std::invalid_argument("--seed: it needs --sample, or --certificate");
  if (!arguments.formula.empty()) {
    const auto formula = parse_formula(arguments.formula);  // throws before the matrices are read
    const Judge judge(arguments, command_line);
    return report_formula(judge.judge(arguments.formula, formula), judge, arguments.json);
  }
  const auto claims = claims_of(arguments);  // throws for a wrong target before the matrices are read
  const Judge judge(arguments, command_line);
  if (claims.empty()) return report_measurement(judge.measure(), judge, arguments.json);
  claims.check(arguments.operands, judge.files());
  return report_verdicts(judge_claims(judge, claims), judge, arguments.json);
}

}  // namespace
}  // namespace command_verify

void add_verify(CLI::App& app, Action& action) {
  using namespace command_verify;
  auto* command =
      app.add_subcommand("verify", "Measure how wrong a product is, computed by any program, or judge it against a claim");
  auto arguments = std::make_shared<Arguments>();
  files::add_operand_arguments(*command, arguments->operands);
  command->add_option("C", arguments->c, "File of the product to judge")->required()->type_name("");
  auto* target = add_target_option(*command, arguments->target, "Judge by this target, see below");
  auto* report = command->add_option("--report", arguments->report, "Judge by what this report of a product claims");
  report->type_name("FILE");
  auto* certificate = command->add_option("--certificate", arguments->certificate,
                                          "Recompute every claim of this certificate, or of this report's");
  certificate->type_name("FILE")->excludes(target)->excludes(report);
  command
      ->add_option(
          "--claims", arguments->formula,
          "Judge by the formula of the library that computed C: cublas:M, cuBLAS's FP64 emulation with M mantissa bits")
      ->type_name("FORMULA")
      ->excludes(target)
      ->excludes(report)
      ->excludes(certificate);
  auto* sample = command->add_option_function<std::string>(
      "--sample",
      [arguments](const std::string& text) {
        arguments->sample = files::parse_integer(text, "--sample", 1, std::numeric_limits<Index>::max());
      },
      "Look at so many entries only, the corners and random others");
  sample->type_name("ENTRIES");
  command
      ->add_option_function<std::string>(
          "--seed", [arguments](const std::string& text) { arguments->seed = files::parse_unsigned(text, "--seed"); },
          "Another random sample; 0 where it is not given")
      ->type_name("INTEGER");
  command
      ->add_flag("--all", arguments->all,
                 "Every entry, however long it takes; without it, of a large product's certificate a sample")
      ->needs(certificate)
      ->excludes(sample);
  command->add_flag("--mpfr", arguments->mpfr, "Compute the truth with MPFR: slower, and shares no code with the default")
      ->excludes(certificate);
  add_output_options(*command, arguments->json, "a table");
  command->callback([&action, arguments] {
    action = [arguments](const std::string& command_line) { return run(*arguments, command_line); };
  });
}

}  // namespace ozbound::cli
