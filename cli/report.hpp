// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/columns.hpp"

namespace CLI {
class App;
}

namespace ozbound::cli {

/// Adds --json and --wide to a subcommand. @param otherwise the output that --json replaces: "a table"
void add_output_options(CLI::App& command, bool& json, const std::string& otherwise);

/// The width of a line in characters: the variable COLUMNS, otherwise that of the terminal on standard output, otherwise 100;
/// at least 40. Unlimited with --wide.
std::size_t output_width();

/// Pairs of a name and a value.
using Table = std::vector<std::pair<std::string, std::string>>;

// Output for people, on standard output. Prints nothing if a file or JSON goes to standard output.

/// Prints a line for each pair, the second column aligned, cut to output_width(). A value that is a command of ozbound is not
/// cut.
void print_table(const Table& table);

/// Prints rows of cells, cut to output_width().
void print_columns(const std::vector<files::Cells>& rows);

/// Prints sentences, cut to output_width().
void print_paragraph(std::string_view text);

/// Prints this text unchanged.
void print_text(std::string_view text);

// Output for programs.

/// A number in JSON. Infinity, which JSON does not have, becomes "inf", and NaN "nan".
nlohmann::ordered_json json_number(double x);

/// A complex number in JSON: its real part if the imaginary part is zero, otherwise both in an array.
nlohmann::ordered_json json_number(const std::complex<double>& x);

/// Prints one object on standard output.
void print_json(const nlohmann::ordered_json& object);

/// Prints JSON text on standard output.
void print_json_text(std::string_view text);

/// Appends an object to a file that is not committed yet.
void write_json(files::AtomicFile& file, const nlohmann::ordered_json& object);

/// Writes an object to a file, whole or not at all.
void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& object);

}  // namespace ozbound::cli
