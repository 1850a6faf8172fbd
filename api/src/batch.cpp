// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/batch.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "blas_arguments.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/overlap.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

std::size_t at(Index t) { return static_cast<std::size_t>(t); }

/// The bytes from the first element of a matrix to the last, [begin, end), for the first of a batch; the next is `step`
/// further.
struct ByteRange {
  std::intptr_t begin, end, step;

  template <class T>
  ByteRange(const MatrixView<T>& view, Index stride)
      : begin(reinterpret_cast<std::intptr_t>(view.data())), end(begin), step(stride * static_cast<std::intptr_t>(sizeof(T))) {
    if (view.empty()) return;
    const Index last = (view.rows() - 1) * view.row_stride() + (view.cols() - 1) * view.col_stride();
    end += (last + 1) * static_cast<std::intptr_t>(sizeof(T));
  }

  /// Which of `count` such ranges meet [from, to): the first, and the one after the last.
  [[nodiscard]] std::pair<Index, Index> meeting(std::intptr_t from, std::intptr_t to, Index count) const {
    if (begin == end || from == to) return {0, 0};
    if (step == 0) return {0, begin < to && from < end ? count : 0};
    const Index first = from < end ? 0 : (from - end) / step + 1;
    const Index last = begin < to ? (to - 1 - begin) / step + 1 : 0;
    return {first, std::clamp(last, first, std::max(first, count))};
  }
};

template <class T, class C = T>
class Batch {
 public:
  /// Checks every argument, whatever it is used for.
  Batch(const BlasArguments<T, C>& first, Index stride_a, Index stride_b, Index stride_c, Index count)
      : first_(first), stride_a_(stride_a), stride_b_(stride_b), stride_c_(stride_c), count_(count) {
    check_size(stride_a, "stride_a");
    check_size(stride_b, "stride_b");
    check_size(stride_c, "stride_c");
    check_size(count, "batch_count");
    const auto views = views_of(first, count > 0);
    if (count == 0) return;
    check_reach(views.a, stride_a, "a");
    check_reach(views.b, stride_b, "b");
    check_reach(views.c, stride_c, "c");
    reads_ = !is_zero(views.alpha);
  }

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] bool shares_a() const { return stride_a_ == 0 && count_ > 1 && reads_; }
  [[nodiscard]] bool shares_b() const { return stride_b_ == 0 && count_ > 1 && reads_; }

  [[nodiscard]] BlasViews<T, C> product(Index t) const {
    auto arguments = first_;
    const auto move = [t](auto*& data, Index stride) { data = data == nullptr ? nullptr : data + t * stride; };
    move(arguments.a, stride_a_);
    move(arguments.b, stride_b_);
    move(arguments.c, stride_c_);
    return views_of(arguments);
  }

  /// Refuses C's that share memory with each other, or with an A or B.
  void check_overlap() const {
    if (count_ == 0) return;
    const auto views = product(0);
    views.product({}).check();
    const ByteRange c(views.c, stride_c_);
    for (Index t = 1; t < c.meeting(c.begin, c.end, count_).second; ++t)
      if (overlap(product(t).c, views.c))
        throw std::invalid_argument("stride_c must keep the products apart: C of 0 and of " + std::to_string(t) + " overlap");
    if (!reads_) return;
    check_apart(views.a, stride_a_, c, "a");
    check_apart(views.b, stride_b_, c, "b");
  }

 private:
  /// The last matrix of the batch lies in the address space.
  template <class E>
  void check_reach(const MatrixView<E>& view, Index stride, const char* name) const {
    constexpr auto most = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(E));
    const ByteRange range(view, 0);
    const Index elements = (range.end - range.begin) / static_cast<Index>(sizeof(E));
    if (stride > 0 && count_ - 1 > (most - elements) / stride)
      throw std::invalid_argument("stride_" + std::string(name) + " leads beyond the address space: " + std::to_string(stride));
  }

  /// No operand of any product meets any C. `operand` is that of the first.
  void check_apart(const MatrixView<const T>& operand, Index stride, const ByteRange& c, const char* name) const {
    const ByteRange range(operand, stride);
    const Index operands = stride == 0 ? 1 : count_;
    for (Index t = 0; t < count_; ++t) {
      const auto [from, to] = range.meeting(c.begin + t * c.step, c.end + t * c.step, operands);
      for (Index s = from; s < to; ++s) {
        const auto views = product(s);
        if (overlap(name[0] == 'a' ? views.a : views.b, product(t).c))
          throw std::invalid_argument(std::string(name) + " must not overlap c: that of product " + std::to_string(s) +
                                      " overlaps C of product " + std::to_string(t));
      }
    }
  }

  BlasArguments<T, C> first_;
  Index stride_a_, stride_b_, stride_c_, count_;
  bool reads_ = false;
};

