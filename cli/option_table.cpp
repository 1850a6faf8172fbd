// SPDX-License-Identifier: BSD-3-Clause
#include "option_table.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ozbound::cli {
namespace {

/// The words of `auto|cpu|cuda`; empty if the value is no choice of words.
std::vector<std::string> alternatives(const std::string& value) {
  std::vector<std::string> words;
  for (std::size_t at = 0; value.find('|') != std::string::npos && at <= value.size();) {
    const auto end = std::min(value.find('|', at), value.size());
    words.push_back(value.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool is_file(const std::string& value) {
  constexpr std::array<std::string_view, 5> files{"FILE", "FOLDER", "DIRECTORY", "C0", "A B"};
  return std::find(files.begin(), files.end(), value) != files.end();
}

OptionRow row_of(const CLI::Option& option) {
  OptionRow row;
  row.positional = option.get_positional() && !option.nonpositional();
  for (const auto& name : option.get_snames()) row.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) row.names.push_back("--" + name);
  if (row.positional) row.names.push_back(option.get_name(true));
  row.description = option.get_description();
  row.required = option.get_required();
  row.repeated = row.positional && option.get_items_expected_max() > 1;
  if (option.get_items_expected_max() > 0 && !row.positional) row.value = option.get_type_name();
  row.values = alternatives(row.value);
  if (row.value.starts_with("TARGET"))
    row.values = {"cr", "dgemm", "dgemm-typical", "componentwise:", "normwise:", "relative:", "rowcol:"};
  row.takes_file = is_file(row.value);
  return row;
}

}  // namespace

std::vector<OptionRow> option_rows(const CLI::App& command) {
  std::vector<OptionRow> rows;
  for (const auto* option : command.get_options()) rows.push_back(row_of(*option));
  std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) { return x.positional && !y.positional; });
  return rows;
}

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::sort(commands.begin(), commands.end(), [](const auto* x, const auto* y) { return x->get_name() < y->get_name(); });
  return commands;
}

}  // namespace ozbound::cli
