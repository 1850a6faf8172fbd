// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/real_representation.hpp"

#include <optional>
#include <utility>

#include "ozbound/core/detail/first_exception.hpp"

namespace ozbound {
namespace {

/// Flips only the sign bit, also of NaNs and subnormal numbers, in any floating-point environment.
double negated(double x) { return double_from_bits(bits_of(x) ^ binary64.sign); }
float negated(float x) { return float_from_bits(bits_of(x) ^ binary32.sign); }

template <class Real>
Real imaginary(std::complex<Real> x, bool conjugated) {
  return conjugated ? negated(x.imag()) : x.imag();
}

template <class Real>
Matrix<Real> left_factor(const MatrixView<const std::complex<Real>>& a, bool conjugated, int threads) {
  Matrix<Real> blocks(2 * a.rows(), 2 * a.cols());
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < a.rows(); ++i)
    failure.run([&] {
      for (Index l = 0; l < a.cols(); ++l) {
        const auto re = a(i, l).real(), im = imaginary(a(i, l), conjugated);
        blocks(2 * i, 2 * l) = re, blocks(2 * i, 2 * l + 1) = negated(im);
        blocks(2 * i + 1, 2 * l) = im, blocks(2 * i + 1, 2 * l + 1) = re;
      }
    });
  failure.rethrow();
  return blocks;
}

template <class Real>
Matrix<Real> stacked_parts(const MatrixView<const std::complex<Real>>& matrix, bool conjugated, int threads) {
  Matrix<Real> parts(2 * matrix.rows(), matrix.cols());
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index l = 0; l < matrix.rows(); ++l)
    failure.run([&] {
      for (Index j = 0; j < matrix.cols(); ++j) {
        parts(2 * l, j) = matrix(l, j).real();
        parts(2 * l + 1, j) = imaginary(matrix(l, j), conjugated);
      }
    });
  failure.rethrow();
  return parts;
}

/// True if the real and imaginary parts of a column are contiguous.
template <class T>
bool stacks(const MatrixView<T>& matrix) {
  return matrix.rows() <= 1 || matrix.row_stride() == 1;
}

/// A view of the parts of a column-major matrix in its own memory.
template <class Real, class Complex>
MatrixView<Real> stacked_view(const MatrixView<Complex>& matrix) {
  return {reinterpret_cast<Real*>(matrix.data()), 2 * matrix.rows(), matrix.cols(), 1, 2 * matrix.col_stride()};
}

template <class Real>
void unstack(const MatrixView<const Real>& parts, const MatrixView<std::complex<Real>>& matrix, int threads) {
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < matrix.rows(); ++i)
    failure.run([&] {
      for (Index j = 0; j < matrix.cols(); ++j) matrix(i, j) = {parts(2 * i, j), parts(2 * i + 1, j)};
    });
  writing_c([&] { failure.rethrow(); });
}

/// The place for the parts of C: C's own memory if it is stacked, otherwise a new matrix.
OutputView stacked_result(const ComplexOutputView& c, std::optional<RealMatrix>& elsewhere) {
  if (const auto memory = stacked_memory(c)) return *memory;
  return elsewhere.emplace(new_parts(c)).output();
}

}  // namespace

RealMatrix::RealMatrix(Matrix<double> matrix) : owned_(std::move(matrix)), view_(std::get<1>(owned_)) {}
RealMatrix::RealMatrix(Matrix<float> matrix) : owned_(std::move(matrix)), view_(std::get<2>(owned_)) {}

OutputView RealMatrix::output() {
  if (auto* matrix = std::get_if<1>(&owned_)) return *matrix;
  return std::get<2>(owned_);
}

RealMatrix left_factor(const ComplexInputView& a, int threads) {
  return std::visit([&](const auto& v) { return RealMatrix(left_factor(v, a.conjugated(), threads)); }, a.typed());
}

RealMatrix stacked_parts(const ComplexInputView& matrix, int threads) {
  if (const auto memory = stacked_memory(matrix)) return RealMatrix(*memory);
  return std::visit([&](const auto& v) { return RealMatrix(stacked_parts(v, matrix.conjugated(), threads)); }, matrix.typed());
}

std::optional<InputView> stacked_memory(const ComplexInputView& matrix) {
  return std::visit(
      [&]<class Real>(const MatrixView<const std::complex<Real>>& v) -> std::optional<InputView> {
        if (!stacks(v) || matrix.conjugated()) return std::nullopt;
        return stacked_view<const Real>(v);
      },
      matrix.typed());
}

std::optional<OutputView> stacked_memory(const ComplexOutputView& matrix) {
  return std::visit(
      []<class Real>(const MatrixView<std::complex<Real>>& v) -> std::optional<OutputView> {
        if (!stacks(v)) return std::nullopt;
        return stacked_view<Real>(v);
      },
      matrix.typed());
}

RealMatrix new_parts(const ComplexOutputView& c) {
  return std::visit(
      []<class Real>(const MatrixView<std::complex<Real>>& v) { return RealMatrix(Matrix<Real>(2 * v.rows(), v.cols())); },
      c.typed());
}

void unstack(const InputView& parts, const ComplexOutputView& c, int threads) {
  std::visit(
      [&]<class Real>(const MatrixView<std::complex<Real>>& v) {
        unstack(std::get<MatrixView<const Real>>(parts.typed()), v, threads);
      },
      c.typed());
}

InputView unread(Index rows, Index cols) {
  static constexpr double nothing = 0;
  return MatrixView<const double>(&nothing, rows, cols, 0, 0);
}

RealFactors real_factors(const ComplexProduct& product, int threads) {
  if (product.has_product()) return {left_factor(product.a, threads), stacked_parts(product.b, threads)};
  return {RealMatrix(unread(2 * product.m(), 0)), RealMatrix(unread(0, product.n()))};
}

namespace {

class HostRepresentation final : public RealRepresentation {
 public:
  HostRepresentation(const ComplexProduct& product, int threads)
      : c_(product.c),
        threads_(threads),
        a_(product.reads_operands() ? left_factor(product.a, threads) : RealMatrix(unread(2 * product.m(), 2 * product.k()))),
        b_(product.reads_operands() ? stacked_parts(product.b, threads) : RealMatrix(unread(2 * product.k(), product.n()))),
        c0_(product.reads_c0() ? stacked_parts(product.c0, threads) : RealMatrix(InputView())),
        product_{a_.view(),  b_.view(), stacked_result(product.c, result_), product.alpha.real(), product.beta.real(),
                 c0_.view(), true} {}

  [[nodiscard]] const RealProduct& product() const override { return product_; }

  void write_back() const override {
    if (result_) unstack(result_->view(), c_, threads_);
  }

 private:
  ComplexOutputView c_;
  int threads_;
  RealMatrix a_, b_, c0_;
  std::optional<RealMatrix> result_;  ///< if C's memory cannot hold the stacked parts
  RealProduct product_;
};

}  // namespace

std::unique_ptr<RealRepresentation> represent_on_host(const ComplexProduct& product, int threads) {
  return std::make_unique<HostRepresentation>(product, threads);
}

}  // namespace ozbound
