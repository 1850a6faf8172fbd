// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "verification.hpp"

#include "commands.hpp"
#include "decision_arguments.hpp"
#include "machine_choice.hpp"
#include "ozbound/core/cost_model.hpp"
#include "ozbound/files/columns.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "ozbound/machine.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/plan_search.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_survey {
namespace {

constexpr std::array phis{0.0, 0.5, 1.0, 2.0, 3.0, 4.0};
constexpr std::array targets{"componentwise:1e-8", "componentwise:1e-12", "dgemm", "dgemm-typical"};
constexpr Index largest_size = 4096;

struct Arguments {
  Index n = 64, k = 128;
  std::uint64_t seed = 0;
  EngineChoice engine = EngineChoice::cpu;
  bool json = false;
};

/// One problem and one target.
struct Case {
  Recipe recipe;
  bool wide = false;  ///< true if phi matters
  Certificate certificate;
  Verification verification;
  bool refused = false;
  std::optional<Plan> enumerated;  ///< if no plan was certified: the cheapest plan that the oracle accepts

  [[nodiscard]] bool uncertified() const {
    return certificate.method == Method::exact || certificate.method == Method::correctly_rounded;
  }
  [[nodiscard]] bool fell_through() const { return certificate.exact > 0; }  ///< entries were summed exactly
  [[nodiscard]] bool a_plan_meets_it() const { return !refused && (certificate.method == Method::one_plan || enumerated); }
  [[nodiscard]] bool met() const { return !refused && certificate.holds && verification.holds(); }
};

/// Every family with every phi. Families that do not use phi occur once.
std::vector<Case> problems(const Arguments& arguments) {
  std::vector<Case> all;
  for (const auto family : all_families()) {
    const bool wide = phi_matters(family);
    for (const double phi : phis)
      if (wide || phi == 0) {
        all.emplace_back();
        all.back().recipe = {family, arguments.n, arguments.n, arguments.k, phi, arguments.seed};
        all.back().wide = wide;
      }
  }
  return all;
}

class Survey {
 public:
  explicit Survey(EngineChoice choice) : machine_(make_machine(choice, 0)), choices_(make_choices(choice)) {
    choices_.costs = &products_;
  }

  void add(const Case& blank) {
    const auto problem = generate(blank.recipe);
    const ExactOracle oracle(problem);
    for (const auto* target : targets) {
      cases_.push_back(blank);
      multiply(cases_.back(), problem, oracle, parse_target(target));
    }
  }

  [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }

 private:
  void multiply(Case& one, const Problem& problem, const Oracle& oracle, const Target& target) const {
    one.certificate.target = target;
    Matrix<double> c(problem.a.rows(), problem.b.cols());
    try {
      one.certificate = ozbound::multiply(Product{problem.a, problem.b, c}, target, machine_, choices_).certificate;
    } catch (const CannotCertify&) {
      one.refused = true;
      return;
    }
    one.verification = verify_product(c, one.certificate, oracle, {});
    if (one.uncertified()) one.enumerated = search_plan(problem, target, machine_.backends().front().engine());
  }

  ProductCount products_;  ///< costs of ways, the same on every machine, so that choices are the same too
  Machine machine_;
  Choices choices_;
  std::vector<Case> cases_;
};

int products(const Certificate& certificate) {
  int total = 0;
  for (const auto& plan : certificate.plans) total += plan.products();
  return total;
}

/// The chosen way, for people.
std::string way(const Case& one) {
  if (one.refused) return "refused";
  const auto& plans = one.certificate.plans;
  return way_text(one.certificate.method, plans.empty() ? std::nullopt : std::optional(plans.front()));
}

/// Counts for judging the selector.
struct Summary {
  Index cases = 0, met = 0, refused = 0, by_plan = 0, fell_through = 0, avoidable = 0;

  explicit Summary(const std::vector<Case>& all) : cases(static_cast<Index>(all.size())) {
    for (const auto& one : all) {
      met += Index{one.met()};
      refused += Index{one.refused};
      by_plan += Index{one.a_plan_meets_it()};
      fell_through += Index{one.fell_through()};
      avoidable += Index{one.fell_through() && one.enumerated};
    }
  }

