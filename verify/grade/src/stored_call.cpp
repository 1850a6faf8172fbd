// SPDX-License-Identifier: BSD-3-Clause
#include "stored_call.hpp"
#include "ozbound/verify/hex_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace ozbound::grading {
namespace {

constexpr std::uint64_t canary_bits = 0x7ff4c0a1ca11ab1e;  // a signalling NaN: arithmetic would quiet it
constexpr std::ptrdiff_t guard = 64;                       // canaries before and after, 512 bytes
constexpr std::uintptr_t cache_line = 64;

double canary() { return std::bit_cast<double>(canary_bits); }

/// The view whose element (i, j) lies at i * ld + j if row-major, otherwise at i + j * ld.
MatrixView<const double> as_stored(MatrixView<const double> values, bool transposed) {
  return transposed ? values.transposed() : values;
}

/// Unset but finite values. A test of its own checks that C is not read if beta = 0.
Matrix<double> unset(Index rows, Index cols) {
  Matrix<double> matrix(rows, cols);
  std::fill_n(matrix.data(), rows * cols, -0x1.23456789abcdep100);
  return matrix;
}

}  // namespace

std::string to_string(const Storage& storage) {
  std::string text = storage.row_major ? "row-major" : "column-major";
  if (storage.transpose_a) text += ", A transposed";
  if (storage.transpose_b) text += ", B transposed";
  if (storage.padding != 0) text += fmt::format(", ld + {}", storage.padding);
  if (storage.shift != 0) text += fmt::format(", shifted by {} bytes", 8 * storage.shift);
  if (storage.spelling != OpSpelling::usual)
    text += fmt::format(", op said as {} and {}", op_letter(false, storage.spelling), op_letter(true, storage.spelling));
  return text;
}

StoredMatrix::StoredMatrix(MatrixView<const double> values, bool row_major, const Storage& storage)
    : rows_(values.rows()),
      cols_(values.cols()),
      ld_(std::max<Index>(1, row_major ? values.cols() : values.rows()) + storage.padding),
      row_major_(row_major),
      elements_(static_cast<std::size_t>(ld_ * (row_major ? rows_ : cols_) + 2 * guard + 16), canary()) {
  const auto address = reinterpret_cast<std::uintptr_t>(elements_.data() + guard);
  const auto to_alignment = (cache_line - address % cache_line) % cache_line / sizeof(double);
  origin_ = guard + static_cast<std::ptrdiff_t>(to_alignment) + storage.shift;
  const auto stored = view();
  for (Index i = 0; i < rows_; ++i)
    for (Index j = 0; j < cols_; ++j) stored(i, j) = values(i, j);
}

MatrixView<double> StoredMatrix::view() {
  return row_major_ ? ozbound::row_major(data(), rows_, cols_, ld_) : column_major(data(), rows_, cols_, ld_);
}

bool StoredMatrix::is_canary(std::ptrdiff_t offset) const {
  if (offset < 0) return true;
  const auto line = offset / ld_;
  const auto place = offset % ld_;
  return row_major_ ? line >= rows_ || place >= cols_ : line >= cols_ || place >= rows_;
}

std::optional<std::ptrdiff_t> StoredMatrix::overwritten_canary() const {
  for (std::size_t t = 0; t < elements_.size(); ++t) {
    const auto offset = static_cast<std::ptrdiff_t>(t) - origin_;
    if (is_canary(offset) && std::bit_cast<std::uint64_t>(elements_[t]) != canary_bits) return offset;
  }
  return std::nullopt;
}

std::size_t StoredMatrix::extent() const {
  const Index lines = row_major_ ? rows_ : cols_;
  const Index length = row_major_ ? cols_ : rows_;
  return rows_ == 0 || cols_ == 0 ? 0 : static_cast<std::size_t>((lines - 1) * ld_ + length);
}

std::optional<std::ptrdiff_t> StoredMatrix::first_difference(const StoredMatrix& earlier) const {
  for (std::size_t t = 0; t < elements_.size(); ++t)
    if (std::bit_cast<std::uint64_t>(elements_[t]) != std::bit_cast<std::uint64_t>(earlier.elements_[t]))
      return static_cast<std::ptrdiff_t>(t) - origin_;
  return std::nullopt;
}

StoredCall::StoredCall(const Operands& in, const Storage& storage)
    : a(as_stored(in.a, storage.transpose_a), storage.row_major, storage),
      b(as_stored(in.b, storage.transpose_b), storage.row_major, storage),
      c(in.beta == 0 && in.c0.empty() ? unset(in.a.rows(), in.b.cols()).view() : in.c0, storage.row_major, storage),
      call_{.row_major = storage.row_major,
            .transpose_a = storage.transpose_a,
            .transpose_b = storage.transpose_b,
            .spelling = storage.spelling,
            .m = in.a.rows(),
            .n = in.b.cols(),
            .k = in.a.cols(),
            .alpha = in.alpha,
            .a = a.data(),
            .lda = a.ld(),
            .b = b.data(),
            .ldb = b.ld(),
            .beta = in.beta,
            .c = c.data(),
            .ldc = c.ld()} {}

Matrix<double> StoredCall::result() {
  Matrix<double> values(call_.m, call_.n);
  const auto stored = c.view();
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j) values(i, j) = stored(i, j);
  return values;
}

Matrix<double> product(const ForeignGemm& gemm, const Operands& operands, const Storage& storage) {
  StoredCall call(operands, storage);
  call.run(gemm);
  return call.result();
}

std::vector<Storage> layouts_of(const ForeignGemm& gemm, const Storage& storage) {
  std::vector<Storage> all{storage};
  if (!gemm.takes_row_major() || storage.row_major) return all;
  all.push_back(storage);
  all.back().row_major = true;
  return all;
}

std::vector<StoredProduct> products(const ForeignGemm& gemm, const Operands& operands, const Storage& storage) {
  std::vector<StoredProduct> all;
  for (const auto& layout : layouts_of(gemm, storage)) all.push_back({layout, product(gemm, operands, layout)});
  return all;
}

std::string describe(const BlasCall& call) {
  return fmt::format("{}({}{}, {} x {} x {}, alpha={}, lda={}, ldb={}, beta={}, ldc={})",
                     call.row_major ? "row-major dgemm" : "dgemm", op_letter(call.transpose_a, call.spelling),
                     op_letter(call.transpose_b, call.spelling), call.m, call.n, call.k, hex_text(call.alpha), call.lda,
                     call.ldb, hex_text(call.beta), call.ldc);
}

}  // namespace ozbound::grading

namespace ozbound {

char op_letter(bool transpose, OpSpelling spelling) {
  constexpr char letters[][2] = {{'N', 'T'}, {'n', 't'}, {'N', 'C'}, {'n', 'c'}};
  return letters[static_cast<std::size_t>(spelling)][transpose ? 1 : 0];
}

}  // namespace ozbound
