// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ozbound::files {

/// `text` in single quotes for a message: at most 40 characters, with bytes that may be unprintable as \xNN.
std::string quote(std::string_view text);

/// `text` with every control character replaced by a space: one line on any terminal.
std::string one_line(std::string_view text);

/// The double nearest to the whole `text`: decimal, hexadecimal with 0x, or a signed inf or nan. Independent of the locale.
/// @throws std::invalid_argument naming `what` for anything else, or a number outside the range of a double.
double parse_real(std::string_view text, std::string_view what);

/// A complex number: a real number as in parse_real, or its real and imaginary parts, `1,-2` for 1 - 2i.
/// @throws std::invalid_argument as parse_real.
std::complex<double> parse_complex(std::string_view text, std::string_view what);

/// A text for parse_complex with the shortest decimals: `1.5`, or `1,-2` if the imaginary part is not zero.
std::string complex_text(const std::complex<double>& x);

/// The whole `text` as a decimal integer in [low, high].
/// @throws std::invalid_argument naming `what` for anything else.
std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t low, std::int64_t high);

/// The whole `text` as a decimal integer below 2^64.
/// @throws std::invalid_argument naming `what` for anything else.
std::uint64_t parse_unsigned(std::string_view text, std::string_view what);

/// A number of bytes: an integer and an optional unit, K, M, G or T with or without B or iB, always a power of 1024.
/// @throws std::invalid_argument naming `what` for anything else.
std::uint64_t parse_bytes(std::string_view text, std::string_view what);

/// A duration: a positive number and a unit, ms, s, m or h; seconds without a unit. Returned in milliseconds, rounded up.
/// @throws std::invalid_argument naming `what` for anything else, or more than 10000 h.
std::chrono::milliseconds parse_duration(std::string_view text, std::string_view what);

/// A number of bytes for people: `512 bytes`, `1.5 GiB`.
std::string format_bytes(std::uint64_t bytes);

/// A number >= 0 with four digits, rounded up, so that the text of a proven upper bound is still an upper bound.
std::string format_upper(double x);

/// The arguments quoted for a shell.
std::string shell_command(const std::vector<std::string>& arguments);

}  // namespace ozbound::files
