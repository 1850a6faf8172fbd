// SPDX-License-Identifier: BSD-3-Clause
// The batches of ozbound.h.

#include <complex>
#include <span>
#include <type_traits>

#include "c_calls.hpp"
#include "ozbound/batch.hpp"

namespace ozbound {
namespace {

using Z = std::complex<double>;
using C = std::complex<float>;

/// Complex numbers behind an untyped C pointer.
template <class T>
const T* typed(const void* data) {
  return static_cast<const T*>(data);
}
template <class T>
T* typed(void* data) {
  return static_cast<T*>(data);
}

/// The arguments of a strided batch in C. Out is T, or const T if C is not written.
template <class T, class Out = T>
struct Strided {
  int layout, op_a, op_b;
  std::int64_t m, n, k;
  const T *alpha, *a;
  std::int64_t lda, stride_a;
  const T* b;
  std::int64_t ldb, stride_b;
  const T* beta;
  Out* c;
  std::int64_t ldc, stride_c, batch_count;

  /// Calls gemm_strided_batched or decide_strided_batched; `rest` are the arguments after the batch.
  template <class Call, class... Rest>
  auto pass_to(const Call& call, const Rest&... rest) const {
    return call(layout_of(layout), op_of(op_a, "op_a"), op_of(op_b, "op_b"), m, n, k, given(alpha, "alpha"), a, lda, stride_a,
                b, ldb, stride_b, given(beta, "beta"), c, ldc, stride_c, batch_count, rest...);
  }

  template <class... Rest>
  std::vector<Certificate> multiply(const Rest&... rest) const {
    return pass_to([](const auto&... all) { return gemm_strided_batched(all...); }, rest...);
  }
  template <class... Rest>
  std::vector<Decision> decide(const Rest&... rest) const {
    return pass_to([](const auto&... all) { return decide_strided_batched(all...); }, rest...);
  }
};

/// The arguments of a batch by pointers in C. In is T or void; Out is the same, or const if C is not written.
template <class T, class In, class Out = In>
struct Pointers {
  int layout;
  const int *op_a, *op_b;
  const std::int64_t *m, *n, *k;
  const T* alpha;
  const In* const* a;
  const std::int64_t* lda;
  const In* const* b;
  const std::int64_t* ldb;
  const T* beta;
  Out* const* c;
  const std::int64_t* ldc;
  std::int64_t batch_count, shape_count;

  template <class... Rest>
  std::vector<Certificate> multiply(const Rest&... rest) const {
    const Given of(*this);
    return gemm_batched(of.batch, rest...);
  }
  template <class... Rest>
  std::vector<Decision> decide(const Rest&... rest) const {
    const Given of(*this);
    return decide_batched(of.batch, rest...);
  }

 private:
  /// The same arguments for C++. A GemmBatch refers to them.
  struct Given {
    std::int64_t products, shapes;
    std::vector<Op> ops_a, ops_b;
    std::vector<const T*> as, bs;
    std::vector<T*> cs;
    GemmBatch<T> batch;

    explicit Given(const Pointers& x)
        : products(x.batch_count),
          shapes(checked(x)),
          ops_a(ops(x.op_a, "op_a")),
          ops_b(ops(x.op_b, "op_b")),
          as(pointers<const T>(x.a)),
          bs(pointers<const T>(x.b)),
          cs(pointers<T>(x.c)),
          batch{layout_of(x.layout),
                ops_a,
                ops_b,
                of_shape(x.m, "m"),
                of_shape(x.n, "n"),
                of_shape(x.k, "k"),
                of_shape(x.alpha, "alpha"),
                as,
                of_shape(x.lda, "lda"),
                bs,
                of_shape(x.ldb, "ldb"),
                of_shape(x.beta, "beta"),
                cs,
                of_shape(x.ldc, "ldc"),
                products} {}

    /// Checks the counts and returns the number of shapes to read.
    static std::int64_t checked(const Pointers& x) {
      if (x.batch_count < 0) throw std::invalid_argument("batch_count must not be negative: " + std::to_string(x.batch_count));
      if (x.shape_count != 1 && x.shape_count != x.batch_count)
        throw std::invalid_argument("shape_count must be 1 or batch_count = " + std::to_string(x.batch_count) + ": " +
                                    std::to_string(x.shape_count));
      return x.batch_count == 0 ? 0 : x.shape_count;
    }

