// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/matrix_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/files/matrix_market.hpp"
#include "ozbound/files/npy.hpp"
#include "ozbound/files/standard_streams.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::files {
namespace {

template <class T>
void write_formatted(AtomicFile& file, MatrixView<const T> matrix) {
  const FloatEnvironment environment;
  if (output_format(file.path()) == MatrixFormat::npy)
    write_npy(file, matrix);
  else
    write_matrix_market(file, matrix);
}

template <class T>
void write_whole(const std::filesystem::path& path, MatrixView<const T> matrix) {
  output_format(path);  // may refuse, before a file is made
  AtomicFile file(path);
  write_formatted(file, matrix);
  file.commit();
}

template <class T>
MatrixFile complex_of(const Matrix<T>& real) {
  Matrix<std::complex<T>> out(real.rows(), real.cols());
  std::copy_n(real.data(), real.rows() * real.cols(), out.data());
  return {std::move(out)};
}

}  // namespace

Index MatrixFile::rows() const {
  return std::visit([](const auto& matrix) { return matrix.rows(); }, values);
}

Index MatrixFile::cols() const {
  return std::visit([](const auto& matrix) { return matrix.cols(); }, values);
}

Matrix<double> MatrixFile::to_double() && {
  const FloatEnvironment environment;
  if (auto* doubles = std::get_if<Matrix<double>>(&values)) return std::move(*doubles);
  const auto& floats = std::get<Matrix<float>>(values);
  Matrix<double> out(floats.rows(), floats.cols());
  std::copy_n(floats.data(), floats.rows() * floats.cols(), out.data());
  return out;
}

std::string MatrixFile::type() const {
  const bool narrow = is_float();
  if (is_complex()) return narrow ? "c8" : "c16";
  return narrow ? "f4" : "f8";
}

MatrixFile MatrixFile::to_complex() && {
  const FloatEnvironment environment;
  if (is_complex()) return std::move(*this);
  return is_float() ? complex_of(std::get<Matrix<float>>(values)) : complex_of(std::get<Matrix<double>>(values));
}

MatrixFile read_matrix(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const FloatEnvironment environment;
  const InputFile file(path);
  const auto head = file.head(longest_signature);
  if (head.empty()) throw InputError(file.name(), "the file is empty");
  if (is_npy(head)) return read_npy(file, max_bytes);
  if (is_matrix_market(head)) return read_matrix_market(file, max_bytes);
  constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"PK\x03\x04", "a zip archive, as .npz files are: save the array that you mean as .npy, or unzip it"},
      {"PK\x05\x06", "an empty zip archive"},
      {"\x1f\x8b", "compressed by gzip: gunzip it"},
      {"BZh", "compressed by bzip2: bunzip2 it"},
      {"\xFD"
       "7zXZ",
       "compressed by xz: unxz it"},
      {"\x28\xB5\x2F\xFD", "compressed by zstd: unzstd it"},
      {"\xFF\xFE", "a text in UTF-16: save it as UTF-8"},
      {"\xFE\xFF", "a text in UTF-16: save it as UTF-8"},
      {"\x89HDF", "an HDF5 file: save the matrix that you mean as .npy or .mtx"},
      {"MATLAB ", "a MATLAB file: save the matrix that you mean as .npy or .mtx"}};
  for (const auto& [signature, what] : others)
    if (head.starts_with(signature)) throw InputError(file.name(), std::string(what));
  constexpr std::size_t most_quoted = 14;
  throw InputError(file.name(),
                   "neither a NumPy .npy nor a Matrix Market file: it begins with " + quote(head.substr(0, most_quoted)));
}

MatrixFormat output_format(const std::filesystem::path& path) {
  const auto extension = path.extension();
  if (extension == ".npy") return MatrixFormat::npy;
  if (extension == ".mtx") return MatrixFormat::matrix_market;
  const bool to_terminal = is_standard_stream(path) && isatty(STDOUT_FILENO) != 0;
  if (to_terminal) throw std::invalid_argument("-: a .npy file is not written to a terminal");
  if (is_stream(path)) return MatrixFormat::npy;
  throw std::invalid_argument(path.string() + ": a matrix is written to a file that ends in .npy or .mtx");
}

void write_matrix(AtomicFile& file, MatrixView<const double> matrix) { write_formatted(file, matrix); }
void write_matrix(AtomicFile& file, MatrixView<const float> matrix) { write_formatted(file, matrix); }
void write_matrix(AtomicFile& file, MatrixView<const std::complex<double>> matrix) { write_formatted(file, matrix); }
void write_matrix(AtomicFile& file, MatrixView<const std::complex<float>> matrix) { write_formatted(file, matrix); }
void write_matrix(const std::filesystem::path& path, MatrixView<const double> matrix) { write_whole(path, matrix); }
void write_matrix(const std::filesystem::path& path, MatrixView<const float> matrix) { write_whole(path, matrix); }
void write_matrix(const std::filesystem::path& path, MatrixView<const std::complex<double>> matrix) {
  write_whole(path, matrix);
}
void write_matrix(const std::filesystem::path& path, MatrixView<const std::complex<float>> matrix) {
  write_whole(path, matrix);
}

}  // namespace ozbound::files
