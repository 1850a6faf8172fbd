// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ozbound/files/atomic_file.hpp"

namespace ozbound::cli {

/// What is said, under what name.
using Table = std::vector<std::pair<std::string, std::string>>;

/// For people: one line each on standard output, the second column aligned.
void print_table(const Table& table);

/// For people: this text on standard output.
void print_text(std::string_view text);

/// As JSON has no infinity: "inf", or "nan".
nlohmann::ordered_json json_number(double x);

/// The same of a complex number: of its real part where the imaginary part is zero, else of both in an array.
nlohmann::ordered_json json_number(const std::complex<double>& x);

/// For programs: one object on standard output.
void print_json(const nlohmann::ordered_json& object);

/// The same appended to a file still to be committed.
void write_json(AtomicFile& file, const nlohmann::ordered_json& object);

/// The same in a file, whole or not at all.
void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& object);

}  // namespace ozbound::cli
