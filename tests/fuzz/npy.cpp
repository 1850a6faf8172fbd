// SPDX-License-Identifier: BSD-3-Clause
// A NumPy file is read, every bit of it, or refused.

#include "ozbound/files/npy.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
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

/// Element (i, j) by the header's own words: the data are the last bytes of the file.
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

template <class T>
void require_elements(std::string_view file, const Matrix<T>& matrix) {
  const auto bytes = static_cast<std::uint64_t>(matrix.rows() * matrix.cols()) * sizeof(T);
  require(bytes <= max_bytes && bytes <= file.size(), "a matrix larger than what it was read from");
  const auto header = file.substr(0, file.size() - bytes);
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
    const auto matrix = cli::read_npy(cli::InputFile(file.path()), fuzz::max_bytes);
    std::visit([text](const auto& values) { fuzz::require_elements(text, values); }, matrix.values);
  } catch (const cli::InputError& refusal) {
    fuzz::require_refusal(refusal.what(), file.path());
  }
  return 0;
}
