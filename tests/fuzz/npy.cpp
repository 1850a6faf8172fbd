// SPDX-License-Identifier: BSD-3-Clause
// A NumPy file is read bit for bit, or refused.

#include "ozbound/files/npy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <variant>

#include "fuzz/fuzz.hpp"

namespace ozbound::fuzz {
namespace {

constexpr std::uint64_t max_bytes = 1 << 18;

template <class T>
constexpr std::size_t numbers_in = 1;
template <class T>
constexpr std::size_t numbers_in<std::complex<T>> = 2;

/// Element (i, j) located by the header only.
template <class T>
std::array<char, sizeof(T)> stored_element(std::string_view header, std::string_view data, const Matrix<T>& matrix, Index i,
                                           Index j) {
  const bool by_columns = header.find("True", 10) != std::string_view::npos;
  const auto place = static_cast<std::size_t>(by_columns ? j * matrix.rows() + i : i * matrix.cols() + j);
  std::array<char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), data.data() + place * sizeof(T), sizeof(T));
  const bool big_endian = header.find(numbers_in<T> == 1 ? ">f" : ">c", 10) != std::string_view::npos;
  if (big_endian != (std::endian::native == std::endian::little)) return bytes;
  constexpr std::size_t width = sizeof(T) / numbers_in<T>;
  for (std::size_t at = 0; at < sizeof(T); at += width) std::reverse(bytes.data() + at, bytes.data() + at + width);
  return bytes;
}

/// The header: all bytes before the data. Two of them (version 1) or four hold the length.
std::string_view header_of(std::string_view file) {
  std::size_t length = 0, at = 8;
  const std::size_t bytes = file[6] == 1 ? 2 : 4;
  for (std::size_t t = 0; t < bytes; ++t) length |= std::size_t{static_cast<unsigned char>(file[at + t])} << (8 * t);
  return file.substr(0, at + bytes + length);
}

/// The element type as the header spells it: `<i8` is '<', 'i' and 8. Other spellings than an order, a kind and a width are not
/// understood here: their elements are not compared.
struct StoredType {
  char order = '<', kind = 'f';
  std::uint64_t width = 0;

  explicit StoredType(std::string_view header) {
    for (std::size_t at = 10; at + 2 < header.size(); ++at) {
      if (std::string_view("<>|=").find(header[at]) == std::string_view::npos) continue;
      if (std::string_view("biufc").find(header[at + 1]) == std::string_view::npos) continue;
      if (header[at + 2] < '1' || header[at + 2] > '9') continue;
      order = header[at], kind = header[at + 1], width = static_cast<std::uint64_t>(header[at + 2] - '0');
      return;
    }
  }
};

/// Requires that integers and truth values are read as equal doubles.
void require_integers(std::string_view file, const StoredType& type, const Matrix<double>& matrix) {
  const auto count = static_cast<std::uint64_t>(matrix.rows() * matrix.cols());
  require(count * type.width <= max_bytes && count * type.width <= file.size(), "a matrix larger than what it was read from");
  const auto header = header_of(file);
  const bool by_columns = header.find("True", 10) != std::string_view::npos;
  for (Index i = 0; count > 0 && i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) {
      const auto place = static_cast<std::uint64_t>(by_columns ? j * matrix.rows() + i : i * matrix.cols() + j);
      const auto data = file.substr(header.size() + place * type.width, type.width);
      std::uint64_t value = 0;
      for (std::uint64_t t = 0; t < type.width; ++t)
        value = value << 8 | static_cast<unsigned char>(data[type.order == '>' ? t : type.width - 1 - t]);
      const std::uint64_t sign = std::uint64_t{1} << (8 * type.width - 1);
      const bool negative = type.kind == 'i' && (value & sign) != 0;
      const std::uint64_t magnitude = negative ? (sign << 1) - value : value;  // for 8 bytes modulo 2^64
      const double read = matrix(i, j), size = read < 0 ? -read : read;
      require((read < 0) == negative && size < 0x1p64 && size == static_cast<double>(magnitude) &&
                  static_cast<std::uint64_t>(size) == magnitude,
              "an integer is not the file's");
    }
}

/// Requires that 16-bit numbers are read as equal floats; any NaN stands for NaN.
void require_halves(std::string_view file, const StoredType& type, const Matrix<float>& matrix) {
  const auto count = static_cast<std::uint64_t>(matrix.rows() * matrix.cols());
  require(2 * count <= max_bytes && 2 * count <= file.size(), "a matrix larger than what it was read from");
  const auto header = header_of(file);
  const bool by_columns = header.find("True", 10) != std::string_view::npos;
  for (Index i = 0; count > 0 && i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) {
      const auto place = static_cast<std::uint64_t>(by_columns ? j * matrix.rows() + i : i * matrix.cols() + j);
      const auto data = file.substr(header.size() + 2 * place, 2);
      const int low = static_cast<unsigned char>(data[type.order == '>' ? 1 : 0]);
      const int bits = low | static_cast<unsigned char>(data[type.order == '>' ? 0 : 1]) << 8;
      const int exponent = bits >> 10 & 31, fraction = bits & 1023;
      const float size = exponent == 31  ? std::numeric_limits<float>::infinity()
                         : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                         : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
      const float read = matrix(i, j);
      const bool is_nan = exponent == 31 && fraction != 0;
      require(is_nan ? read != read : std::signbit(read) == (bits >> 15 != 0) && std::abs(read) == size,
              "a number of 16 bits is not the file's");
    }
}

template <class T>
void require_elements(std::string_view file, const Matrix<T>& matrix) {
  const StoredType type(header_of(file));
  if (type.width == 0) return;
  if constexpr (std::is_same_v<T, double>) {
    if (type.kind != 'f') return require_integers(file, type, matrix);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (type.width == 2) return require_halves(file, type, matrix);
  }
  const auto bytes = static_cast<std::uint64_t>(matrix.rows() * matrix.cols()) * sizeof(T);
  require(bytes <= max_bytes && bytes <= file.size(), "a matrix larger than what it was read from");
  const auto header = header_of(file);
  for (Index i = 0; bytes > 0 && i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) {
      const auto stored = stored_element(header, file.substr(header.size()), matrix, i, j);
      require(std::memcmp(stored.data(), &matrix(i, j), sizeof(T)) == 0, "an element is not the file's");
    }
}

}  // namespace
}  // namespace ozbound::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ozbound;
  const auto text = fuzz::text_of(data, size);
  const fuzz::MemoryFile file(text);
  try {
    const auto matrix = files::read_npy(files::InputFile(file.path()), fuzz::max_bytes);
    std::visit([text](const auto& values) { fuzz::require_elements(text, values); }, matrix.values);
  } catch (const files::InputError& refusal) {
    fuzz::require_refusal(refusal.what(), file.path());
  }
  return 0;
}