/// One operand of all products: prepared for the decision at hand, unless the workspace has no room for the whole of it.
class SharedOperand {
 public:
  SharedOperand(bool shared, Side side, double workspace, const Engine& engine)
      : shared_(shared), side_(side), workspace_(workspace), engine_(engine) {}

  /// `others`: how many vectors of the other operand must have room beside it.
  const PreparedOperand* prepared(const InputView& operand, const Decision& decision, Index others) {
    if (!shared_ || !decision.plan || !fits(*decision.plan, decision, others)) return nullptr;
    const auto slicing =
        decision.plan->visit([this](const SplitPlan& plan) { return side_ == Side::rows_of_a ? plan.a : plan.b; });
    if (!held_ || held_->slices(slicing) == nullptr) {
      held_.reset();
      held_ = std::make_unique<PreparedOperand>(operand, side_, slicing, engine_);
    }
    return held_.get();
  }

 private:
  [[nodiscard]] bool fits(const Plan& plan, const Decision& decision, Index others) const {
    const bool rows = side_ == Side::rows_of_a;
    return full_workspace(engine_, plan, rows ? decision.m : others, rows ? others : decision.n, decision.k) <= workspace_;
  }

  bool shared_;
  Side side_;
  double workspace_;
  const Engine& engine_;
  std::unique_ptr<PreparedOperand> held_;
};

std::string spelling(const Slicing& slicing) { return to_string(slicing.encoding) + ":" + std::to_string(slicing.slices); }

template <class T>
class BatchedProduct {
 public:
  BatchedProduct(const Batch<T>& batch, std::span<const Decision> decisions, const BlasOptions& options)
      : batch_(batch), decisions_(decisions), options_(options), machine_(machine_of(options)) {
    if (options.prepared_a != nullptr) throw std::invalid_argument("prepared_a is not for a batch");
    if (options.prepared_b != nullptr) throw std::invalid_argument("prepared_b is not for a batch");
    if (decisions.size() != 1 && std::cmp_not_equal(decisions.size(), batch.count()))
      throw std::invalid_argument("decisions must be one, or one for each of " + std::to_string(batch.count()) +
                                  " products: " + std::to_string(decisions.size()));
  }

  std::vector<Certificate> run() {
    const FloatEnvironment environment;
    batch_.check_overlap();
    for (Index t = 0; t < batch_.count(); ++t)
      check_multiply(batch_.product(t).product(options_.place), decision(t), backend(t), multiply_options(options_));
    std::vector<Certificate> certificates(at(batch_.count()));
    if (batch_.count() == 0) return certificates;
    const auto& shared = backend(0).engine();
    SharedOperand a(batch_.shares_a(), Side::rows_of_a, options_.workspace, shared);
    SharedOperand b(batch_.shares_b(), Side::columns_of_b, options_.workspace, shared);
    writing_c([&] {
      for (const Index t : order()) {
        const auto product = batch_.product(t).product(options_.place);
        auto options = multiply_options(options_);
        if (&backend(t).engine() == &shared) {
          options.prepared_a = a.prepared(product.a, decision(t), 1);
          options.prepared_b = b.prepared(product.b, decision(t), options.prepared_a == nullptr ? 1 : product.m());
        }
        certificates[at(t)] = multiply(product, decision(t), backend(t), options);
      }
    });
    return certificates;
  }