  /// Among the cases that some enumerated plan meets, the share that was nevertheless summed exactly.
  [[nodiscard]] double share() const {
    return by_plan == 0 ? 0 : static_cast<double>(avoidable) / static_cast<double>(by_plan);
  }
};

std::string phi_text(const Case& one) { return one.wide ? fmt::format("{}", one.recipe.phi) : "-"; }

files::Cells cells(const Case& one) {
  const auto& certificate = one.certificate;
  return {std::string(name(one.recipe.family)),
          phi_text(one),
          to_string(certificate.target),
          way(one),
          certificate.plans.empty() ? "-" : to_string(certificate.plans.front()),
          std::to_string(products(certificate)),
          std::to_string(certificate.exact),
          files::format_upper(certificate.ratio),
          one.met() ? "holds" : "FAILS",
          files::format_upper(one.verification.ratio()),
          !one.uncertified() ? ""
          : one.enumerated   ? to_string(*one.enumerated)
                             : "none"};
}

void print_for_people(const std::vector<Case>& cases) {
  std::vector<files::Cells> rows{{"family", "phi", "target", "method", "plan", "products", "exact", "bound/target", "verdict",
                                  "error/bound", "plan that would do"}};
  for (const auto& one : cases) rows.push_back(cells(one));
  print_columns(rows);
  print_text("\n");
  const Summary sum(cases);
  print_paragraph(fmt::format(
      "{} of {} cases met, {} refused. By the exact oracle an enumerated plan meets {} of them; of these, {} had entries "
      "summed exactly all the same: {:.1f} %.",
      sum.met, sum.cases, sum.refused, sum.by_plan, sum.avoidable, 100 * sum.share()));
}

nlohmann::ordered_json record(const Case& one) {
  const auto& certificate = one.certificate;
  nlohmann::ordered_json json{{"family", name(one.recipe.family)},
                              {"phi", one.wide ? nlohmann::ordered_json(one.recipe.phi) : nlohmann::ordered_json(nullptr)},
                              {"target", to_string(certificate.target)},
                              {"method", one.refused ? "refused" : to_string(certificate.method)},
                              {"plans", nlohmann::ordered_json::array()},
                              {"products", products(certificate)},
                              {"exact_entries", certificate.exact},
                              {"ratio", json_number(certificate.ratio)},
                              {"holds", one.met()},
                              {"verdict_ratio", json_number(one.verification.ratio())},
                              {"reproduction", generate_command(one.recipe)}};
  for (const auto& plan : certificate.plans) json["plans"].push_back(to_string(plan));
  if (one.uncertified())
    json["enumerated_plan"] =
        one.enumerated ? nlohmann::ordered_json(to_string(*one.enumerated)) : nlohmann::ordered_json(nullptr);
  return json;
}

void print_for_programs(const Arguments& arguments, const std::vector<Case>& cases) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& one : cases) list.push_back(record(one));
  const Summary sum(cases);
  print_json({{"schema", "ozbound-survey-1"},
              {"n", arguments.n},
              {"k", arguments.k},
              {"seed", arguments.seed},
              {"cases", list},
              {"summary",
               {{"cases", sum.cases},
                {"met", sum.met},
                {"refused", sum.refused},
                {"met_by_a_plan", sum.by_plan},
                {"fell_through", sum.fell_through},
                {"avoidably", sum.avoidable},
                {"share", sum.share()}}}});
}

ExitCode run(const Arguments& arguments) {
  refuse_native_alone(arguments.engine);
  Survey survey(arguments.engine);
  {
    files::Progress progress("surveying");
    const auto all = problems(arguments);
    for (std::size_t i = 0; i < all.size(); ++i) {
      survey.add(all[i]);
      progress(static_cast<double>(i + 1) / static_cast<double>(all.size()));
    }
  }
  arguments.json ? print_for_programs(arguments, survey.cases()) : print_for_people(survey.cases());
  const Summary sum(survey.cases());
  if (sum.refused > 0) return ExitCode::not_certified;
  return sum.met == sum.cases ? ExitCode::success : ExitCode::verdict_failed;
}

void add_size(CLI::App& command, const std::string& option, Index& size, const std::string& help) {
  const auto store = [&size, option](const std::string& text) { size = files::parse_integer(text, option, 1, largest_size); };
  command.add_option_function<std::string>(option, store, help)->type_name("SIZE");
}

}  // namespace
}  // namespace command_survey

void add_survey(CLI::App& app, Action& action) {
  using namespace command_survey;
  auto* command = app.add_subcommand("survey", "Show how every family of problems meets four targets");
  auto arguments = std::make_shared<Arguments>();
  add_size(*command, "--n", arguments->n, "Rows and columns of C, 64 where it is not given");
  add_size(*command, "--k", arguments->k, "The inner dimension, 128 where it is not given");
  command
      ->add_option_function<std::string>(
          "--seed", [arguments](const std::string& text) { arguments->seed = files::parse_unsigned(text, "--seed"); },
          "Other random matrices; 0 where it is not given")
      ->type_name("INTEGER");
  add_engine_option(*command, arguments->engine)
      ->description("cuda: on the device; auto: native DGEMM may be chosen too; cpu if not given");
  add_output_options(*command, arguments->json, "a table");
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
