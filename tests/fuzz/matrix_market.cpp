// A Matrix Market file is read or refused, and what was read reads back from a plain file of the same numbers.

#include "matrix_market.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include "fuzz/fuzz.hpp"

namespace ozbound::fuzz {
namespace {

constexpr std::uint64_t max_bytes = 1 << 16;

std::string shortest(double x) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::abs(x)).ptr;
  return (std::signbit(x) && !std::isnan(x) ? "-" : "") + std::string(text.data(), end);
}

std::string plain_file(const Matrix<double>& matrix) {
  auto text =
      "%%MatrixMarket matrix array real general\n" + std::to_string(matrix.rows()) + " " + std::to_string(matrix.cols()) + "\n";
  for (Index j = 0; matrix.rows() > 0 && j < matrix.cols(); ++j)
    for (Index i = 0; i < matrix.rows(); ++i) text += shortest(matrix(i, j)) + "\n";
  return text;
}

Matrix<double> read(const MemoryFile& file) {
  auto matrix = std::get<Matrix<double>>(cli::read_matrix_market(cli::InputFile(file.path()), max_bytes).values);
  const auto bytes = static_cast<std::uint64_t>(matrix.rows() * matrix.cols()) * sizeof(double);
  require(bytes <= max_bytes, "a matrix larger than was allowed");
  return matrix;
}

void require_same(const Matrix<double>& x, const Matrix<double>& y) {
  require(x.rows() == y.rows() && x.cols() == y.cols(), "another shape reads back");
  const auto bytes = static_cast<std::size_t>(x.rows() * x.cols()) * sizeof(double);
  require(bytes == 0 || std::memcmp(x.data(), y.data(), bytes) == 0, "other numbers read back");
}

}  // namespace
}  // namespace ozbound::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ozbound::fuzz;
  const MemoryFile file(text_of(data, size));
  ozbound::Matrix<double> matrix;
  try {
    matrix = read(file);
  } catch (const ozbound::cli::InputError& refusal) {
    require_refusal(refusal.what(), file.path());
    return 0;
  }
  const auto again = plain_file(matrix);
  require_same(matrix, read(MemoryFile(again)));
  return 0;
}
