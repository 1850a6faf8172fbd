// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "option_table.hpp"
#include "ozbound/files/text.hpp"
#include "pages.hpp"

namespace ozbound::cli {
namespace {

constexpr std::string_view license = "# SPDX-License-Identifier: BSD-3-Clause\n";

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : subcommands(app)) names.push_back(command->get_name());
  return names;
}

/// The names of all options.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto& row : option_rows(command))
    if (!row.positional) names.insert(names.end(), row.names.begin(), row.names.end());
  return names;
}

/// A text in single quotes for a shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// A text with a backslash before each occurrence of some characters.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// bash

std::string bash_values(const CLI::App& command) {
  std::string cases;
  for (const auto& row : option_rows(command)) {
    if (row.values.empty()) continue;
    std::vector<std::string> patterns;
    for (const auto& name : row.names) patterns.push_back(command.get_name() + "," + name);
    cases += fmt::format("    {}) words={} ;;\n", fmt::join(patterns, "|"),
                         shell_quoted(fmt::format("{}", fmt::join(row.values, " "))));
  }
  return cases;
}

// zsh

std::string zsh_value(const OptionRow& row) {
  if (row.value.empty()) return "";
  if (!row.values.empty())
    return fmt::format(":{}:({})", escaped(row.value, ":"), escaped(fmt::format("{}", fmt::join(row.values, " ")), ":"));
  return fmt::format(":{}:{}", escaped(row.value, ":"), row.takes_file ? "_files" : " ");
}

std::string zsh_command(const CLI::App& command) {
  std::string specifications;
  for (const auto& row : option_rows(command)) {
    if (row.positional) continue;
    for (const auto& name : row.names)
      specifications +=
          fmt::format(" \\\n            {}", shell_quoted(name + "[" + escaped(row.description, "[]:") + "]" + zsh_value(row)));
  }
  return fmt::format("        {})\n          _arguments{} \\\n            '*:file:_files' ;;\n", command.get_name(),
                     specifications);
}

// fish

std::string fish_option(const std::string& command, const OptionRow& row) {
  auto line = fmt::format("complete -c ozbound -n '__fish_seen_subcommand_from {}'", command);
  for (const auto& name : row.names) line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!row.value.empty()) line += row.takes_file ? " -r -F" : " -x";
  if (!row.values.empty()) line += fmt::format(" -a {}", shell_quoted(fmt::format("{}", fmt::join(row.values, " "))));
  return line + " -d " + shell_quoted(row.description) + "\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string options, values;
  for (const auto* command : subcommands(app)) {
    options += fmt::format("    {}) words={} ;;\n", command->get_name(),
                           shell_quoted(fmt::format("{}", fmt::join(options_of(*command), " "))));
    values += bash_values(*command);
  }
  return fmt::format(R"({}# bash completion of ozbound. What it does not know, a file or a number, is left to the shell.
_ozbound() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='{} {}'
  elif [[ $current == -* ]]; then
    case $command in
{}    esac
  else
    case $command,$before in
{}    esac
  fi
  [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _ozbound ozbound
)",
                     license, fmt::join(names_of(app), " "), fmt::join(options_of(app), " "), options, values);
}

std::string zsh_completion(const CLI::App& app) {
  std::string names, commands;
  for (const auto* command : subcommands(app)) {
    names += fmt::format("    {}\n", shell_quoted(command->get_name() + ":" + command->get_description()));
    commands += zsh_command(*command);
  }
  std::string options;
  for (const auto& row : option_rows(app))
    for (const auto& name : row.names)
      options += fmt::format(" {}", shell_quoted(name + "[" + escaped(row.description, "[]:") + "]"));
  return fmt::format(R"(#compdef ozbound
{}_ozbound() {{
  local -a commands
  local context state line
  commands=(
{}  )
  _arguments -C{} '1:subcommand:->command' '*::argument:->argument'
  case $state in
    command) _describe subcommand commands ;;
    argument)
      case $words[1] in
{}      esac ;;
  esac
}}
_ozbound "$@"
)",
                     license, names, options, commands);
}

std::string fish_completion(const CLI::App& app) {
  std::string text(license);
  for (const auto& row : option_rows(app)) {
    text += "complete -c ozbound -n __fish_use_subcommand";
    for (const auto& name : row.names) text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    text += " -d " + shell_quoted(row.description) + "\n";
  }
  for (const auto* command : subcommands(app)) {
    text += fmt::format("complete -c ozbound -f -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
                        shell_quoted(command->get_description()));
    for (const auto& row : option_rows(*command))
      if (!row.positional) text += fish_option(command->get_name(), row);
  }
  return text;
}

}  // namespace ozbound::cli
