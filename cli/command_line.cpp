// SPDX-License-Identifier: BSD-3-Clause
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "help.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::cli {
namespace {

/// The number of letters to insert, remove, replace, or exchange with their neighbour, to turn one word into the other.
std::size_t edit_distance(std::string_view x, std::string_view y) {
  std::vector<std::size_t> before_last, last, row(y.size() + 1);
  for (std::size_t j = 0; j <= y.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= x.size(); ++i) {
    before_last = std::move(last), last = std::move(row);
    row.assign(y.size() + 1, i);
    for (std::size_t j = 1; j <= y.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x[i - 1] == y[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1]) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

/// `: did you mean NAME?` for the name that a word probably misspells, if there is one.
std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& name : names)
    if (const auto distance = edit_distance(word, name); distance < least) least = distance, nearest = name;
  return nearest.empty() ? "" : ": did you mean " + nearest + "?";
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// The error, the suggestion if any, and the place to read on.
std::string refusal(const std::string& wrong, const std::string& meant, const std::string& command) {
  return wrong + meant + (meant.empty() ? "; see " : " See ") + command + " --help";
}

/// The first unknown option in a subcommand, or else its first surplus word; empty if there is none.
std::string unknown_word(const CLI::App& command) {
  auto words = command.remaining();
  words.erase(std::find(words.begin(), words.end(), "--"), words.end());  // the words after it belong to another program
  const auto option = std::find_if(words.begin(), words.end(), [](const auto& word) { return word.starts_with('-'); });
  if (option != words.end()) return option->substr(0, option->find('='));
  return words.empty() ? "" : words.front();
}

}  // namespace

void add_commands(CLI::App& app, Action& action) {
  app.name("ozbound");
  app.description("Products of FP64 matrices on integer units, with proven error bounds");
  app.set_version_flag("--version", OZBOUND_VERSION, "Print the version");
  app.require_subcommand(1);
  for (auto* const add : {add_audit, add_bounds, add_calibrate, add_check, add_compare, add_demo, add_gemm, add_generate,
                          add_grade, add_info, add_plan, add_run, add_study, add_survey, add_verify})
    add(app, action);
  for (auto* command : app.get_subcommands({})) {
    const auto own = command->get_footer();
    command->footer((own == "\n" ? "" : own + "\n\n") + exit_code_help());
  }
  app.footer(target_help() + "\n\n" + exit_code_help());
}

std::string usage_error(const CLI::App& app, const std::exception& error, int argc, const char* const* argv) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    if (argc < 2) return refusal(error.what(), "", "ozbound");
    const std::string word = argv[1];
    const bool option = word.starts_with('-');
    return refusal(files::quote(word) + (option ? " is not an option" : " is not a subcommand"),
                   suggestion(word, option ? option_names(app) : subcommand_names(app)), "ozbound");
  }
  const auto& command = *chosen.front();
  const auto name = "ozbound " + command.get_name();
  const auto word = unknown_word(command);
  if (word.starts_with('-'))  // this explains any missing argument
    return refusal(files::quote(word) + " is not an option of " + command.get_name(), suggestion(word, option_names(command)),
                   name);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return refusal(files::quote(word) + " is an argument too many", "", name);
  return refusal(error.what(), "", name);
}

}  // namespace ozbound::cli
