// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ozbound/files/matrix_file.hpp"

namespace ozbound::files {

/// Number of bytes of a file that identify its format, with room for blanks before %%MatrixMarket.
inline constexpr std::size_t longest_signature = 64;

/// True if a file that begins with `head` claims to be a Matrix Market file: %%MatrixMarket, perhaps after a byte order mark of
/// UTF-8 and blanks.
bool is_matrix_market(std::string_view head);

/// https://math.nist.gov/MatrixMarket/formats.html; see read_matrix. Stricter than many readers: one entry per line, and
/// no entry above the diagonal of a symmetric file. Repeated entries are summed. Comments and blank lines may stand anywhere
/// after the first line.
MatrixFile read_matrix_market(const InputFile& file, std::uint64_t max_bytes);

/// Writes `array real general` or `array complex general`.
void write_matrix_market(AtomicFile& file, MatrixView<const double> matrix);
void write_matrix_market(AtomicFile& file, MatrixView<const float> matrix);
void write_matrix_market(AtomicFile& file, MatrixView<const std::complex<double>> matrix);
void write_matrix_market(AtomicFile& file, MatrixView<const std::complex<float>> matrix);

}  // namespace ozbound::files
