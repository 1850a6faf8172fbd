// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/batch.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "blas_arguments.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

std::size_t at(Index t) { return static_cast<std::size_t>(t); }

/// Runs work on product t, and names the product in the exceptions of the work.
template <class Work>
auto of_product(Index t, const Work& work) {
  const auto named = [t](const std::exception& e) { return "product " + std::to_string(t) + ": " + e.what(); };
  try {
    return work();
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(named(e));
  } catch (const CannotCertify& e) {
    throw CannotCertify(named(e));
  }
}

/// Identifies the matrix of an operand: products with the same matrix share it.
using Operand = std::tuple<const void*, Index, Index, Index, Index>;

template <class T>
Operand operand_of(const MatrixView<const T>& view) {
  return {view.data(), view.rows(), view.cols(), view.row_stride(), view.col_stride()};
}

/// The products of a batch. All arguments are checked, even those that are not used.
template <class T, class C = T>
class Batch {
 public:
  using Views = BlasViews<T, C>;

  /// Takes a strided batch.
  Batch(const BlasArguments<T, C>& first, Index stride_a, Index stride_b, Index stride_c, Index count)
      : apart_("stride_c must keep the products apart: ") {
    check_size(stride_a, "stride_a");
    check_size(stride_b, "stride_b");
    check_size(stride_c, "stride_c");
    check_size(count, "batch_count");
    const auto views = views_of(first, count > 0);
    check_reach(views.a, stride_a, count, "a");
    check_reach(views.b, stride_b, count, "b");
    check_reach(views.c, stride_c, count, "c");
    reserve(count);
    for (Index t = 0; t < count; ++t) {
      auto arguments = first;
      const auto move = [t](auto*& data, Index stride) { data = data == nullptr ? nullptr : data + t * stride; };
      move(arguments.a, stride_a);
      move(arguments.b, stride_b);
      move(arguments.c, stride_c);
      products_.push_back(views_of(arguments));
    }
  }

  /// Takes a batch by pointers.
  explicit Batch(const GemmBatch<T>& x) : apart_("c must keep the products apart: ") {
    check_size(x.batch_count, "batch_count");
    const auto check = [&x](const auto& values, const char* name) {
      if (values.size() != 1 && std::cmp_not_equal(values.size(), x.batch_count))
        throw std::invalid_argument(std::string(name) + " must be one, or one for each of " + std::to_string(x.batch_count) +
                                    " products: " + std::to_string(values.size()));
    };
    check(x.op_a, "op_a"), check(x.op_b, "op_b");
    check(x.m, "m"), check(x.n, "n"), check(x.k, "k");
    check(x.alpha, "alpha"), check(x.beta, "beta");
    check(x.a, "a"), check(x.lda, "lda"), check(x.b, "b"), check(x.ldb, "ldb"), check(x.c, "c"), check(x.ldc, "ldc");
    check_layout(x.layout);
    reserve(x.batch_count);
    for (Index t = 0; t < x.batch_count; ++t)
      of_product(t, [&] {
        products_.push_back(views_of(BlasArguments<T, C>{x.layout, x.op_a[t], x.op_b[t], x.m[t], x.n[t], x.k[t], x.alpha[t],
                                                         x.a[t], x.lda[t], x.b[t], x.ldb[t], x.beta[t], x.c[t], x.ldc[t]}));
      });
  }

  [[nodiscard]] Index count() const { return static_cast<Index>(products_.size()); }
  [[nodiscard]] const Views& operator[](Index t) const { return products_[at(t)]; }
  [[nodiscard]] bool reads(Index t) const { return !is_zero(products_[at(t)].alpha); }

  /// Refuses a C that shares memory with another C, or with an A or B.
  void check_overlap() const {
    std::vector<Line> written;
    for (Index t = 0; t < count(); ++t) for_lines(products_[at(t)].c, t, [&](const Line& line) { written.push_back(line); });
    std::sort(written.begin(), written.end(),
              [](const Line& x, const Line& y) { return std::tie(x.begin, x.product) < std::tie(y.begin, y.product); });
    for (std::size_t i = 1; i < written.size(); ++i)
      if (written[i].begin < written[i - 1].end) {
        const auto [first, second] = std::minmax(written[i - 1].product, written[i].product);
        throw std::invalid_argument(apart_ + "C of " + std::to_string(first) + " and of " + std::to_string(second) +
                                    " overlap");
      }
    check_apart(written, &Views::a, "a");
    check_apart(written, &Views::b, "b");
  }