    template <class E>
    std::span<const E> of_shape(const E* values, const char* name) const {
      if (shapes > 0) given(values, name);
      return {values, static_cast<std::size_t>(shapes)};
    }

    std::vector<Op> ops(const int* values, const char* name) const {
      std::vector<Op> result;
      for (const int op : of_shape(values, name))
        result.push_back(op_of(op, (std::string(name) + "[" + std::to_string(result.size()) + "]").c_str()));
      return result;
    }

    /// A null array stands for an array of null pointers, to matrices that are not read.
    template <class E, class P>
    std::vector<E*> pointers(P* const* given) const {
      std::vector<E*> result;
      for (std::int64_t t = 0; t < products; ++t)
        result.push_back(given == nullptr ? nullptr : static_cast<E*>(const_cast<std::remove_const_t<P>*>(given[t])));
      return result;
    }
  };
};

template <class Batch>
int make_products(const Batch& batch, ozb_certificate** certificates, const auto& compute) noexcept {
  return guarded([&] {
    Handles handles(certificates, batch.batch_count);
    auto records = compute();
    int status = OZB_SUCCESS;
    for (std::size_t t = 0; t < records.size() && status == OZB_SUCCESS; ++t)
      status = status_of(records[t], "product " + std::to_string(t) + ": ");
    handles.hand_out(std::move(records));
    return status;
  });
}

template <class Batch>
int multiply_batch(const Batch& batch, const char* target, ozb_certificate** certificates) noexcept {
  return make_products(batch, certificates, [&] { return batch.multiply(target_of(target), as_set()); });
}

template <class Batch>
int decide_batch(const Batch& batch, const char* target, int choices, ozb_decision** decisions) noexcept {
  return decided(decisions, batch.batch_count, "decisions",
                 [&] { return batch.decide(target_of(target), choices_of(choices)); });
}

std::vector<Decision> decisions_of(const ozb_decision* const* decisions, std::int64_t count) {
  if (count < 0) throw std::invalid_argument("decision_count must not be negative: " + std::to_string(count));
  if (count > 0) given(decisions, "decisions");
  std::vector<Decision> records;
  for (std::int64_t t = 0; t < count; ++t)
    records.push_back(given(decisions[t], ("decisions[" + std::to_string(t) + "]").c_str()).record);
  return records;
}

template <class Batch>
int replay_batch(const Batch& batch, const ozb_decision* const* decisions, std::int64_t decision_count, std::int64_t workspace,
                 ozb_certificate** certificates) noexcept {
  return make_products(batch, certificates, [&] {
    return batch.multiply(std::span<const Decision>(decisions_of(decisions, decision_count)), with_workspace(workspace));
  });
}

}  // namespace
}  // namespace ozbound

using ozbound::C, ozbound::Z, ozbound::typed;  // the functions below have C linkage

int ozb_dgemm_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                              int64_t lda, int64_t stride_a, const double* b, int64_t ldb, int64_t stride_b, double beta,
                              double* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                              ozb_certificate** certificates) noexcept {
  return ozbound::multiply_batch(ozbound::Strided<double>{layout, op_a, op_b, m, n, k, &alpha, a, lda, stride_a, b, ldb,
                                                          stride_b, &beta, c, ldc, stride_c, batch_count},
                                 target, certificates);
}

int ozb_sgemm_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                              int64_t lda, int64_t stride_a, const float* b, int64_t ldb, int64_t stride_b, float beta,
                              float* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                              ozb_certificate** certificates) noexcept {
  return ozbound::multiply_batch(ozbound::Strided<float>{layout, op_a, op_b, m, n, k, &alpha, a, lda, stride_a, b, ldb,
                                                         stride_b, &beta, c, ldc, stride_c, batch_count},
                                 target, certificates);
}

