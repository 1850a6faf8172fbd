// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

#include "ozbound/core/matrix.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/input_file.hpp"

namespace ozbound::files {

enum class MatrixFormat { npy, matrix_market };

/// A matrix read from a file; row-major in memory, for any order in the file.
struct MatrixFile {
  std::variant<Matrix<double>, Matrix<float>, Matrix<std::complex<double>>, Matrix<std::complex<float>>> values;

  [[nodiscard]] Index rows() const;
  [[nodiscard]] Index cols() const;
  [[nodiscard]] bool is_complex() const { return values.index() >= 2; }
  [[nodiscard]] bool is_float() const { return values.index() % 2 == 1; }  ///< true if its numbers are binary32

  /// f8, f4, c16 or c8, NumPy's name of the element type.
  [[nodiscard]] std::string type() const;

  /// The matrix as doubles, each float exactly. @pre the matrix is real.
  [[nodiscard]] Matrix<double> to_double() &&;

  /// The matrix as complex: a real one gets zero imaginary parts. The precision stays the same.
  [[nodiscard]] MatrixFile to_complex() &&;
};

/// Reads a NumPy .npy or a Matrix Market file, or a pipe with such content. The content decides the format, not the name. `-`:
/// standard input.
///
/// .npy: two dimensions; either byte order, either storage order. Elements are f8, f4, c16 or c8, with every bit kept, or
/// integers (i1, i2, i4, i8, u1, u2, u4, u8) or truth values (b1), which become doubles. Matrix Market: array or coordinate;
/// real, integer, pattern or complex; general, symmetric, skew-symmetric or, for complex numbers, hermitian; always doubles.
/// Decimals are rounded to nearest. An integer that is not a double is refused, and so is a hermitian diagonal that is not
/// real. Every NaN is the quiet NaN 0x7ff8000000000000.
/// @param max_bytes refuse a matrix larger than this, before allocating memory for it
/// @throws InputError for anything else.
MatrixFile read_matrix(const std::filesystem::path& path, std::uint64_t max_bytes = physical_memory());

/// The format for the extension of an output; .npy for standard output (`-`), pipes and devices without an extension.
/// @throws std::invalid_argument for any extension except .npy and .mtx, and for a .npy to a terminal.
MatrixFormat output_format(const std::filesystem::path& path);

/// Writes `matrix` to a file that is not yet committed: .npy as f8, f4, c16 or c8, .mtx as an array of the shortest decimals
/// that read back as the same doubles (a float is written as the double it equals).
void write_matrix(AtomicFile& file, MatrixView<const double> matrix);
void write_matrix(AtomicFile& file, MatrixView<const float> matrix);
void write_matrix(AtomicFile& file, MatrixView<const std::complex<double>> matrix);
void write_matrix(AtomicFile& file, MatrixView<const std::complex<float>> matrix);

/// Writes and commits the file, completely or not at all.
void write_matrix(const std::filesystem::path& path, MatrixView<const double> matrix);
void write_matrix(const std::filesystem::path& path, MatrixView<const float> matrix);
void write_matrix(const std::filesystem::path& path, MatrixView<const std::complex<double>> matrix);
void write_matrix(const std::filesystem::path& path, MatrixView<const std::complex<float>> matrix);

}  // namespace ozbound::files