 private:
  /// The bytes [begin, end) of contiguous elements.
  struct Line {
    std::uintptr_t begin, end;
    Index product;
  };

  /// Passes the rows or columns of a matrix, as a BLAS stores it, to `take`; one line for the whole matrix if it has no gaps.
  template <class E, class Take>
  static void for_lines(const MatrixView<E>& view, Index product, const Take& take) {
    if (view.empty()) return;
    const bool by_rows = view.col_stride() == 1;
    auto lines = by_rows ? view.rows() : view.cols(), length = by_rows ? view.cols() : view.rows();
    const auto stride = by_rows ? view.row_stride() : view.col_stride();
    if (stride == length) length *= std::exchange(lines, 1);
    for (Index i = 0; i < lines; ++i) {
      const auto begin = reinterpret_cast<std::uintptr_t>(view.data() + i * stride);
      take(Line{begin, begin + at(length) * sizeof(E), product});
    }
  }

  /// Checks that no operand of any product overlaps any C. @param written all lines of all C, in memory order
  void check_apart(const std::vector<Line>& written, MatrixView<const T> Views::* operand, const char* name) const {
    Operand last;
    for (Index t = 0; t < count(); ++t) {
      const auto& view = products_[at(t)].*operand;
      if (!reads(t) || operand_of(view) == last) continue;
      last = operand_of(view);
      for_lines(view, t, [&](const Line& line) {
        const auto met =
            std::partition_point(written.begin(), written.end(), [&](const Line& c) { return c.end <= line.begin; });
        if (met != written.end() && met->begin < line.end)
          throw std::invalid_argument(std::string(name) + " must not overlap c: that of product " + std::to_string(t) +
                                      " overlaps C of product " + std::to_string(met->product));
      });
    }
  }

  /// Checks that the last matrix of the batch lies in the address space.
  template <class E>
  static void check_reach(const MatrixView<E>& view, Index stride, Index count, const char* name) {
    constexpr auto most = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(E));
    const Index last = view.empty() ? 0 : (view.rows() - 1) * view.row_stride() + (view.cols() - 1) * view.col_stride() + 1;
    if (stride > 0 && count > 0 && count - 1 > (most - last) / stride)
      throw std::invalid_argument("stride_" + std::string(name) + " leads beyond the address space: " + std::to_string(stride));
  }

  void reserve(Index count) { products_.reserve(at(count)); }

  std::vector<Views> products_;
  std::string apart_;  ///< beginning of the message
};

/// The part of a form that operands must share to be prepared once: a slicing, or the bits of residues.
std::string spelling(const OperandForm& form) {
  if (const auto* const residues = std::get_if<ResidueForm>(&form)) return "residues of " + std::to_string(residues->bits);
  const auto& slicing = std::get<Slicing>(form);
  return to_string(slicing.encoding) + ":" + std::to_string(slicing.slices);
}

/// Returns the form whose integers serve both. @pre x and y have one spelling.
OperandForm wider(const OperandForm& x, const OperandForm& y) {
  const auto *const first = std::get_if<ResidueForm>(&x), *const second = std::get_if<ResidueForm>(&y);
  return first != nullptr && second != nullptr && first->moduli < second->moduli ? y : x;
}

/// An operand shared by several products, and the spelling of its forms; empty if only one product uses it.
using InCommon = std::pair<Operand, std::string>;

/// The plan with the bits and moduli of a form on one side; a plan by slices is unchanged.
Plan with_form(const Plan& plan, Side side, const OperandForm& form) {
  return plan.visit([](const SplitPlan& slices) { return Plan(slices); },
                    [&](ResiduePlan residues) {
                      residues.moduli = std::get<ResidueForm>(form).moduli;
                      (side == Side::rows_of_a ? residues.bits_a : residues.bits_b) = std::get<ResidueForm>(form).bits;
                      return Plan(residues);
                    });
}