 private:
  [[nodiscard]] const Decision& decision(Index t) const { return decisions_[decisions_.size() == 1 ? 0 : at(t)]; }

  [[nodiscard]] const Backend& backend(Index t) const { return machine_.backend_of(decision(t), options_.place); }

  /// Products that take the same slices of a shared operand one after the other.
  [[nodiscard]] std::vector<Index> order() const {
    std::vector<Index> products(at(batch_.count()));
    std::iota(products.begin(), products.end(), 0);
    if (decisions_.size() > 1)
      std::stable_sort(products.begin(), products.end(),
                       [this](Index s, Index t) { return shared_slices(decision(s)) < shared_slices(decision(t)); });
    return products;
  }

  [[nodiscard]] std::pair<std::string, std::string> shared_slices(const Decision& decision) const {
    if (!decision.plan) return {};
    return decision.plan->visit([this](const SplitPlan& plan) {
      return std::pair(batch_.shares_a() ? spelling(plan.a) : "", batch_.shares_b() ? spelling(plan.b) : "");
    });
  }

  const Batch<T>& batch_;
  std::span<const Decision> decisions_;
  const BlasOptions& options_;
  Machine machine_;
};

template <class T, class C>
std::vector<Decision> decide_all(const Batch<T, C>& batch, const Target& target, const BlasOptions& options) {
  const FloatEnvironment environment;
  const auto machine = machine_of(options);
  std::vector<Decision> decisions;
  for (Index t = 0; t < batch.count(); ++t)
    decisions.push_back(decide(batch.product(t).product(options.place), target, machine, choices_of(options)));
  return decisions;
}

template <class T>
std::vector<Certificate> gemm_all(const Batch<T>& batch, const Target& target, const BlasOptions& options) {
  const FloatEnvironment environment;
  batch.check_overlap();
  return BatchedProduct<T>(batch, decide_all(batch, target, options), options).run();
}

}  // namespace

std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                              const double* a, Index lda, Index stride_a, const double* b, Index ldb,
                                              Index stride_b, double beta, double* c, Index ldc, Index stride_c,
                                              Index batch_count, const Target& target, const BlasOptions& options) {
  return gemm_all<double>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count}, target,
      options);
}

std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                              const float* a, Index lda, Index stride_a, const float* b, Index ldb,
                                              Index stride_b, float beta, float* c, Index ldc, Index stride_c,
                                              Index batch_count, const Target& target, const BlasOptions& options) {
  return gemm_all<float>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count}, target,
      options);
}

std::vector<Decision> decide_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                             const double* a, Index lda, Index stride_a, const double* b, Index ldb,
                                             Index stride_b, double beta, const double* c, Index ldc, Index stride_c,
                                             Index batch_count, const Target& target, const BlasOptions& options) {
  const Batch<double, const double> batch({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a,
                                          stride_b, stride_c, batch_count);
  return decide_all(batch, target, options);
}

std::vector<Decision> decide_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                             const float* a, Index lda, Index stride_a, const float* b, Index ldb,
                                             Index stride_b, float beta, const float* c, Index ldc, Index stride_c,
                                             Index batch_count, const Target& target, const BlasOptions& options) {
  const Batch<float, const float> batch({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b,
                                        stride_c, batch_count);
  return decide_all(batch, target, options);
}

std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                              const double* a, Index lda, Index stride_a, const double* b, Index ldb,
                                              Index stride_b, double beta, double* c, Index ldc, Index stride_c,
                                              Index batch_count, std::span<const Decision> decisions,
                                              const BlasOptions& options) {
  const Batch<double> batch({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c,
                            batch_count);
  return BatchedProduct<double>(batch, decisions, options).run();
}

std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                              const float* a, Index lda, Index stride_a, const float* b, Index ldb,
                                              Index stride_b, float beta, float* c, Index ldc, Index stride_c,
                                              Index batch_count, std::span<const Decision> decisions,
                                              const BlasOptions& options) {
  const Batch<float> batch({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c,
                           batch_count);
  return BatchedProduct<float>(batch, decisions, options).run();
}

}  // namespace ozbound
