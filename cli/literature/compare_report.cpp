// SPDX-License-Identifier: BSD-3-Clause
#include "compare_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "ozbound/files/columns.hpp"
#include "ozbound/files/text.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace {

std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.0f} %", 100 * *share) : "-"; }

std::string upper(const std::optional<double>& x) { return x ? files::format_upper(*x) : "-"; }

std::string rounded(const std::optional<double>& x) { return x ? fmt::format("{:.2g}", *x) : "-"; }

std::string phi_of(const ComparedCase& one) { return one.wide ? fmt::format("{}", one.recipe.phi) : "-"; }

std::string title_of(const ComparedCase& one) {
  return fmt::format("{}{}, k = {}, {}", name(one.recipe.family), one.wide ? fmt::format(", phi = {}", one.recipe.phi) : "",
                     one.recipe.k, to_string(one.target));
}

using Wanted = std::function<bool(const ComparedCase&)>;

std::vector<files::Cells> summary_rows(const Comparison& comparison, const Wanted& wanted) {
  std::vector<files::Cells> rows{{"selector", "rigorous", "plans", "certified", "missed", "worst error/target",
                                  "products: median", "overshoot: median", "90 %", "largest", "selecting/product"}};
  for (std::size_t t = 0; t < comparison.selectors.size(); ++t) {
    const auto& selector = comparison.selectors[t];
    const auto sum = summarize(comparison.cases, t, wanted);
    rows.push_back({selector.name, selector.rigorous ? "yes" : "no", fmt::format("{}/{}", sum.plans, sum.cases),
                    std::to_string(sum.certified), std::to_string(sum.missed), upper(sum.worst_ratio),
                    sum.median_products ? fmt::format("{}", *sum.median_products) : "-", percent(sum.median_overshoot),
                    percent(sum.overshoot_90), percent(sum.largest_overshoot), rounded(sum.median_cost)});
  }
  return rows;
}

/// True if all elements are of similar kind, without zeros, as in dense linear algebra.
bool dense(const ComparedCase& one) {
  constexpr std::array families{Family::uniform,        Family::uniform_positive, Family::wide_exponents, Family::graded_rows,
                                Family::graded_columns, Family::graded_inner,     Family::cancellation};
  return std::find(families.begin(), families.end(), one.recipe.family) != families.end();
}

/// A part of the cases.
struct Part {
  std::string name, title;
  Wanted wanted;
};

/// The dense families and the hard ones, if they have cases.
std::vector<Part> parts(const Comparison& comparison) {
  std::vector<Part> all{{"dense", "Dense families: uniform, wide exponents, graded, cancellation", dense},
                        {"hard", "Hard families: sparse, integers, powers of two, maximal digits, subnormal numbers and others",
                         [](const ComparedCase& one) { return !dense(one); }}};
  std::erase_if(all,
                [&](const Part& part) { return std::none_of(comparison.cases.begin(), comparison.cases.end(), part.wanted); });
  return all;
}

files::Cells case_row(const ComparedCase& one, const SelectorOutcome& outcome) {
  const auto& fewest = one.fewest(*outcome.selector);
  return {std::string(name(one.recipe.family)),
          phi_of(one),
          std::to_string(one.recipe.k),
          to_string(one.target),
          fewest.plan ? std::to_string(fewest.plan->products()) : "-",
          outcome.selector->name,
          outcome.plan ? to_string(*outcome.plan) : "none",
          outcome.plan ? std::to_string(outcome.products()) : "-",
          outcome.certified ? "yes" : "no",
          outcome.plan ? files::format_upper(outcome.ratio) : "-",
          outcome.misses() ? "MISSED" : "",
          percent(one.overshoot(outcome)),
          fewest.plan ? fmt::format("{:.2g}", outcome.seconds / fewest.seconds) : "-"};
}