/// One side's operands, each prepared once for all decisions that it serves, unless the whole operand exceeds the workspace.
class SharedOperand {
 public:
  SharedOperand(Side side, double workspace, const Engine& engine) : side_(side), workspace_(workspace), engine_(engine) {}

  /// Records the form that one of the products needs, so that the prepared operand serves all of them.
  void add(const InCommon& common, const OperandForm& form) {
    const auto known = forms_.try_emplace(common, form).first;
    known->second = wider(known->second, form);
  }

  /// @param others number of vectors of the other operand that must fit beside it.
  const PreparedOperand* prepared(const InCommon& common, const InputView& operand, const Decision& decision, Index others) {
    if (common == InCommon{}) return nullptr;
    const auto& form = forms_.at(common);
    if (!fits(with_form(*decision.plan, side_, form), decision, others)) return nullptr;
    if (held_ && of_ == common) return held_.get();
    held_.reset();
    held_ = std::make_unique<PreparedOperand>(operand, side_, form, engine_);
    of_ = common;
    return held_.get();
  }

 private:
  [[nodiscard]] bool fits(const Plan& plan, const Decision& decision, Index others) const {
    const bool rows = side_ == Side::rows_of_a;
    return full_workspace(engine_, plan, rows ? decision.m : others, rows ? others : decision.n, decision.k) <= workspace_;
  }

  Side side_;
  double workspace_;
  const Engine& engine_;
  std::map<InCommon, OperandForm> forms_;
  InCommon of_;
  std::unique_ptr<PreparedOperand> held_;
};

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
      of_product(t, [&] { check_multiply(product(t), decision(t), backend(t), multiply_options(options_)); });
    std::vector<Certificate> certificates(at(batch_.count()));
    if (batch_.count() == 0) return certificates;
    find_common();
    const auto& shared = backend(0).engine();
    SharedOperand a(Side::rows_of_a, options_.workspace, shared), b(Side::columns_of_b, options_.workspace, shared);
    for (Index t = 0; t < batch_.count(); ++t) {
      if (common_a_[at(t)] != InCommon{}) a.add(common_a_[at(t)], decision(t).plan->form(Side::rows_of_a));
      if (common_b_[at(t)] != InCommon{}) b.add(common_b_[at(t)], decision(t).plan->form(Side::columns_of_b));
    }
    writing_c([&] {
      for (const Index t : order()) {
        auto options = multiply_options(options_);
        if constexpr (std::is_floating_point_v<T>) {
          if (&backend(t).engine() == &shared) {
            const auto real = product(t);
            options.prepared_a = a.prepared(common_a_[at(t)], real.a, decision(t), 1);
            options.prepared_b =
                b.prepared(common_b_[at(t)], real.b, decision(t), options.prepared_a == nullptr ? 1 : real.m());
          }
        }
        certificates[at(t)] = multiply(product(t), decision(t), backend(t), options);
      }
    });
    return certificates;
  }

 private:
  [[nodiscard]] const Decision& decision(Index t) const { return decisions_[decisions_.size() == 1 ? 0 : at(t)]; }
  [[nodiscard]] const Backend& backend(Index t) const { return machine_.backend_of(decision(t), options_.place); }
  [[nodiscard]] auto product(Index t) const { return batch_[t].product(options_.place); }

  /// Finds the products that share operands. Complex products have none: their real products use copies.
  void find_common() {
    common_a_.resize(at(batch_.count())), common_b_.resize(at(batch_.count()));
    if constexpr (std::is_floating_point_v<T>) {
      std::map<Operand, Index> readers_of_a, readers_of_b;
      for_planned([&](Index, const Operand& a, const Operand& b) { ++readers_of_a[a], ++readers_of_b[b]; });
      for_planned([&](Index t, const Operand& a, const Operand& b) {
        const auto& plan = *decision(t).plan;
        if (readers_of_a[a] > 1) common_a_[at(t)] = {a, spelling(plan.form(Side::rows_of_a))};
        if (readers_of_b[b] > 1) common_b_[at(t)] = {b, spelling(plan.form(Side::columns_of_b))};
      });
    }
  }

  template <class Take>
  void for_planned(const Take& take) const {
    for (Index t = 0; t < batch_.count(); ++t)
      if (batch_.reads(t) && decision(t).plan) take(t, operand_of(batch_[t].a), operand_of(batch_[t].b));
  }

  /// An order in which products that take the same integers of a shared operand follow each other.
  [[nodiscard]] std::vector<Index> order() const {
    std::vector<Index> products(at(batch_.count()));
    std::iota(products.begin(), products.end(), 0);
    std::stable_sort(products.begin(), products.end(), [this](Index s, Index t) {
      return std::tie(common_a_[at(s)], common_b_[at(s)]) < std::tie(common_a_[at(t)], common_b_[at(t)]);
    });
    return products;
  }

  const Batch<T>& batch_;
  std::span<const Decision> decisions_;
  const BlasOptions& options_;
  Machine machine_;
  std::vector<InCommon> common_a_, common_b_;  ///< of each product
};

