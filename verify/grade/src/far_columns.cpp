// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "conventional.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "parts.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound::grading {
namespace {

constexpr Index far = Index{1} << 30;
constexpr Index size = 4;

/// Zeros around an origin. They extend so far that the offset of a far element, if it wraps at 32 bits, signed or not, stays
/// within: it gives a wrong result and no crash. Only touched pages take memory.
class Expanse {
 public:
  Expanse() : data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Expanse() {
    if (*this) munmap(data_, bytes);
  }
  Expanse(const Expanse&) = delete;
  Expanse& operator=(const Expanse&) = delete;

  explicit operator bool() const { return data_ != MAP_FAILED; }
  [[nodiscard]] double* origin() const { return static_cast<double*>(data_) + before; }

 private:
  static constexpr Index before = Index{1} << 31;
  static constexpr std::size_t bytes = static_cast<std::size_t>(before + size * far) * sizeof(double);  // 48 GiB

  void* data_;
};

/// A 4 x 4 matrix whose lines lie `far` elements apart.
MatrixView<double> far_view(const Expanse& expanse, bool row_major) {
  return row_major ? ozbound::row_major(expanse.origin(), size, size, far) : column_major(expanse.origin(), size, size, far);
}

void copy_to(MatrixView<const double> from, MatrixView<double> to) {
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) to(i, j) = from(i, j);
}

/// The product if one operand has far lines.
Matrix<double> product_with(char operand, const ForeignGemm& gemm, const Operands& in, bool row_major, const Expanse& expanse) {
  StoredCall stored(in, {.row_major = row_major});
  BlasCall call = stored.call();
  const auto there = far_view(expanse, row_major);
  copy_to(operand == 'A' ? in.a : operand == 'B' ? in.b : in.c0, there);
  if (operand == 'A') call.a = expanse.origin(), call.lda = far;
  if (operand == 'B') call.b = expanse.origin(), call.ldb = far;
  if (operand == 'C') call.c = expanse.origin(), call.ldc = far;
  gemm.dgemm(call);
  if (operand != 'C') return stored.result();
  Matrix<double> c(size, size);
  copy_to(there, c.view());
  return c;
}

/// Different integers with non-zero products.
Matrix<double> numbered(double first) {
  Matrix<double> matrix(size, size);
  for (Index t = 0; t < size * size; ++t) matrix.data()[t] = first + static_cast<double>(t);
  return matrix;
}

}  // namespace

Finding far_columns(const ForeignGemm& gemm) {
  const Claim claim{
      "layouts.far-columns",
      "A, B or C 4 x 4 with a leading dimension of 2^30: element (i, l) lies at i + l 2^30, which exceeds 32 bits: "
      "|C^ - (AB + C0)| <= gamma_{k+3} (|A||B| + |C0|)",
      level3_blas};
  Tally tally(claim);
  const auto a = numbered(1), b = numbered(20), c0 = numbered(40);
  const Operands in{.a = a.view(), .b = b.view(), .alpha = 1, .beta = 1, .c0 = c0.view()};
  const ExactOracle oracle(in);
  for (const char operand : {'A', 'B', 'C'})
    for (const bool row_major : {false, true}) {
      if (row_major && !gemm.takes_row_major()) continue;
      const Expanse expanse;
      if (!expanse) return skipped(claim, "48 GiB of addresses cannot be had");
      const auto judged = judge_conventional(product_with(operand, gemm, in, row_major, expanse), oracle);
      tally.expect(judged.holds(), [&] {
        return fmt::format("{} has the leading dimension 2^30, {}: {}", operand, to_string(Storage{.row_major = row_major}),
                           explain(judged));
      });
    }
  return tally.finding();
}

}  // namespace ozbound::grading
