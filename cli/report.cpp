// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/files/standard_streams.hpp"

namespace ozbound::cli {
namespace {

// Names of files come from outside and need not be UTF-8, for which dump() would throw.
std::string text_of(const nlohmann::ordered_json& object) {
  const FloatEnvironment environment;
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

bool wide = false;  // --wide

constexpr std::size_t narrowest_output = 40, width_of_pipes = 100;

/// The width that the environment states; 0 if it states none.
std::size_t stated_width() {
  const char* const columns = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
  const std::string_view text = columns == nullptr ? "" : columns;
  std::size_t width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  return error == std::errc() && end == text.data() + text.size() ? width : 0;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

void add_output_options(CLI::App& command, bool& json, const std::string& otherwise) {
  const auto claim = [&json](std::int64_t) {
    json = true;
    files::claim_standard_output();
  };
  auto* const as_json = command.add_flag_function("--json", claim, "One JSON object instead of " + otherwise);
  command.add_flag("--wide", wide, "Lines as long as they are, not cut to the terminal, or to 100 characters in a pipe")
      ->excludes(as_json);
}

std::size_t output_width() {
  if (wide) return files::unlimited_width;
  for (const auto width : {stated_width(), terminal_width()})
    if (width > 0) return std::max(width, narrowest_output);
  return width_of_pipes;
}

void print_table(const Table& table) {
  std::size_t width = 0;
  for (const auto& row : table) width = std::max(width, files::width_of(row.first));
  for (const auto& [name, value] : table) {
    const std::string padding(width - files::width_of(name) + 2, ' ');
    const bool command = value.starts_with("ozbound ");  // is meant to be copied
    print_text(name + padding + (command ? value : files::hanging(value, width + 2, output_width())) + "\n");
  }
}

void print_columns(const std::vector<files::Cells>& rows) { print_text(files::format_columns(rows, output_width())); }

void print_paragraph(std::string_view text) { print_text(files::hanging(text, 0, output_width()) + "\n"); }

void print_text(std::string_view text) {
  if (!files::standard_output_is_claimed()) fmt::print(stdout, "{}", text);
}

nlohmann::ordered_json json_number(double x) {
  const FloatEnvironment environment;
  if (std::isfinite(x)) return x;
  return x > 0 ? "inf" : x < 0 ? "-inf" : "nan";
}

nlohmann::ordered_json json_number(const std::complex<double>& x) {
  const FloatEnvironment environment;
  if (x.imag() == 0) return json_number(x.real());
  return {json_number(x.real()), json_number(x.imag())};
}

void print_json(const nlohmann::ordered_json& object) { print_json_text(text_of(object)); }

void print_json_text(std::string_view text) { fmt::print(stdout, "{}", text); }

void write_json(files::AtomicFile& file, const nlohmann::ordered_json& object) { file.write(text_of(object)); }

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& object) {
  files::AtomicFile file(path);
  write_json(file, object);
  file.commit();
}

}  // namespace ozbound::cli
