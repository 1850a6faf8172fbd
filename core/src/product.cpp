// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/product.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "ozbound/core/detail/call_checks.hpp"

namespace ozbound {
namespace {

bool finite(double x) { return is_finite(bits_of(x), binary64); }
bool finite(std::complex<double> x) { return finite(x.real()) && finite(x.imag()); }

/// Checks that twice a matrix's size fits an Index.
template <class View>
void check_doubled(const View& view, const char* name) {
  constexpr Index most = std::numeric_limits<Index>::max() / 2;
  std::visit(
      [name](const auto& v) {
        if (std::max({v.rows(), v.cols(), v.row_stride(), v.col_stride()}) > most)
          throw std::invalid_argument(
              std::string(name) + " must have sizes and strides below 2^62, being complex: " + shape_text(v.rows(), v.cols()));
      },
      view.typed());
}

/// The object to which a C that is never written points.
template <class T>
T nothing{};

template <class Output>
bool has_no_memory(const Output& c) {
  return std::visit([]<class T>(const MatrixView<T>& view) { return view.data() == &nothing<T>; }, c.typed());
}

/// Checks that C has memory.
template <class Output>
void check_given(const Output& c) {
  if (!c.as_input().empty() && has_no_memory(c))
    throw std::invalid_argument("c must be given: this product has none, and can only be decided for");
}

/// Checks shapes, and that all matrices that are read or written lie in one memory.
template <class AnyProduct>
void check_fit(const AnyProduct& p) {
  const bool reads_c0 = !is_zero(p.beta);
  check_factors(p.a, p.b);
  check_c("c", p.c, p.a.rows(), p.b.cols());
  if (reads_c0) check_c("c0", p.c0, p.m(), p.n());
  check_place("a", p.a, p.c), check_place("b", p.b, p.c);
  if (reads_c0) check_place("c0", p.c0, p.c);
}

}  // namespace

void RealProduct::check_shapes() const { check_fit(*this); }

void RealProduct::check() const {
  check_shapes();
  check_given(c);
  check_overlaps(a, b, c, is_zero(beta) ? nullptr : &c0);
}

RealProduct RealProduct::without_unread() const {
  auto product = *this;
  if (is_zero(alpha) || m() == 0 || n() == 0) {
    product.a = a.block(0, 0, a.rows(), 0);
    product.b = b.block(0, 0, 0, b.cols());
  }
  if (product.k() == 0) product.alpha = 1;
  return product;
}

bool RealProduct::all_special() const { return (!is_zero(alpha) && k() > 0 && !finite(alpha)) || !finite(beta); }

bool ComplexProduct::reads_operands() const { return !is_zero(alpha) && m() > 0 && n() > 0; }
bool ComplexProduct::reads_c0() const { return !is_zero(beta); }
bool ComplexProduct::has_product() const { return reads_operands() && k() > 0; }
bool ComplexProduct::all_special() const { return (has_product() && !finite(alpha)) || !finite(beta); }
bool ComplexProduct::real_scalars() const { return is_zero(alpha.imag()) && is_zero(beta.imag()); }

void ComplexProduct::check_shapes() const {
  check_doubled(a, "a"), check_doubled(b, "b"), check_doubled(c, "c");
  if (reads_c0()) check_doubled(c0, "c0");
  check_fit(*this);
}

void ComplexProduct::check() const {
  check_shapes();
  check_given(c);
  check_overlaps(a, b, c, reads_c0() ? &c0 : nullptr);
}

Product::Product(InputView a, InputView b) : Product(a, b, unwritten(a.rows(), b.cols(), binary64, a.place())) {}

Product::Product(ComplexInputView a, ComplexInputView b)
    : Product(a, b, unwritten_complex(a.rows(), b.cols(), binary64, a.place())) {}

OutputView unwritten(Index rows, Index cols, const Format& format, Place place) {
  const auto of = [&]<class Real>(Real) { return OutputView(MatrixView<Real>(&nothing<Real>, rows, cols, 1, rows)).at(place); };
  return format.precision == binary64.precision ? of(double{}) : of(float{});
}

bool is_unwritten(const OutputView& c) { return has_no_memory(c); }

ComplexOutputView unwritten_complex(Index rows, Index cols, const Format& format, Place place) {
  const auto of = [&]<class Real>(Real) {
    using Number = std::complex<Real>;
    return ComplexOutputView(MatrixView<Number>(&nothing<Number>, rows, cols, 1, rows)).at(place);
  };
  return format.precision == binary64.precision ? of(double{}) : of(float{});
}

}  // namespace ozbound
