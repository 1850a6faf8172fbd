// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>

#include "ozbound/files/matrix_file.hpp"

namespace ozbound::files {

/// True if a file that begins with `head` claims to be a NumPy .npy file.
bool is_npy(std::string_view head);

/// Reads format versions 1.0, 2.0 and 3.0 of numpy.lib.format. See read_matrix.
MatrixFile read_npy(const InputFile& file, std::uint64_t max_bytes);

/// Writes version 1.0, row-major, in this machine's byte order.
void write_npy(AtomicFile& file, MatrixView<const double> matrix);
void write_npy(AtomicFile& file, MatrixView<const float> matrix);
void write_npy(AtomicFile& file, MatrixView<const std::complex<double>> matrix);
void write_npy(AtomicFile& file, MatrixView<const std::complex<float>> matrix);

}  // namespace ozbound::files
