#include "ozbound/blas.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "ozbound/bounds/certified_gemm.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/native.hpp"

namespace ozbound {
namespace {

/// A matrix as stored, checked under its own names.
template <class T>
MatrixView<T> stored(Layout layout, T* data, Index rows, Index cols, Index ld, const std::string& name) {
  const Index least = std::max<Index>(1, layout == Layout::row_major ? cols : rows);
  if (ld < least)
    throw std::invalid_argument("ld" + name + " must be at least " + std::to_string(least) + ": " + std::to_string(ld));
  if (data == nullptr && rows > 0 && cols > 0) throw std::invalid_argument(name + " must not be null");
  return layout == Layout::row_major ? row_major(data, rows, cols, ld) : column_major(data, rows, cols, ld);
}

/// op(X). BLAS does not look at A and B where alpha is 0, and they may be null then: one number stands for all their elements.
template <class T>
MatrixView<const T> operand(Layout layout, Op op, const T* data, Index rows, Index cols, Index ld, bool read,
                            const std::string& name) {
  if (op != Op::none && op != Op::transpose && op != Op::conjugate_transpose)
    throw std::invalid_argument("op_" + name + " must be none, transpose or conjugate_transpose");
  static constexpr T unread{};
  const bool as_stored = op == Op::none;
  const auto view = stored(layout, read ? data : &unread, as_stored ? rows : cols, as_stored ? cols : rows, ld, name);
  if (!read) return {&unread, rows, cols, 0, 0};
  return as_stored ? view : view.transposed();
}

/// The same number: by its bits, so that a subnormal one survives a caller who flushes them.
double exactly(double x) { return x; }
double exactly(float x) { return double_from_bits(widen_bits(x)); }

void check_size(Index size, const char* name) {
  if (size < 0) throw std::invalid_argument(std::string(name) + " must not be negative: " + std::to_string(size));
}

template <class T>
Certificate gemm_of(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b,
                    Index ldb, T beta, T* c, Index ldc, const Target& target) {
  if (layout != Layout::row_major && layout != Layout::column_major)
    throw std::invalid_argument("layout must be row_major or column_major");
  check_size(m, "m");
  check_size(n, "n");
  check_size(k, "k");
  const bool read = !is_zero(exactly(alpha));
  const auto a_view = operand(layout, op_a, a, m, k, lda, read, "a");
  const auto b_view = operand(layout, op_b, b, k, n, ldb, read, "b");
  const auto c_view = stored(layout, c, m, n, ldc, "c");
  const GemmCall call{a_view, b_view, c_view, exactly(alpha), exactly(beta), c_view};
  call.check();
  const CpuEngine engine;
  DecideOptions options;
  options.alpha = call.alpha, options.beta = call.beta, options.c0 = c_view, options.format = call.c.format();
  options.native = native_gemm();
  const auto decision = decide(a_view, b_view, target, engine, options);
  return gemm(call, decision, engine, {.native = options.native});
}

}  // namespace

Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                 const double* b, Index ldb, double beta, double* c, Index ldc, const Target& target) {
  return gemm_of(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target);
}

Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                 const float* b, Index ldb, float beta, float* c, Index ldc, const Target& target) {
  return gemm_of(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target);
}

}  // namespace ozbound