nlohmann::ordered_json optional_number(const std::optional<double>& x) {
  return x ? json_number(*x) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json optional_plan(const std::optional<Plan>& plan) {
  return plan ? nlohmann::ordered_json(to_string(*plan)) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json summary_json(const std::string& families, const std::string& selector, const SelectorSummary& sum) {
  return {{"families", families},
          {"selector", selector},
          {"cases", sum.cases},
          {"plans", sum.plans},
          {"certified", sum.certified},
          {"missed", sum.missed},
          {"worst_ratio", optional_number(sum.worst_ratio)},
          {"median_products", optional_number(sum.median_products)},
          {"median_overshoot", optional_number(sum.median_overshoot)},
          {"overshoot_90", optional_number(sum.overshoot_90)},
          {"largest_overshoot", optional_number(sum.largest_overshoot)},
          {"median_cost", optional_number(sum.median_cost)}};
}

nlohmann::ordered_json outcome_json(const ComparedCase& one, const SelectorOutcome& outcome) {
  return {{"selector", outcome.selector->name},
          {"plan", optional_plan(outcome.plan)},
          {"products", outcome.products()},
          {"certified", outcome.certified},
          {"ratio", outcome.plan ? json_number(outcome.ratio) : nlohmann::ordered_json(nullptr)},
          {"overshoot", optional_number(one.overshoot(outcome))},
          {"seconds", outcome.seconds}};
}

nlohmann::ordered_json case_json(const ComparedCase& one) {
  nlohmann::ordered_json json{{"family", name(one.recipe.family)},
                              {"phi", one.wide ? nlohmann::ordered_json(one.recipe.phi) : nlohmann::ordered_json(nullptr)},
                              {"m", one.recipe.m},
                              {"n", one.recipe.n},
                              {"k", one.recipe.k},
                              {"target", to_string(one.target)},
                              {"fewest", optional_plan(one.slices.plan)},
                              {"product_seconds", one.slices.seconds},
                              {"fewest_residues", optional_plan(one.residues.plan)},
                              {"residue_product_seconds", one.residues.seconds},
                              {"outcomes", nlohmann::ordered_json::array()},
                              {"reproduction", generate_command(one.recipe)}};
  for (const auto& outcome : one.outcomes) json["outcomes"].push_back(outcome_json(one, outcome));
  return json;
}

/// A series of values in rising order against the share of the cases, in percent. Has at most 50 evenly spread points,
/// including the largest.
Series sorted_series(std::string plot, const std::string& label, std::string y_axis, std::vector<double> values,
                     std::size_t cases) {
  std::sort(values.begin(), values.end());
  Series series{std::move(plot), label, "share of the cases, %", std::move(y_axis), false, true, {}, false};
  const std::size_t step = (values.size() + 49) / 50;
  for (std::size_t left = values.size(); left > 0; left -= std::min(step, left))
    series.points.emplace_back(100.0 * static_cast<double>(left) / static_cast<double>(cases), values[left - 1]);
  std::reverse(series.points.begin(), series.points.end());
  return series;
}

// Markdown

std::string markdown_table(const std::vector<files::Cells>& rows) {
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += fmt::format("| {} |\n", fmt::join(rows[i], " | "));
    if (i == 0)
      for (std::size_t j = 0; j < rows[i].size(); ++j) out += j == 0 ? "|---|" : j + 1 == rows[i].size() ? "---|\n" : "---|";
  }
  return out;
}

std::vector<Family> families_of(const Comparison& comparison) {
  std::vector<Family> families;
  for (const auto& one : comparison.cases)
    if (std::find(families.begin(), families.end(), one.recipe.family) == families.end()) families.push_back(one.recipe.family);
  return families;
}

SelectorSummary of_family(const Comparison& comparison, std::size_t index, Family family) {
  return summarize(comparison.cases, index, [family](const ComparedCase& one) { return one.recipe.family == family; });
}

/// The median overshoot, and the selectors that missed or gave up, by some property of the cases.
template <class Key>
std::string table_by(const Comparison& comparison, const std::string& title, const Key& key) {
  std::vector<std::string> keys;
  for (const auto& one : comparison.cases)
    if (std::find(keys.begin(), keys.end(), key(one)) == keys.end()) keys.push_back(key(one));
  std::vector<files::Cells> rows{{title}};
  for (const auto& selector : comparison.selectors) rows[0].push_back(selector.name);
  for (const auto& wanted : keys) {
    rows.push_back({wanted});
    for (std::size_t t = 0; t < comparison.selectors.size(); ++t) {
      const auto sum = summarize(comparison.cases, t, [&](const ComparedCase& one) { return key(one) == wanted; });
      rows.back().push_back(percent(sum.median_overshoot) + (sum.missed > 0 ? fmt::format(", {} missed", sum.missed) : "") +
                            (sum.plans < sum.cases ? fmt::format(", {} given up", sum.cases - sum.plans) : ""));
    }
  }
  return markdown_table(rows);
}

/// The targets that the selector missed, the worst first.
std::string unsafe_cases(const Comparison& comparison, std::size_t index) {
  std::vector<const ComparedCase*> missed;
  for (const auto& one : comparison.cases)
    if (one.outcomes[index].misses()) missed.push_back(&one);
  std::sort(missed.begin(), missed.end(),
            [index](const auto* x, const auto* y) { return x->outcomes[index].ratio > y->outcomes[index].ratio; });
  if (missed.empty()) return "missed no target here";
  std::string text = fmt::format("missed {} of {} targets", missed.size(), comparison.cases.size());
  for (std::size_t t = 0; t < std::min<std::size_t>(missed.size(), 3); ++t)
    text += fmt::format("{} {} ({} times what is allowed)", t == 0 ? ", worst" : ";", title_of(*missed[t]),
                        files::format_upper(missed[t]->outcomes[index].ratio));
  return text;
}

/// True if no other selector of the same scheme, among all or among the rigorous ones, met the target with fewer products.
bool best(const ComparedCase& one, std::size_t index, bool rigorous_only) {
  const auto& outcome = one.outcomes[index];
  const auto needs_fewer = [&](const SelectorOutcome& other) {
    return other.plan && !other.misses() && other.selector->by_residues == outcome.selector->by_residues &&
           (other.selector->rigorous || !rigorous_only) && other.products() < outcome.products();
  };
  return outcome.plan && !outcome.misses() && std::ranges::none_of(one.outcomes, needs_fewer);
}

Index times_best(const Comparison& comparison, std::size_t index, bool rigorous_only) {
  return std::count_if(comparison.cases.begin(), comparison.cases.end(),
                       [=](const ComparedCase& one) { return best(one, index, rigorous_only); });
}

/// The families on which the selector is best in more than half of the cases.
std::string best_families(const Comparison& comparison, std::size_t index) {
  std::vector<std::string> names;
  for (const auto family : families_of(comparison)) {
    Index cases = 0, times = 0;
    for (const auto& one : comparison.cases)
      if (one.recipe.family == family) ++cases, times += Index{best(one, index, false)};
    if (2 * times > cases) names.emplace_back(name(family));
  }
  return names.empty() ? "no family" : fmt::format("{}", fmt::join(names, ", "));
}

/// The family on which the selector overshoots most.
std::string waste(const Comparison& comparison, std::size_t index) {
  std::optional<double> most;
  std::string where;
  for (const auto family : families_of(comparison)) {
    const auto sum = of_family(comparison, index, family);
    if (sum.median_overshoot && (!most || *sum.median_overshoot > *most)) most = sum.median_overshoot, where = name(family);
  }
  return most ? fmt::format("most on {}, {} more products than needed in the median", where, percent(most)) : "no plan";
}

std::string section(const Comparison& comparison, std::size_t index) {
  const auto& selector = comparison.selectors[index];
  const auto sum = summarize(comparison.cases, index);
  std::string text = fmt::format("### {}\n\n{}. {}: {}.\n\n", selector.name, selector.source,
                                 selector.rigorous ? "Rigorous" : "An estimate", selector.statement);
  text += fmt::format("{}\n\n", selector.caution);
  text += fmt::format("- Unsafe: {}.\n", unsafe_cases(comparison, index));
  text += fmt::format("- Gave up on {} of {} cases.\n", sum.cases - sum.plans, sum.cases);
  text += fmt::format("- Wasteful: {}.\n", waste(comparison, index));
  if (!selector.by_residues)
    text += fmt::format("- Best, nobody met the target with fewer of them: in {} of {} cases{}; in most of them on {}.\n",
                        times_best(comparison, index, false), sum.cases,
                        selector.rigorous ? fmt::format(", {} of the rigorous", times_best(comparison, index, true)) : "",
                        best_families(comparison, index));
  return text + "\n";
}

}  // namespace