int ozb_zgemm_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                              int64_t lda, int64_t stride_a, const void* b, int64_t ldb, int64_t stride_b, const void* beta,
                              void* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                              ozb_certificate** certificates) noexcept {
  return ozbound::multiply_batch(
      ozbound::Strided<Z>{layout, op_a, op_b, m, n, k, typed<Z>(alpha), typed<Z>(a), lda, stride_a, typed<Z>(b), ldb, stride_b,
                          typed<Z>(beta), typed<Z>(c), ldc, stride_c, batch_count},
      target, certificates);
}

int ozb_cgemm_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                              int64_t lda, int64_t stride_a, const void* b, int64_t ldb, int64_t stride_b, const void* beta,
                              void* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                              ozb_certificate** certificates) noexcept {
  return ozbound::multiply_batch(
      ozbound::Strided<C>{layout, op_a, op_b, m, n, k, typed<C>(alpha), typed<C>(a), lda, stride_a, typed<C>(b), ldb, stride_b,
                          typed<C>(beta), typed<C>(c), ldc, stride_c, batch_count},
      target, certificates);
}

int ozb_decide_d_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                                 int64_t lda, int64_t stride_a, const double* b, int64_t ldb, int64_t stride_b, double beta,
                                 const double* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                                 int choices, ozb_decision** decisions) noexcept {
  return ozbound::decide_batch(ozbound::Strided<double, const double>{layout, op_a, op_b, m, n, k, &alpha, a, lda, stride_a, b,
                                                                      ldb, stride_b, &beta, c, ldc, stride_c, batch_count},
                               target, choices, decisions);
}

int ozb_decide_s_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                                 int64_t lda, int64_t stride_a, const float* b, int64_t ldb, int64_t stride_b, float beta,
                                 const float* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                                 int choices, ozb_decision** decisions) noexcept {
  return ozbound::decide_batch(ozbound::Strided<float, const float>{layout, op_a, op_b, m, n, k, &alpha, a, lda, stride_a, b,
                                                                    ldb, stride_b, &beta, c, ldc, stride_c, batch_count},
                               target, choices, decisions);
}

int ozb_decide_z_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                                 const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb, int64_t stride_b,
                                 const void* beta, const void* c, int64_t ldc, int64_t stride_c, int64_t batch_count,
                                 const char* target, int choices, ozb_decision** decisions) noexcept {
  return ozbound::decide_batch(
      ozbound::Strided<Z, const Z>{layout, op_a, op_b, m, n, k, typed<Z>(alpha), typed<Z>(a), lda, stride_a, typed<Z>(b), ldb,
                                   stride_b, typed<Z>(beta), typed<Z>(c), ldc, stride_c, batch_count},
      target, choices, decisions);
}

int ozb_decide_c_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                                 const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb, int64_t stride_b,
                                 const void* beta, const void* c, int64_t ldc, int64_t stride_c, int64_t batch_count,
                                 const char* target, int choices, ozb_decision** decisions) noexcept {
  return ozbound::decide_batch(
      ozbound::Strided<C, const C>{layout, op_a, op_b, m, n, k, typed<C>(alpha), typed<C>(a), lda, stride_a, typed<C>(b), ldb,
                                   stride_b, typed<C>(beta), typed<C>(c), ldc, stride_c, batch_count},
      target, choices, decisions);
}

int ozb_dgemm_strided_batched_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha,
                                      const double* a, int64_t lda, int64_t stride_a, const double* b, int64_t ldb,
                                      int64_t stride_b, double beta, double* c, int64_t ldc, int64_t stride_c,
                                      int64_t batch_count, const ozb_decision* const* decisions, int64_t decision_count,
                                      int64_t workspace, ozb_certificate** certificates) noexcept {
  return ozbound::replay_batch(ozbound::Strided<double>{layout, op_a, op_b, m, n, k, &alpha, a, lda, stride_a, b, ldb, stride_b,
                                                        &beta, c, ldc, stride_c, batch_count},
                               decisions, decision_count, workspace, certificates);
}

int ozb_sgemm_strided_batched_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha,
                                      const float* a, int64_t lda, int64_t stride_a, const float* b, int64_t ldb,
                                      int64_t stride_b, float beta, float* c, int64_t ldc, int64_t stride_c,
                                      int64_t batch_count, const ozb_decision* const* decisions, int64_t decision_count,
                                      int64_t workspace, ozb_certificate** certificates) noexcept {
  return ozbound::replay_batch(ozbound::Strided<float>{layout, op_a, op_b, m, n, k, &alpha, a, lda, stride_a, b, ldb, stride_b,
                                                       &beta, c, ldc, stride_c, batch_count},
                               decisions, decision_count, workspace, certificates);
}