template <class T, class C>
std::vector<Decision> decide_all(const Batch<T, C>& batch, const Target& target, const BlasOptions& options) {
  const FloatEnvironment environment;
  const auto machine = machine_of(options);
  std::vector<Decision> decisions;
  for (Index t = 0; t < batch.count(); ++t)
    decisions.push_back(
        of_product(t, [&] { return decide(batch[t].product(options.place), target, machine, choices_of(options)); }));
  return decisions;
}

template <class T>
std::vector<Certificate> run_all(const Batch<T>& batch, std::span<const Decision> decisions, const BlasOptions& options) {
  return BatchedProduct<T>(batch, decisions, options).run();
}

template <class T>
std::vector<Certificate> gemm_all(const Batch<T>& batch, const Target& target, const BlasOptions& options) {
  const FloatEnvironment environment;
  batch.check_overlap();
  return run_all<T>(batch, decide_all(batch, target, options), options);
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

std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                              std::complex<double> alpha, const std::complex<double>* a, Index lda,
                                              Index stride_a, const std::complex<double>* b, Index ldb, Index stride_b,
                                              std::complex<double> beta, std::complex<double>* c, Index ldc, Index stride_c,
                                              Index batch_count, const Target& target, const BlasOptions& options) {
  return gemm_all<std::complex<double>>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count}, target,
      options);
}

std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                              std::complex<float> alpha, const std::complex<float>* a, Index lda,
                                              Index stride_a, const std::complex<float>* b, Index ldb, Index stride_b,
                                              std::complex<float> beta, std::complex<float>* c, Index ldc, Index stride_c,
                                              Index batch_count, const Target& target, const BlasOptions& options) {
  return gemm_all<std::complex<float>>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count}, target,
      options);
}

std::vector<Decision> decide_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                             const double* a, Index lda, Index stride_a, const double* b, Index ldb,
                                             Index stride_b, double beta, const double* c, Index ldc, Index stride_c,
                                             Index batch_count, const Target& target, const BlasOptions& options) {
  return decide_all<double, const double>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count}, target,
      options);
}

std::vector<Decision> decide_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                             const float* a, Index lda, Index stride_a, const float* b, Index ldb,
                                             Index stride_b, float beta, const float* c, Index ldc, Index stride_c,
                                             Index batch_count, const Target& target, const BlasOptions& options) {
  return decide_all<float, const float>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count}, target,
      options);
}

std::vector<Decision> decide_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                             std::complex<double> alpha, const std::complex<double>* a, Index lda,
                                             Index stride_a, const std::complex<double>* b, Index ldb, Index stride_b,
                                             std::complex<double> beta, const std::complex<double>* c, Index ldc,
                                             Index stride_c, Index batch_count, const Target& target,
                                             const BlasOptions& options) {
  return decide_all<std::complex<double>, const std::complex<double>>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count}, target,
      options);
}

