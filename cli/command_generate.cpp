// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <complex>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "ozbound/verify/complex_problem.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_generate {
namespace {

struct Arguments {
  Recipe recipe;
  std::vector<std::string> outputs;  // A, B
  bool complex = false;
  bool json = false;
};

void check_memory(const Recipe& recipe, std::size_t element_size) {
  const auto [m, n, k] =
      std::array{static_cast<double>(recipe.m), static_cast<double>(recipe.n), static_cast<double>(recipe.k)};
  const double bytes = (m + n) * k * static_cast<double>(element_size);
  if (bytes > static_cast<double>(files::physical_memory()))
    throw std::invalid_argument(fmt::format("A and B would take {:.3g} bytes, more than the memory of {}", bytes,
                                            files::format_bytes(files::physical_memory())));
}

/// Generates the requested problem by ozbound::generate or ozbound::generate_complex.
template <class Generate>
auto generated(Generate generate, const Recipe& recipe) {
  const files::Progress progress("generating");
  return generate(recipe);
}

/// Writes both files or neither: each is on the disk before the first gets its name.
template <class AnyProblem>
void write_problem(const AnyProblem& problem, files::AtomicFile& a, files::AtomicFile& b) {
  const files::Progress progress("writing");
  files::write_matrix(a, problem.a.view());
  files::write_matrix(b, problem.b.view());
  a.flush();
  b.flush();
  a.commit();
  b.commit();
}

nlohmann::ordered_json record(const Arguments& arguments) {
  const auto& recipe = arguments.recipe;
  return {{"schema", "ozbound-problem-1"},
          {"family", name(recipe.family)},
          {"m", recipe.m},
          {"n", recipe.n},
          {"k", recipe.k},
          {"phi", recipe.phi},
          {"seed", recipe.seed},
          {"complex", arguments.complex},
          {"a", arguments.outputs[0]},
          {"b", arguments.outputs[1]}};
}

void print_for_people(const Arguments& arguments) {
  const auto& recipe = arguments.recipe;
  const auto* const kind = arguments.complex ? "complex " : "";
  print_table({{"A", fmt::format("{}{} x {} in {}", kind, recipe.m, recipe.k, arguments.outputs[0])},
               {"B", fmt::format("{}{} x {} in {}", kind, recipe.k, recipe.n, arguments.outputs[1])},
               {"recipe", arguments.complex ? generate_complex_command(recipe) : generate_command(recipe)}});
}

ExitCode run(const Arguments& arguments) {
  for (const auto& path : arguments.outputs) files::output_format(path);
  if (files::same_file(arguments.outputs[0], arguments.outputs[1]))
    throw std::invalid_argument(arguments.outputs[0] + ": A and B cannot be the same file");
  check_memory(arguments.recipe, arguments.complex ? sizeof(std::complex<double>) : sizeof(double));
  files::AtomicFile a(arguments.outputs[0]);
  files::AtomicFile b(arguments.outputs[1]);
  if (arguments.complex)
    write_problem(generated(generate_complex, arguments.recipe), a, b);
  else
    write_problem(generated(ozbound::generate, arguments.recipe), a, b);
  arguments.json ? print_json(record(arguments)) : print_for_people(arguments);
  return ExitCode::success;
}

std::string family_names() {
  std::string names;
  for (const auto family : all_families()) names += (names.empty() ? "" : ", ") + std::string(name(family));
  return names;
}

CLI::Option* add_size(CLI::App& command, const std::string& option, Index& size, const std::string& help) {
  const auto store = [&size, option](const std::string& text) {
    size = files::parse_integer(text, option, 0, std::numeric_limits<Index>::max());
  };
  return command.add_option_function<std::string>(option, store, help)->type_name("SIZE");
}

}  // namespace
}  // namespace command_generate

void add_generate(CLI::App& app, Action& action) {
  using namespace command_generate;
  auto* command = app.add_subcommand("generate", "Write the two matrices of a problem, the same on every platform");
  auto arguments = std::make_shared<Arguments>();
  auto& recipe = arguments->recipe;
  command
      ->add_option_function<std::string>(
          "FAMILY", [&recipe](const std::string& text) { recipe.family = parse_family(text); }, "One of " + family_names())
      ->required()
      ->type_name("");
  add_size(*command, "--m", recipe.m, "Rows of A")->required();
  add_size(*command, "--n", recipe.n, "Columns of B")->required();
  add_size(*command, "--k", recipe.k, "Columns of A and rows of B")->required();
  command
      ->add_option_function<std::string>(
          "--phi", [&recipe](const std::string& text) { recipe.phi = files::parse_real(text, "--phi"); },
          "How far magnitudes spread, at least 0; 0 where it is not given")
      ->type_name("REAL");
  command
      ->add_option_function<std::string>(
          "--seed", [&recipe](const std::string& text) { recipe.seed = files::parse_unsigned(text, "--seed"); },
          "Another problem of the same family; 0 where it is not given")
      ->type_name("INTEGER");
  command->add_flag("--complex", arguments->complex,
                    "Complex A and B, whose product has the real problem's of 2k as real part");
  command->add_option("-o,--output", arguments->outputs, "Files of A and B, .npy or .mtx")
      ->required()
      ->expected(2)
      ->type_name("A B");
  add_output_options(*command, arguments->json, "a table");
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
