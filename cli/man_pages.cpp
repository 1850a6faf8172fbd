// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "help.hpp"
#include "option_table.hpp"
#include "pages.hpp"

namespace ozbound::cli {
namespace {

/// A text for troff: escapes backslashes, hyphens that are minus signs, and lines that would be requests.
std::string troff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + troff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + troff(text) + "\\fR"; }

std::string header(const std::string& page, const std::string& name, const std::string& description) {
  return fmt::format(".TH {} 1 \"\" \"Ozbound {}\" \"Ozbound\"\n.SH NAME\n{} \\- {}\n", page, OZBOUND_VERSION, troff(name),
                     troff(description));
}

std::string argument_synopsis(const OptionRow& row) {
  const auto name = italic(row.names.front());
  return row.required ? name : "[" + name + (row.repeated ? " ..." : "") + "]";
}

std::string synopsis(const CLI::App& command) {
  auto text = ".SH SYNOPSIS\n" + bold("ozbound " + command.get_name());
  const auto rows = option_rows(command);
  for (const auto& row : rows)
    if (row.positional) text += " " + argument_synopsis(row);
  for (const auto& row : rows)
    if (!row.positional && row.required) text += fmt::format(" {} {}", bold(row.names.back()), italic(row.value));
  return text + " [" + italic("OPTION") + " ...]\n";
}

std::string entry(const OptionRow& row) {
  std::string names;
  for (const auto& name : row.names) names += (names.empty() ? "" : ", ") + (row.positional ? italic(name) : bold(name));
  if (!row.value.empty()) names += " " + italic(row.value);
  return ".TP\n" + names + "\n" + troff(row.description) + (row.required ? " (required)" : "") + "\n";
}

std::string entries(const CLI::App& command, bool positional, const char* title) {
  std::string text;
  for (const auto& row : option_rows(command))
    if (row.positional == positional) text += entry(row);
  return text.empty() ? "" : fmt::format(".SH {}\n", title) + text;
}

/// Lines to be shown unchanged.
std::string block(const char* title, const std::string& text) {
  return fmt::format(".SH {}\n.nf\n{}\n.fi\n", title, troff(text));
}

std::string subcommand_page(const CLI::App& command) {
  auto page = header("ozbound\\-" + command.get_name(), "ozbound-" + command.get_name(), command.get_description()) +
              synopsis(command) + entries(command, true, "ARGUMENTS") + entries(command, false, "OPTIONS");
  if (command.get_footer().find(target_help()) != std::string::npos) page += block("TARGETS", target_help());
  return page + block("EXIT STATUS", exit_code_help()) + ".SH SEE ALSO\n" + bold("ozbound") + "(1)\n";
}

constexpr std::pair<const char*, const char*> variables[] = {
    {"COLUMNS", "How many characters a line for people may have; else as many as the terminal shows, in a pipe 100."},
    {"OMP_NUM_THREADS", "Threads, where --threads gives none."},
    {"OZBOUND_KERNEL", "The integer kernel, of those that ozbound info lists."},
    {"OZBOUND_CUDA_PLUGIN", "Where the CUDA plug-in is; none: nowhere."},
    {"XDG_CACHE_HOME", "The folder of what ozbound calibrate measured; ~/.cache if it is not set."},
};

std::string command_page(const CLI::App& app) {
  auto page = header("ozbound", "ozbound", app.get_description()) + ".SH SYNOPSIS\n" + bold("ozbound") + " " +
              italic("SUBCOMMAND") + " [" + italic("OPTION") + " ...]\n.SH SUBCOMMANDS\n";
  for (const auto* command : subcommands(app))
    page += ".TP\n" + bold(command->get_name()) + "\n" + troff(command->get_description()) + "\n";
  page += entries(app, false, "OPTIONS") + block("TARGETS", target_help()) + block("EXIT STATUS", exit_code_help()) +
          ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : variables) page += ".TP\n" + bold(name) + "\n" + troff(meaning) + "\n";
  page += ".SH SEE ALSO\n";
  std::string others;
  for (const auto* command : subcommands(app))
    others += (others.empty() ? "" : ", ") + bold("ozbound-" + command->get_name()) + "(1)";
  return page + others + "\n";
}

}  // namespace

std::map<std::string, std::string> man_pages(const CLI::App& app) {
  std::map<std::string, std::string> pages{{"ozbound.1", command_page(app)}};
  for (const auto* command : subcommands(app)) pages["ozbound-" + command->get_name() + ".1"] = subcommand_page(*command);
  return pages;
}

}  // namespace ozbound::cli