std::vector<Decision> decide_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                             std::complex<float> alpha, const std::complex<float>* a, Index lda, Index stride_a,
                                             const std::complex<float>* b, Index ldb, Index stride_b, std::complex<float> beta,
                                             const std::complex<float>* c, Index ldc, Index stride_c, Index batch_count,
                                             const Target& target, const BlasOptions& options) {
  return decide_all<std::complex<float>, const std::complex<float>>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count}, target,
      options);
}

std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                              const double* a, Index lda, Index stride_a, const double* b, Index ldb,
                                              Index stride_b, double beta, double* c, Index ldc, Index stride_c,
                                              Index batch_count, std::span<const Decision> decisions,
                                              const BlasOptions& options) {
  return run_all<double>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count},
      decisions, options);
}

std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                              const float* a, Index lda, Index stride_a, const float* b, Index ldb,
                                              Index stride_b, float beta, float* c, Index ldc, Index stride_c,
                                              Index batch_count, std::span<const Decision> decisions,
                                              const BlasOptions& options) {
  return run_all<float>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count},
      decisions, options);
}

std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                              std::complex<double> alpha, const std::complex<double>* a, Index lda,
                                              Index stride_a, const std::complex<double>* b, Index ldb, Index stride_b,
                                              std::complex<double> beta, std::complex<double>* c, Index ldc, Index stride_c,
                                              Index batch_count, std::span<const Decision> decisions,
                                              const BlasOptions& options) {
  return run_all<std::complex<double>>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count},
      decisions, options);
}

std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                              std::complex<float> alpha, const std::complex<float>* a, Index lda,
                                              Index stride_a, const std::complex<float>* b, Index ldb, Index stride_b,
                                              std::complex<float> beta, std::complex<float>* c, Index ldc, Index stride_c,
                                              Index batch_count, std::span<const Decision> decisions,
                                              const BlasOptions& options) {
  return run_all<std::complex<float>>(
      {{layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c, batch_count},
      decisions, options);
}

template <BlasNumber T>
std::vector<Certificate> gemm_batched(const GemmBatch<T>& batch, const Target& target, const BlasOptions& options) {
  return gemm_all(Batch<T>(batch), target, options);
}

template <BlasNumber T>
std::vector<Decision> decide_batched(const GemmBatch<T>& batch, const Target& target, const BlasOptions& options) {
  return decide_all(Batch<T, const T>(batch), target, options);
}

template <BlasNumber T>
std::vector<Certificate> gemm_batched(const GemmBatch<T>& batch, std::span<const Decision> decisions,
                                      const BlasOptions& options) {
  return run_all(Batch<T>(batch), decisions, options);
}

template std::vector<Certificate> gemm_batched(const GemmBatch<double>&, const Target&, const BlasOptions&);
template std::vector<Decision> decide_batched(const GemmBatch<double>&, const Target&, const BlasOptions&);
template std::vector<Certificate> gemm_batched(const GemmBatch<double>&, std::span<const Decision>, const BlasOptions&);
template std::vector<Certificate> gemm_batched(const GemmBatch<float>&, const Target&, const BlasOptions&);
template std::vector<Decision> decide_batched(const GemmBatch<float>&, const Target&, const BlasOptions&);
template std::vector<Certificate> gemm_batched(const GemmBatch<float>&, std::span<const Decision>, const BlasOptions&);
template std::vector<Certificate> gemm_batched(const GemmBatch<std::complex<double>>&, const Target&, const BlasOptions&);
template std::vector<Decision> decide_batched(const GemmBatch<std::complex<double>>&, const Target&, const BlasOptions&);
template std::vector<Certificate> gemm_batched(const GemmBatch<std::complex<double>>&, std::span<const Decision>,
                                               const BlasOptions&);
template std::vector<Certificate> gemm_batched(const GemmBatch<std::complex<float>>&, const Target&, const BlasOptions&);
template std::vector<Decision> decide_batched(const GemmBatch<std::complex<float>>&, const Target&, const BlasOptions&);
template std::vector<Certificate> gemm_batched(const GemmBatch<std::complex<float>>&, std::span<const Decision>,
                                               const BlasOptions&);

}  // namespace ozbound
