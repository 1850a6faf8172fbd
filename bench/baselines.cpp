// SPDX-License-Identifier: BSD-3-Clause
#include "baselines.hpp"

#include <mpfr.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace ozbound::bench {
namespace {

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

Index parts(Index whole, Index part) { return (whole + part - 1) / part; }

/// Zeros, aligned to a cache line.
class AlignedDoubles {
 public:
  explicit AlignedDoubles(Index count) : data_(static_cast<double*>(::operator new(at(count) * sizeof(double), line)), Free{}) {
    std::fill_n(data_.get(), count, 0.0);
  }
  [[nodiscard]] double* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t line{64};
  struct Free {
    void operator()(double* data) const { ::operator delete(data, line); }
  };
  std::unique_ptr<double, Free> data_;
};

/// Packs columns [panel * width, + width) of B, row by row, with zeros beyond n.
void pack_panel(const Matrix<double>& b, Index panel, Index width, double* packed) {
  const Index columns = std::min(width, b.cols() - panel * width);
  for (Index l = 0; l < b.rows(); ++l) std::copy_n(&b(l, panel * width), columns, packed + l * width);
}

constexpr Index block_rows = 64;  // of A at a time, which stay in the cache beside a panel

void multiply_panels(Index width, void (*multiply)(const PanelProduct&), const Matrix<double>& a, const Matrix<double>& b,
                     Matrix<double>& c, int threads) {
  const Index k = a.cols(), panels = parts(b.cols(), width), blocks = parts(a.rows(), block_rows);
  const AlignedDoubles packed(panels * width * k);
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static)
    for (Index p = 0; p < panels; ++p) pack_panel(b, p, width, packed.data() + p * width * k);
#pragma omp for collapse(2) schedule(static)
    for (Index p = 0; p < panels; ++p)
      for (Index block = 0; block < blocks; ++block) {
        const Index row = block * block_rows, column = p * width;
        multiply({&a(row, 0), k, packed.data() + p * width * k, k, &c(row, column), c.cols(),
                  std::min(block_rows, a.rows() - row), std::min(width, b.cols() - column)});
      }
  }
}

std::pair<const PanelKernels*, const char*> find_panels() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return {&avx512f_panels(), "AVX512F"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {&avx2_panels(), "AVX2"};
#endif
  return {&generic_panels(), "generic"};
}

}  // namespace

const PanelKernels& best_panels() { return *find_panels().first; }

const char* best_panels_name() { return find_panels().second; }

void double_double_gemm(const PanelKernels& kernels, const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c,
                        int threads) {
  multiply_panels(kernels.panel_columns, kernels.double_double, a, b, c, threads);
}

void dot2_gemm(const PanelKernels& kernels, const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c, int threads) {
  multiply_panels(kernels.panel_columns, kernels.dot2, a, b, c, threads);
}

__extension__ using Quad = __float128;

struct QuadRows::Numbers {
  Index rows, n, k;
  std::vector<Quad> a, b, c;
};

QuadRows::QuadRows(const Matrix<double>& a, const Matrix<double>& b, Index rows)
    : numbers_(new Numbers{std::min(rows, a.rows()), b.cols(), a.cols(), {}, {}, {}}) {
  auto& x = *numbers_;
  x.a.assign(a.data(), a.data() + x.rows * x.k);
  x.b.assign(b.data(), b.data() + x.k * x.n);
  x.c.resize(at(x.rows * x.n));
}

QuadRows::~QuadRows() = default;

void QuadRows::multiply(int threads) {
  auto& x = *numbers_;
  constexpr Index block = 64;  // columns whose sums stay in the cache
  const Index blocks = parts(x.n, block);
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads)
  for (Index i = 0; i < x.rows; ++i)
    for (Index part = 0; part < blocks; ++part) {
      const Index first = part * block, last = std::min(x.n, first + block);
      Quad* const c = &x.c[at(i * x.n)];
      std::fill(c + first, c + last, Quad{0});
      for (Index l = 0; l < x.k; ++l) {
        const Quad element = x.a[at(i * x.k + l)];
        const Quad* const b = &x.b[at(l * x.n)];
        for (Index j = first; j < last; ++j) c[j] += element * b[j];
      }
    }
}

double QuadRows::entry(Index i, Index j) const { return static_cast<double>(numbers_->c[at(i * numbers_->n + j)]); }

namespace {

/// An array of MPFR numbers with one precision.
class MpfrArray {
 public:
  MpfrArray(Index count, long bits) : numbers_(at(count)) {
    for (auto& number : numbers_) mpfr_init2(&number, bits);
  }
  ~MpfrArray() {
    for (auto& number : numbers_) mpfr_clear(&number);
  }
  MpfrArray(const MpfrArray&) = delete;
  MpfrArray& operator=(const MpfrArray&) = delete;
  __mpfr_struct* operator[](Index i) { return &numbers_[at(i)]; }

 private:
  std::vector<__mpfr_struct> numbers_;
};

void mpfr_dot_product(__mpfr_struct* sum, MpfrArray& a, Index a_start, MpfrArray& b, Index b_start, Index k) {
  MpfrArray product(1, 106);  // holds a product of two doubles exactly
  mpfr_set_zero(sum, 1);
  for (Index l = 0; l < k; ++l) {
    mpfr_mul(product[0], a[a_start + l], b[b_start + l], MPFR_RNDN);
    mpfr_add(sum, sum, product[0], MPFR_RNDN);
  }
}

}  // namespace

struct MpfrEntries::Numbers {
  Index m, n, k, rows, columns;
  MpfrArray a, b, c;
};

MpfrEntries::MpfrEntries(const Matrix<double>& a, const Matrix<double>& b, Index rows, Index columns, long precision_bits)
    : numbers_(new Numbers{a.rows(), b.cols(), a.cols(), std::min(rows, a.rows()), std::min(columns, b.cols()),
                           MpfrArray(std::min(rows, a.rows()) * a.cols(), 53),
                           MpfrArray(std::min(columns, b.cols()) * a.cols(), 53),
                           MpfrArray(std::min(rows, a.rows()) * std::min(columns, b.cols()), precision_bits)}) {
  auto& x = *numbers_;
  for (Index i = 0; i < x.rows; ++i)
    for (Index l = 0; l < x.k; ++l) mpfr_set_d(x.a[i * x.k + l], a(row(i), l), MPFR_RNDN);
  for (Index j = 0; j < x.columns; ++j)
    for (Index l = 0; l < x.k; ++l) mpfr_set_d(x.b[j * x.k + l], b(l, column(j)), MPFR_RNDN);
}

MpfrEntries::~MpfrEntries() = default;

void MpfrEntries::multiply(int threads) {
  auto& x = *numbers_;
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads)
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.columns; ++j) mpfr_dot_product(x.c[i * x.columns + j], x.a, i * x.k, x.b, j * x.k, x.k);
}

Index MpfrEntries::rows() const { return numbers_->rows; }
Index MpfrEntries::columns() const { return numbers_->columns; }
Index MpfrEntries::row(Index sampled) const { return sampled * numbers_->m / numbers_->rows; }
Index MpfrEntries::column(Index sampled) const { return sampled * numbers_->n / numbers_->columns; }

double MpfrEntries::entry(Index sampled_row, Index sampled_column) const {
  return mpfr_get_d(numbers_->c[sampled_row * numbers_->columns + sampled_column], MPFR_RNDN);
}

}  // namespace ozbound::bench