std::string comparison_summary(const Comparison& comparison, std::size_t width) {
  std::string text;
  for (const auto& part : parts(comparison))
    text += (text.empty() ? "" : "\n") + part.title + "\n\n" +
            files::format_columns(summary_rows(comparison, part.wanted), width) + "\n";
  return text;
}

std::string broken_certificates(const Comparison& comparison) {
  std::string text;
  for (const auto& one : comparison.cases)
    for (const auto& outcome : one.outcomes)
      if (outcome.certified && outcome.misses())
        text += fmt::format("{} certified {} and missed it:\n{}\n", outcome.selector->name, title_of(one), outcome.explanation);
  return text;
}

std::string comparison_cases(const Comparison& comparison, std::size_t width) {
  std::vector<files::Cells> rows{{"family", "phi", "k", "target", "fewest", "selector", "plan", "products", "certified",
                                  "error/target", "", "overshoot", "selecting/product"}};
  for (const auto& one : comparison.cases)
    for (const auto& outcome : one.outcomes) rows.push_back(case_row(one, outcome));
  return files::format_columns(rows, width) + "\n";
}

nlohmann::ordered_json comparison_json(const Comparison& comparison) {
  nlohmann::ordered_json json{{"schema", "ozbound-compare-1"},
                              {"command", comparison.command},
                              {"n", comparison.grid.n},
                              {"seed", comparison.grid.seed},
                              {"summary", nlohmann::ordered_json::array()},
                              {"cases", nlohmann::ordered_json::array()}};
  for (const auto& part : parts(comparison))
    for (std::size_t t = 0; t < comparison.selectors.size(); ++t)
      json["summary"].push_back(
          summary_json(part.name, comparison.selectors[t].name, summarize(comparison.cases, t, part.wanted)));
  for (const auto& one : comparison.cases) json["cases"].push_back(case_json(one));
  return json;
}

