// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ozbound::cli {

/// `text` in single quotes, fit for a message: at most 40 characters of it, and what may not be printable as \xNN.
std::string quote(std::string_view text);

/// `text` with every control character replaced by a space: one line on any terminal.
std::string one_line(std::string_view text);

/// The double nearest to all of `text`: decimal, hexadecimal with 0x, or a signed inf or nan. No locale is consulted.
/// @throws std::invalid_argument naming `what` for anything else, or a number outside the range of a double.
double parse_real(std::string_view text, std::string_view what);

/// A complex number: a real one as above, or its real and imaginary parts, `1,-2` for 1 - 2i.
/// @throws std::invalid_argument as parse_real.
std::complex<double> parse_complex(std::string_view text, std::string_view what);

/// As parse_complex reads it, with the shortest decimals: `1.5`, or `1,-2` where the imaginary part is not zero.
std::string complex_text(const std::complex<double>& x);

/// All of `text` as a decimal integer in [low, high].
/// @throws std::invalid_argument naming `what` for anything else.
std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t low, std::int64_t high);

/// All of `text` as a decimal integer below 2^64.
/// @throws std::invalid_argument naming `what` for anything else.
std::uint64_t parse_unsigned(std::string_view text, std::string_view what);

/// A number of bytes: an integer and perhaps a unit, K, M, G or T with or without B or iB, always a power of 1024.
/// @throws std::invalid_argument naming `what` for anything else.
std::uint64_t parse_bytes(std::string_view text, std::string_view what);

/// A length of time: a positive number and a unit, ms, s, m or h; seconds without one. In milliseconds, rounded up.
/// @throws std::invalid_argument naming `what` for anything else, or more than 10000 h.
std::chrono::milliseconds parse_duration(std::string_view text, std::string_view what);

/// A number of bytes for people: `512 bytes`, `1.5 GiB`.
std::string format_bytes(std::uint64_t bytes);

/// A number >= 0 with four digits, never below it: what is proven of an upper bound stays true of its text.
std::string format_upper(double x);

/// These arguments as a shell would take them.
std::string shell_command(const std::vector<std::string>& arguments);

}  // namespace ozbound::cli