int ozb_zgemm_strided_batched_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                                      const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb,
                                      int64_t stride_b, const void* beta, void* c, int64_t ldc, int64_t stride_c,
                                      int64_t batch_count, const ozb_decision* const* decisions, int64_t decision_count,
                                      int64_t workspace, ozb_certificate** certificates) noexcept {
  return ozbound::replay_batch(
      ozbound::Strided<Z>{layout, op_a, op_b, m, n, k, typed<Z>(alpha), typed<Z>(a), lda, stride_a, typed<Z>(b), ldb, stride_b,
                          typed<Z>(beta), typed<Z>(c), ldc, stride_c, batch_count},
      decisions, decision_count, workspace, certificates);
}

int ozb_cgemm_strided_batched_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                                      const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb,
                                      int64_t stride_b, const void* beta, void* c, int64_t ldc, int64_t stride_c,
                                      int64_t batch_count, const ozb_decision* const* decisions, int64_t decision_count,
                                      int64_t workspace, ozb_certificate** certificates) noexcept {
  return ozbound::replay_batch(
      ozbound::Strided<C>{layout, op_a, op_b, m, n, k, typed<C>(alpha), typed<C>(a), lda, stride_a, typed<C>(b), ldb, stride_b,
                          typed<C>(beta), typed<C>(c), ldc, stride_c, batch_count},
      decisions, decision_count, workspace, certificates);
}

int ozb_dgemm_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                      const double* alpha, const double* const* a, const int64_t* lda, const double* const* b,
                      const int64_t* ldb, const double* beta, double* const* c, const int64_t* ldc, int64_t batch_count,
                      int64_t shape_count, const char* target, ozb_certificate** certificates) noexcept {
  return ozbound::multiply_batch(ozbound::Pointers<double, double>{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                                                   ldc, batch_count, shape_count},
                                 target, certificates);
}

int ozb_sgemm_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                      const float* alpha, const float* const* a, const int64_t* lda, const float* const* b, const int64_t* ldb,
                      const float* beta, float* const* c, const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                      const char* target, ozb_certificate** certificates) noexcept {
  return ozbound::multiply_batch(ozbound::Pointers<float, float>{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                                                 ldc, batch_count, shape_count},
                                 target, certificates);
}

int ozb_zgemm_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                      const void* alpha, const void* const* a, const int64_t* lda, const void* const* b, const int64_t* ldb,
                      const void* beta, void* const* c, const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                      const char* target, ozb_certificate** certificates) noexcept {
  return ozbound::multiply_batch(ozbound::Pointers<Z, void>{layout, op_a, op_b, m, n, k, typed<Z>(alpha), a, lda, b, ldb,
                                                            typed<Z>(beta), c, ldc, batch_count, shape_count},
                                 target, certificates);
}

int ozb_cgemm_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                      const void* alpha, const void* const* a, const int64_t* lda, const void* const* b, const int64_t* ldb,
                      const void* beta, void* const* c, const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                      const char* target, ozb_certificate** certificates) noexcept {
  return ozbound::multiply_batch(ozbound::Pointers<C, void>{layout, op_a, op_b, m, n, k, typed<C>(alpha), a, lda, b, ldb,
                                                            typed<C>(beta), c, ldc, batch_count, shape_count},
                                 target, certificates);
}

int ozb_decide_d_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                         const double* alpha, const double* const* a, const int64_t* lda, const double* const* b,
                         const int64_t* ldb, const double* beta, const double* const* c, const int64_t* ldc,
                         int64_t batch_count, int64_t shape_count, const char* target, int choices,
                         ozb_decision** decisions) noexcept {
  return ozbound::decide_batch(ozbound::Pointers<double, double, const double>{layout, op_a, op_b, m, n, k, alpha, a, lda, b,
                                                                               ldb, beta, c, ldc, batch_count, shape_count},
                               target, choices, decisions);
}