std::vector<Series> comparison_plots(const Comparison& comparison) {
  std::vector<Series> products, errors;
  for (std::size_t t = 0; t < comparison.selectors.size(); ++t) {
    std::vector<double> over_fewest, over_target;
    for (const auto& one : comparison.cases) {
      const auto& outcome = one.outcomes[t];
      if (const auto overshoot = one.overshoot(outcome)) over_fewest.push_back(1 + *overshoot);
      if (outcome.plan) over_target.push_back(outcome.ratio);
    }
    const auto& label = comparison.selectors[t].name;
    products.push_back(
        sorted_series("Products over the fewest", label, "products / fewest", over_fewest, comparison.cases.size()));
    errors.push_back(
        sorted_series("Largest error over the target", label, "error / target", over_target, comparison.cases.size()));
  }
  errors.push_back(
      {errors.front().plot, "target", errors.front().x_axis, errors.front().y_axis, false, true, {{0, 1}, {100, 1}}, true});
  products.insert(products.end(), errors.begin(), errors.end());
  return products;
}

std::string comparison_markdown(const Comparison& comparison) {
  const auto impossible = [&comparison](FewestProducts ComparedCase::* fewest) {
    return std::ranges::count_if(comparison.cases, [fewest](const ComparedCase& one) { return !(one.*fewest).plan; });
  };
  std::string text = fmt::format(R"(# Selectors compared

Written by `{}`.
{} problems and targets; C is {} x {}, and A, B square for `cancellation`, which ends at k = {}. Every product is judged
by the exact oracle. Cases that no plan meets are left out, unless a selector chose one all the same: {} of slices, up to
{} x {}, and {} of residues, up to {} moduli.

*Fewest* is the least number of products that meets the target, found by search with the oracle: of balanced digits, and for
`ozbound-residues` of moduli that hold the operands by first digits; *overshoot* is what a selector uses above it, where it
chose a plan and met the target. A selector *missed* where an entry has an error above its target; it *gave up* where it chose
no plan. `dgemm` with k = 1 asks for u, which leaves nothing beside the last rounding. The last column is the time of selecting
over that of the product with the fewest, in the median: on products this small selecting is dear. `ozbound` and
`ozbound-residues` are the two ways that `decide` compares by their cost.

)",
                                 comparison.command, comparison.cases.size(), comparison.grid.n, comparison.grid.n,
                                 ComparisonGrid::largest_square, impossible(&ComparedCase::slices), max_slices, max_slices,
                                 impossible(&ComparedCase::residues), max_moduli);
  for (const auto& part : parts(comparison))
    text += fmt::format("**{}**\n\n{}\n", part.title, markdown_table(summary_rows(comparison, part.wanted)));
  if (!comparison.figure.empty())
    text += fmt::format("![Products over the fewest, and the largest error over the target, sorted over the cases]({})\n\n",
                        comparison.figure);
  text += "## Median overshoot by family, target and inner dimension\n\n";
  text += table_by(comparison, "family", [](const ComparedCase& one) { return std::string(name(one.recipe.family)); }) + "\n";
  text += table_by(comparison, "target", [](const ComparedCase& one) { return to_string(one.target); }) + "\n";
  text += table_by(comparison, "k", [](const ComparedCase& one) { return std::to_string(one.recipe.k); });
  text += "\n## One by one\n\n";
  for (std::size_t t = 0; t < comparison.selectors.size(); ++t) text += section(comparison, t);
  text.pop_back();
  return text;
}

}  // namespace ozbound::cli
