// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compare_report.hpp"

#include "commands.hpp"
#include "decision_arguments.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_compare {
namespace {

constexpr Index largest_size = 4096;

struct Arguments {
  std::vector<std::string> families, phis, inner, targets, selectors;
  Index n = 32;
  std::uint64_t seed = 0;
  std::string svg, markdown;
  bool cases = false, json = false;
};

template <class Value, class Parse>
std::vector<Value> parsed(const std::vector<std::string>& texts, std::vector<Value> otherwise, const Parse& parse) {
  if (texts.empty()) return otherwise;
  std::vector<Value> values;
  for (std::size_t t = 0; t < texts.size(); ++t)
    if (std::find(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(t), texts[t]) ==
        texts.begin() + static_cast<std::ptrdiff_t>(t))
      values.push_back(parse(texts[t]));
  return values;
}

double parse_phi(const std::string& text) {
  const double phi = files::parse_real(text, "--phi");
  if (!(phi >= 0) || std::isinf(phi))
    throw std::invalid_argument("--phi must be finite and not negative: " + files::quote(text));
  return phi;
}

Target parse_entrywise(const std::string& text) {
  const auto target = parse_target(text);
  if (!selectors_take(target))
    throw std::invalid_argument("--target must be dgemm, dgemm-typical or componentwise here: " + files::quote(text));
  return target;
}

std::vector<Target> default_targets() {
  return {Target::componentwise(1e-8), Target::componentwise(1e-12), Target::dgemm(), Target::dgemm_typical()};
}

ComparisonGrid grid_of(const Arguments& arguments) {
  return {parsed<Family>(arguments.families, {all_families().begin(), all_families().end()},
                         [](const std::string& text) { return parse_family(text); }),
          parsed<double>(arguments.phis, {0, 0.5, 1, 2, 3}, parse_phi),
          parsed<Index>(arguments.inner, {1, 16, 64, 256, 1024},
                        [](const std::string& text) { return files::parse_integer(text, "--k", 1, largest_size); }),
          parsed<Target>(arguments.targets, default_targets(), parse_entrywise),
          arguments.n,
          arguments.seed};
}

std::vector<Selector> selectors_of(const Arguments& arguments) {
  const auto all = all_selectors();
  return parsed<Selector>(arguments.selectors, {all.begin(), all.end()},
                          [](const std::string& text) { return find_selector(text); });
}

/// Opens a file to write at the end, if it was asked for.
std::optional<files::AtomicFile> opened(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return std::optional<files::AtomicFile>(std::in_place, path);
}

void print(const Comparison& comparison, const Arguments& arguments) {
  if (arguments.json) return print_json(comparison_json(comparison));
  if (arguments.cases) print_text(comparison_cases(comparison, output_width()) + "\n");
  print_text(comparison_summary(comparison, output_width()));
}

/// The link from the page to the figure.
std::string link(const Arguments& arguments) {
  if (arguments.svg.empty() || arguments.markdown.empty()) return {};
  const std::filesystem::path page(arguments.markdown);
  return std::filesystem::proximate(std::filesystem::absolute(arguments.svg), std::filesystem::absolute(page).parent_path());
}

void refuse_one_file(const Arguments& arguments) {
  if (files::same_file(arguments.svg, arguments.markdown))
    throw std::invalid_argument("--svg and --markdown cannot be the same file: " + files::quote(arguments.svg));
}

ExitCode run(const Arguments& arguments, const std::string& command) {
  refuse_one_file(arguments);
  Comparison comparison{grid_of(arguments), selectors_of(arguments), {}, command, link(arguments)};
  auto plot = opened(arguments.svg), page = opened(arguments.markdown);
  {
    const auto engine = make_engine(0);
    files::Progress progress("comparing");
    comparison.cases = compare_selectors(comparison.grid, comparison.selectors, engine, [&](double done) { progress(done); });
  }
  if (comparison.cases.empty()) throw std::invalid_argument("nothing to compare: cancellation is left out where k > 256");
  if (plot) plot->write(svg(comparison_plots(comparison)));
  if (page) page->write(comparison_markdown(comparison));
  for (auto* file : {&plot, &page})
    if (*file) (*file)->flush();
  for (auto* file : {&plot, &page})
    if (*file) (*file)->commit();
  print(comparison, arguments);
  const auto broken = broken_certificates(comparison);
  if (broken.empty()) return ExitCode::success;
  fmt::print(stderr, "{}", broken);
  return ExitCode::verdict_failed;
}

void add_list(CLI::App& command, const std::string& option, std::vector<std::string>& list, const std::string& help,
              const std::string& type) {
  command.add_option(option, list, help)->type_name(type)->delimiter(',')->allow_extra_args(false);
}

void add_integer(CLI::App& command, const std::string& option, const std::function<void(const std::string&)>& store,
                 const std::string& help, const std::string& type) {
  command.add_option_function<std::string>(option, store, help)->type_name(type);
}

}  // namespace
}  // namespace command_compare

void add_compare(CLI::App& app, Action& action) {
  using namespace command_compare;
  auto* command = app.add_subcommand("compare", "Compare selectors of slice counts, judged by the exact oracle");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("FAMILY", arguments->families, "Families of problems; all of them if none is given");
  add_list(*command, "--phi", arguments->phis, "0,0.5,1,2,3 if not given; for families that take one", "PHI,...");
  add_list(*command, "--k", arguments->inner, "Inner dimensions, 1,16,64,256,1024 if not given", "SIZE,...");
  add_list(*command, "--target", arguments->targets, "componentwise:1e-8,componentwise:1e-12,dgemm,dgemm-typical if not given",
           "TARGET,...");
  add_list(*command, "--selector", arguments->selectors, "All if not given; ozbound info lists them", "NAME,...");
  add_integer(
      *command, "--n",
      [arguments](const std::string& text) { arguments->n = files::parse_integer(text, "--n", 1, largest_size); },
      "Rows and columns of C, 32 if not given", "SIZE");
  add_integer(
      *command, "--seed", [arguments](const std::string& text) { arguments->seed = files::parse_unsigned(text, "--seed"); },
      "Other random matrices; 0 if not given", "INTEGER");
  command->add_flag("--cases", arguments->cases, "A line for every case and selector too");
  command->add_option("--svg", arguments->svg, "File for plots of products and errors")->type_name("FILE");
  command->add_option("--markdown", arguments->markdown, "File for the page docs/selectors.md")->type_name("FILE");
  add_output_options(*command, arguments->json, "tables");
  command->callback([&action, arguments] { action = [arguments](const std::string& line) { return run(*arguments, line); }; });
}

}  // namespace ozbound::cli
