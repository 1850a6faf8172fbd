// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/matrices.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <complex>
#include <iterator>
#include <variant>

#include "kernels/functions.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/exponent_range.hpp"
#include "ozbound/core/detail/usable_threads.hpp"
#include "ozbound/core/fingerprint.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/kernel.hpp"

namespace ozbound {
namespace {

template <class T>
class HostMatrix final : public OwnedMatrix {
 public:
  HostMatrix(Index rows, Index cols) : matrix_(rows, cols) {}
  OutputView view() override { return matrix_; }

 private:
  Matrix<T> matrix_;
};

/// @pre x is finite.
void add(ExponentRange& range, Dyadic x) {
  if (x.magnitude == 0) return;
  range.least = std::min(range.least, x.top_exponent());
  range.top = std::max(range.top, x.top_exponent());
}

/// The range of one row. Empty if the row holds a special: each of its entries of C is then special.
ExponentRange range_of_row(InputView rows, Index i) {
  ExponentRange range;
  for (Index l = 0; l < rows.cols(); ++l) {
    if (!is_finite(rows.bits(i, l), binary64)) return {};
    add(range, rows.element(i, l));
  }
  return range;
}

void add(ExponentRange& range, std::uint64_t least, std::uint64_t top) {
  if (top == 0) return;
  add(range, to_dyadic(double_from_bits(least))), add(range, to_dyadic(double_from_bits(top)));
}

/// Passes each run of contiguous elements to `use`, in any order. Returns false if there are no such runs, or if `use` stops.
template <class T, class Use>
bool for_each_run(MatrixView<const T> x, const Use& use) {
  if (x.col_stride() != 1) x = x.transposed();
  if (x.col_stride() != 1) return false;
  if (x.row_stride() == x.cols()) return use(x.data(), x.rows() * x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    if (!use(x.data() + i * x.row_stride(), x.cols())) return false;
  return true;
}

/// The range of all added elements, as long as they are finite.
class Sweep {
 public:
  bool add(const double* x, Index count) {
    for (Index first = 0; first < count; first += at_a_time) {
      poll_cancelled();
      std::uint64_t least = 0, top = 0;
      functions_.magnitudes(x + first, std::min(at_a_time, count - first), &least, &top);
      if (top >= binary64.inf) return false;
      ozbound::add(range_, least, top);
    }
    return true;
  }
  bool add(const float* x, Index count) {
    std::array<double, 512> wide;
    for (Index first = 0; first < count; first += std::ssize(wide)) {
      const Index some = std::min<Index>(std::ssize(wide), count - first);
      std::copy_n(x + first, some, wide.begin());
      if (!add(wide.data(), some)) return false;
    }
    return true;
  }
  [[nodiscard]] const ExponentRange& range() const { return range_; }

 private:
  static constexpr Index at_a_time = Index{1} << 16;

  const KernelFunctions& functions_ = *kernels().front()->functions;
  ExponentRange range_;
};

template <class T>
std::optional<ExponentRange> range_of_runs(const MatrixView<const T>& matrix) {
  Sweep sweep;
  const bool finite = for_each_run(matrix, [&](const T* x, Index count) { return sweep.add(x, count); });
  return finite ? std::optional(sweep.range()) : std::nullopt;
}

/// The real and imaginary parts of contiguous complex elements, as contiguous reals; empty if no elements are contiguous.
template <class Real>
MatrixView<const Real> parts_in_memory(const MatrixView<const std::complex<Real>>& x) {
  const auto* const parts = reinterpret_cast<const Real*>(x.data());  // [complex.numbers.general] guarantees this layout
  if (x.row_stride() == 1) return {parts, 2 * x.rows(), x.cols(), 1, 2 * x.col_stride()};
  if (x.col_stride() == 1) return {parts, x.rows(), 2 * x.cols(), 2 * x.row_stride(), 1};
  return {};
}

}  // namespace

std::optional<ExponentRange> range_if_finite(const InputView& matrix) {
  if (matrix.empty()) return ExponentRange{};
  return std::visit([](const auto& x) { return range_of_runs(x); }, matrix.typed());
}

std::optional<ExponentRange> range_if_finite(const ComplexInputView& matrix) {
  if (matrix.rows() == 0 || matrix.cols() == 0) return ExponentRange{};
  return std::visit(
      [](const auto& x) -> std::optional<ExponentRange> {
        const auto parts = parts_in_memory(x);
        return parts.empty() ? std::nullopt : range_of_runs(parts);
      },
      matrix.typed());
}

std::unique_ptr<RealRepresentation> Matrices::bring(const RealProduct&) const { return nullptr; }

int HostMatrices::threads() const { return usable_threads(threads_ > 0 ? threads_ : omp_get_max_threads()); }

std::uint64_t HostMatrices::fingerprint(const InputView& matrix) const { return ozbound::fingerprint(matrix, threads()); }

ExponentRange HostMatrices::exponent_range(const InputView& operand, Side side) const {
  if (const auto all = range_if_finite(operand)) return *all;
  const auto vectors = vectors_of(operand, side);
  ExponentRange all;
  for (Index i = 0; i < vectors.rows(); ++i) {
    poll_cancelled();
    const auto range = range_of_row(vectors, i);
    all = {std::min(all.least, range.least), std::max(all.top, range.top)};
  }
  return all;
}

ExponentRange HostMatrices::exponent_range(const InputView& matrix) const {
  if (const auto all = range_if_finite(matrix)) return *all;
  ExponentRange range;
  for (Index i = 0; i < matrix.rows(); ++i) {
    poll_cancelled();
    for (Index j = 0; j < matrix.cols(); ++j)
      if (is_finite(matrix.bits(i, j), binary64)) add(range, matrix.element(i, j));
  }
  return range;
}

std::unique_ptr<OwnedMatrix> HostMatrices::matrix(Index rows, Index cols, bool is_double) const {
  if (is_double) return std::make_unique<HostMatrix<double>>(rows, cols);
  return std::make_unique<HostMatrix<float>>(rows, cols);
}

std::unique_ptr<OwnedMatrix> HostMatrices::copy(const InputView& matrix) const {
  const auto copied = []<class T>(const MatrixView<const T>& from) -> std::unique_ptr<OwnedMatrix> {
    auto result = std::make_unique<HostMatrix<T>>(from.rows(), from.cols());
    const auto to = result->view();
    for (Index i = 0; i < from.rows(); ++i) {
      poll_cancelled();
      for (Index j = 0; j < from.cols(); ++j) to.set_bits(i, j, bits_of(from(i, j)));
    }
    return result;
  };
  return std::visit(copied, matrix.typed());
}

SpecialEntries HostMatrices::special_entries(const RealProduct& product) const {
  return ozbound::special_entries(product, threads());
}

Index HostMatrices::count(const SpecialEntries& specials) const {
  if (specials.c0.empty()) return specials.count_by_product();
  Index count = 0;
  for (Index i = 0; i < specials.c0.rows(); ++i) {
    poll_cancelled();
    for (Index j = 0; j < specials.c0.cols(); ++j) count += specials.at(i, j) ? 1 : 0;
  }
  return count;
}

void HostMatrices::apply_specials(const RealProduct& product, const SpecialEntries& specials) const {
  ozbound::apply_specials(product, specials, threads());
}

void HostMatrices::multiply_exactly(const RealProduct& product, const SpecialEntries& specials) const {
  ozbound::multiply_exactly(product, specials, threads());
}

void HostMatrices::finish_exactly(const RealProduct& product, const std::vector<Entry>& entries) const {
  ozbound::finish_exactly(product, entries, threads());
}

std::vector<Entry> HostMatrices::infinite_entries(const InputView& c, const SpecialEntries& specials) const {
  std::vector<Entry> entries;
  for (Index i = 0; i < c.rows(); ++i) {
    poll_cancelled();
    for (Index j = 0; j < c.cols(); ++j)
      if ((c.bits(i, j) & ~binary64.sign) == binary64.inf && !specials.at(i, j)) entries.push_back({i, j});
  }
  return entries;
}

std::unique_ptr<RealRepresentation> HostMatrices::represent(const ComplexProduct& product) const {
  return represent_on_host(product, threads());
}

}  // namespace ozbound
