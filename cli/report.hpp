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

/// --json and --wide, of every subcommand. @param otherwise what --json takes the place of: "a table"
void add_output_options(CLI::App& command, bool& json, const std::string& otherwise);

/// Of a line for people, in characters: what the variable COLUMNS says, else the terminal that standard output is, else 100; at
/// least 40. Unlimited with --wide.
std::size_t output_width();

/// What is said, under what name.
using Table = std::vector<std::pair<std::string, std::string>>;

// For people, on standard output, but nothing where a file or JSON goes there.

/// A line each, the second column aligned, cut to output_width(); a value that is a command of ozbound stays whole.
void print_table(const Table& table);

/// Rows of cells, cut to output_width().
void print_columns(const std::vector<Cells>& rows);

/// Sentences, cut to output_width().
void print_paragraph(std::string_view text);

/// This text as it is.
void print_text(std::string_view text);

// For programs.

/// As JSON has no infinity: "inf", or "nan".
nlohmann::ordered_json json_number(double x);

/// The same of a complex number: of its real part where the imaginary part is zero, else of both in an array.
nlohmann::ordered_json json_number(const std::complex<double>& x);

/// One object on standard output.
void print_json(const nlohmann::ordered_json& object);

/// The same as text that is at hand.
void print_json_text(std::string_view text);

/// The same appended to a file still to be committed.
void write_json(AtomicFile& file, const nlohmann::ordered_json& object);

/// The same in a file, whole or not at all.
void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& object);

}  // namespace ozbound::cli
