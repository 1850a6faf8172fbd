// SPDX-License-Identifier: BSD-3-Clause
#include "blas_arguments.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace ozbound {
namespace {

template <class T>
constexpr Index most_elements = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(T));

/// A matrix as stored, with checks that use its own names. A matrix that is not read may be null, and of any size.
template <class T>
MatrixView<T> stored(Layout layout, T* data, Index rows, Index cols, Index ld, bool read, const std::string& name) {
  static std::remove_const_t<T> unread{};
  const Index length = layout == Layout::row_major ? cols : rows;
  const Index lines = layout == Layout::row_major ? rows : cols;
  const Index least = std::max<Index>(1, length);
  if (ld < least)
    throw std::invalid_argument("ld" + name + " must be at least " + std::to_string(least) + ": " + std::to_string(ld));
  if (!read) return {&unread, rows, cols, 0, 0};
  if (data == nullptr && rows > 0 && cols > 0) throw std::invalid_argument(name + " must not be null");
  if (lines > 0 && (length > most_elements<T> || lines - 1 > (most_elements<T> - length) / ld))
    throw std::invalid_argument(name + " is beyond the address space: " + std::to_string(rows) + " x " + std::to_string(cols) +
                                " with ld" + name + " = " + std::to_string(ld));
  return layout == Layout::row_major ? row_major(data, rows, cols, ld) : column_major(data, rows, cols, ld);
}

template <class T>
MatrixView<const T> operand(Layout layout, Op op, const T* data, Index rows, Index cols, Index ld, bool read,
                            const std::string& name) {
  if (op != Op::none && op != Op::transpose && op != Op::conjugate_transpose)
    throw std::invalid_argument("op_" + name + " must be none, transpose or conjugate_transpose");
  const bool as_stored = op == Op::none;
  const auto view = stored(layout, data, as_stored ? rows : cols, as_stored ? cols : rows, ld, read, name);
  return as_stored ? view : view.transposed();
}

/// The same number, converted by its bits, so that a subnormal number survives a caller's flush-to-zero.
double exactly(double x) { return x; }
double exactly(float x) { return double_from_bits(widen_bits(x)); }
template <class Real>
std::complex<double> exactly(const std::complex<Real>& x) {
  return {exactly(x.real()), exactly(x.imag())};
}

}  // namespace

void check_size(Index size, const char* name) {
  if (size < 0) throw std::invalid_argument(std::string(name) + " must not be negative: " + std::to_string(size));
}

void check_layout(Layout layout) {
  if (layout != Layout::row_major && layout != Layout::column_major)
    throw std::invalid_argument("layout must be row_major or column_major");
}

template <class T, class C>
BlasViews<T, C> views_of(const BlasArguments<T, C>& x, bool used) {
  check_layout(x.layout);
  check_size(x.m, "m");
  check_size(x.n, "n");
  check_size(x.k, "k");
  const auto alpha = exactly(x.alpha), beta = exactly(x.beta);
  const bool read = used && !is_zero(alpha);
  const bool c_used = used && (!std::is_const_v<C> || !is_zero(beta));
  return {operand(x.layout, x.op_a, x.a, x.m, x.k, x.lda, read, "a"),
          operand(x.layout, x.op_b, x.b, x.k, x.n, x.ldb, read, "b"),
          stored(x.layout, x.c, x.m, x.n, x.ldc, c_used, "c"),
          alpha,
          beta,
          x.op_a == Op::conjugate_transpose,
          x.op_b == Op::conjugate_transpose};
}

Machine machine_of(const BlasOptions& options) {
  return options.machine != nullptr ? *options.machine : Machine::cpu(options.threads);
}

Choices choices_of(const BlasOptions& options) {
  return {.residues = options.residues, .native = options.native, .costs = options.costs};
}

MultiplyOptions multiply_options(const BlasOptions& options) {
  return {.workspace = options.workspace, .prepared_a = options.prepared_a, .prepared_b = options.prepared_b};
}

using ComplexDouble = std::complex<double>;
using ComplexFloat = std::complex<float>;

template BlasViews<double, double> views_of(const BlasArguments<double, double>&, bool);
template BlasViews<float, float> views_of(const BlasArguments<float, float>&, bool);
template BlasViews<double, const double> views_of(const BlasArguments<double, const double>&, bool);
template BlasViews<float, const float> views_of(const BlasArguments<float, const float>&, bool);
template BlasViews<ComplexDouble> views_of(const BlasArguments<ComplexDouble>&, bool);
template BlasViews<ComplexFloat> views_of(const BlasArguments<ComplexFloat>&, bool);
template BlasViews<ComplexDouble, const ComplexDouble> views_of(const BlasArguments<ComplexDouble, const ComplexDouble>&, bool);
template BlasViews<ComplexFloat, const ComplexFloat> views_of(const BlasArguments<ComplexFloat, const ComplexFloat>&, bool);

}  // namespace ozbound