int ozb_decide_s_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                         const float* alpha, const float* const* a, const int64_t* lda, const float* const* b,
                         const int64_t* ldb, const float* beta, const float* const* c, const int64_t* ldc, int64_t batch_count,
                         int64_t shape_count, const char* target, int choices, ozb_decision** decisions) noexcept {
  return ozbound::decide_batch(ozbound::Pointers<float, float, const float>{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb,
                                                                            beta, c, ldc, batch_count, shape_count},
                               target, choices, decisions);
}

int ozb_decide_z_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                         const void* alpha, const void* const* a, const int64_t* lda, const void* const* b, const int64_t* ldb,
                         const void* beta, const void* const* c, const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                         const char* target, int choices, ozb_decision** decisions) noexcept {
  return ozbound::decide_batch(ozbound::Pointers<Z, void, const void>{layout, op_a, op_b, m, n, k, typed<Z>(alpha), a, lda, b,
                                                                      ldb, typed<Z>(beta), c, ldc, batch_count, shape_count},
                               target, choices, decisions);
}

int ozb_decide_c_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                         const void* alpha, const void* const* a, const int64_t* lda, const void* const* b, const int64_t* ldb,
                         const void* beta, const void* const* c, const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                         const char* target, int choices, ozb_decision** decisions) noexcept {
  return ozbound::decide_batch(ozbound::Pointers<C, void, const void>{layout, op_a, op_b, m, n, k, typed<C>(alpha), a, lda, b,
                                                                      ldb, typed<C>(beta), c, ldc, batch_count, shape_count},
                               target, choices, decisions);
}

int ozb_dgemm_batched_decided(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n,
                              const int64_t* k, const double* alpha, const double* const* a, const int64_t* lda,
                              const double* const* b, const int64_t* ldb, const double* beta, double* const* c,
                              const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                              const ozb_decision* const* decisions, int64_t decision_count, int64_t workspace,
                              ozb_certificate** certificates) noexcept {
  return ozbound::replay_batch(ozbound::Pointers<double, double>{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                                                 ldc, batch_count, shape_count},
                               decisions, decision_count, workspace, certificates);
}

int ozb_sgemm_batched_decided(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n,
                              const int64_t* k, const float* alpha, const float* const* a, const int64_t* lda,
                              const float* const* b, const int64_t* ldb, const float* beta, float* const* c, const int64_t* ldc,
                              int64_t batch_count, int64_t shape_count, const ozb_decision* const* decisions,
                              int64_t decision_count, int64_t workspace, ozb_certificate** certificates) noexcept {
  return ozbound::replay_batch(ozbound::Pointers<float, float>{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                                                               batch_count, shape_count},
                               decisions, decision_count, workspace, certificates);
}

int ozb_zgemm_batched_decided(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n,
                              const int64_t* k, const void* alpha, const void* const* a, const int64_t* lda,
                              const void* const* b, const int64_t* ldb, const void* beta, void* const* c, const int64_t* ldc,
                              int64_t batch_count, int64_t shape_count, const ozb_decision* const* decisions,
                              int64_t decision_count, int64_t workspace, ozb_certificate** certificates) noexcept {
  return ozbound::replay_batch(ozbound::Pointers<Z, void>{layout, op_a, op_b, m, n, k, typed<Z>(alpha), a, lda, b, ldb,
                                                          typed<Z>(beta), c, ldc, batch_count, shape_count},
                               decisions, decision_count, workspace, certificates);
}

int ozb_cgemm_batched_decided(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n,
                              const int64_t* k, const void* alpha, const void* const* a, const int64_t* lda,
                              const void* const* b, const int64_t* ldb, const void* beta, void* const* c, const int64_t* ldc,
                              int64_t batch_count, int64_t shape_count, const ozb_decision* const* decisions,
                              int64_t decision_count, int64_t workspace, ozb_certificate** certificates) noexcept {
  return ozbound::replay_batch(ozbound::Pointers<C, void>{layout, op_a, op_b, m, n, k, typed<C>(alpha), a, lda, b, ldb,
                                                          typed<C>(beta), c, ldc, batch_count, shape_count},
                               decisions, decision_count, workspace, certificates);
}
