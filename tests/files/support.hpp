// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ozbound/files/matrix_file.hpp"
#include "support/temporary_directory.hpp"

namespace ozbound::files::test {

using ozbound::test::read_bytes;
using ozbound::test::TemporaryDirectory;
using ozbound::test::write_bytes;

template <class T>
std::string bytes_of(const std::vector<T>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A .npy file of format version `major`.0 with exactly this header and this data.
inline std::string npy_file(std::string_view header, std::string_view data, char major = 1) {
  std::string out = "\x93NUMPY";
  out += major;
  out += '\0';
  for (std::size_t byte = 0; byte < (major == 1 ? 2 : 4); ++byte) out += static_cast<char>(header.size() >> 8 * byte & 255);
  return out.append(header).append(data);
}

inline std::string npy_header(std::string_view type, std::string_view order, std::string_view shape) {
  std::string out = "{'descr': '";
  return out.append(type).append("', 'fortran_order': ").append(order).append(", 'shape': ").append(shape).append(", }\n");
}

inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
inline std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
template <class T>
auto bits(const std::complex<T>& x) {
  return std::pair(bits(x.real()), bits(x.imag()));
}

/// The bits of all elements, row after row; equal for equal matrices.
template <class T>
auto all_bits(MatrixView<T> matrix) {
  std::vector<decltype(bits(std::remove_const_t<T>{}))> out;
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) out.push_back(bits(matrix(i, j)));
  return out;
}

template <class T>
Matrix<T> matrix_of(Index rows, Index cols, const std::vector<T>& elements) {
  Matrix<T> out(rows, cols);
  for (std::size_t i = 0; i < elements.size(); ++i) out.data()[i] = elements[i];
  return out;
}

/// While an object lives, the process lacks the rights of root, which override permissions.
class Unprivileged {
 public:
  Unprivileged() {
    if (geteuid() == 0 && seteuid(65534) != 0) throw std::runtime_error("cannot give up the rights of root");
  }
  ~Unprivileged() {
    if (getuid() == 0 && seteuid(0) != 0) std::abort();
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
};

/// The message of the Error that `action` throws; a failed test if it throws none.
template <class Error = InputError, class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing of the expected type was thrown";
  return "";
}

}  // namespace ozbound::files::test
