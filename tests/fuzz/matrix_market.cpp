// SPDX-License-Identifier: BSD-3-Clause
// A Matrix Market file is read or refused; a matrix that was read also reads back from a plain file of the same numbers.

#include "ozbound/files/matrix_market.hpp"

#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <string>
#include <variant>

#include "fuzz/fuzz.hpp"

namespace ozbound::fuzz {
namespace {

constexpr std::uint64_t max_bytes = 1 << 16;

std::string shortest(double x) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::abs(x)).ptr;
  return (std::signbit(x) && !std::isnan(x) ? "-" : "") + std::string(text.data(), end);
}

std::string shortest(const std::complex<double>& x) { return shortest(x.real()) + " " + shortest(x.imag()); }

template <class T>
std::string plain_file(const Matrix<T>& matrix) {
  auto text = std::string("%%MatrixMarket matrix array ") + (std::is_same_v<T, double> ? "real" : "complex") + " general\n" +
              std::to_string(matrix.rows()) + " " + std::to_string(matrix.cols()) + "\n";
  for (Index j = 0; matrix.rows() > 0 && j < matrix.cols(); ++j)
    for (Index i = 0; i < matrix.rows(); ++i) text += shortest(matrix(i, j)) + "\n";
  return text;
}

files::MatrixFile read(const MemoryFile& file) { return files::read_matrix_market(files::InputFile(file.path()), max_bytes); }

template <class T>
void require_same(const Matrix<T>& x, const Matrix<T>& y) {
  require(x.rows() == y.rows() && x.cols() == y.cols(), "another shape reads back");
  const auto bytes = static_cast<std::size_t>(x.rows() * x.cols()) * sizeof(T);
  require(bytes <= max_bytes, "a matrix larger than was allowed");
  require(bytes == 0 || std::memcmp(x.data(), y.data(), bytes) == 0, "other numbers read back");
}

template <class T>
void require_reads_back(const Matrix<T>& matrix) {
  const auto again = plain_file(matrix);
  const auto read_again = read(MemoryFile(again));
  const auto* same_type = std::get_if<Matrix<T>>(&read_again.values);
  require(same_type != nullptr, "another type reads back");
  require_same(matrix, *same_type);
}

}  // namespace
}  // namespace ozbound::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ozbound::fuzz;
  const MemoryFile file(text_of(data, size));
  ozbound::files::MatrixFile matrix;
  try {
    matrix = read(file);
  } catch (const ozbound::files::InputError& refusal) {
    require_refusal(refusal.what(), file.path());
    return 0;
  }
  require(!matrix.is_float(), "no Matrix Market file holds floats");
  if (matrix.is_complex())
    require_reads_back(std::get<ozbound::Matrix<std::complex<double>>>(matrix.values));
  else
    require_reads_back(std::get<ozbound::Matrix<double>>(matrix.values));
  return 0;
}
