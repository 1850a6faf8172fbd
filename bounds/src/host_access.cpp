#include <algorithm>
#include <utility>

#include "allowance.hpp"
#include "facts_cache.hpp"
#include "largest_bound.hpp"
#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/entry_allowance.hpp"
#include "ozbound/bounds/operand_access.hpp"
#include "ozbound/bounds/truncation_bound.hpp"

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

/// The range of one row, or nothing where it holds a special: each of its entries of C is special then.
ExponentRange range_of_row(InputView rows, Index i) {
  ExponentRange range;
  for (Index l = 0; l < rows.cols(); ++l) {
    if (!is_finite(rows.bits(i, l), binary64)) return {};
    add(range, rows.element(i, l));
  }
  return range;
}

std::vector<std::uint8_t> special_vectors(const InputView& operand, Side side, int threads) {
  std::vector<std::uint8_t> special;
  for (const auto& scale : vector_scales(operand, side, Encoding::balanced(), threads))
    special.push_back(scale.special ? 1 : 0);
  return special;
}

std::vector<std::int32_t> exponents_of(const std::vector<VectorFacts>& vectors) {
  std::vector<std::int32_t> exponents;
  for (const auto& facts : vectors) exponents.push_back(facts.scale.exponent);
  return exponents;
}

class HostExamination final : public Examination {
 public:
  HostExamination(const Factors& factors, const DecideOptions& options, const Engine& engine)
      : a_(factors.a),
        b_(factors.b),
        options_(options),
        engine_(engine),
        rows_(a_, Side::rows_of_a, factors.prepared_a, engine),
        columns_(b_, Side::columns_of_b, factors.prepared_b, engine) {}

  OperandRecord record() override {
    const int threads = engine_.threads();
    return {fingerprint(a_, threads), fingerprint(b_, threads), special_vectors(a_, Side::rows_of_a, threads),
            special_vectors(b_, Side::columns_of_b, threads)};
  }

  PlanBound bound(const SplitPlan& plan) override {
    const auto& rows = rows_.all(plan.a);
    const auto& columns = columns_.all(plan.b);
    return {plan_error_upper(rows, columns, plan, a_.cols()), exponents_of(rows), exponents_of(columns)};
  }

  double error_at(const SplitPlan& plan, double uniform, Index i, Index j) override {
    const auto& row = rows_.one(i, plan.a);
    const auto& column = columns_.one(j, plan.b);
    const auto shift = std::int64_t{row.scale.exponent} + column.scale.exponent -
                       product().row_exponents()[static_cast<std::size_t>(i)] -
                       product().column_exponents()[static_cast<std::size_t>(j)];
    return rescaled_upper(entry_error_upper(row, column, plan, a_.cols(), uniform), shift);
  }

  std::unique_ptr<Allowance> allowance(const Target& target, double factor) override {
    return std::make_unique<HostAllowance>(a_, b_, target, factor, options_, product(), engine_);
  }

 private:
  const MagnitudeProduct& product() {
    if (!product_) product_.emplace(a_, b_, engine_);
    return *product_;
  }

  InputView a_, b_;
  const DecideOptions& options_;
  const Engine& engine_;
  FactsCache rows_, columns_;
  std::optional<MagnitudeProduct> product_;  ///< made when first needed
};

void write_value(const OutputView& c, Index i, Index j, std::uint64_t wide_bits) {
  c.set_bits(i, j, c.is_double() ? wide_bits : bits_of(static_cast<float>(double_from_bits(wide_bits))));
}

}  // namespace

std::uint64_t HostAccess::fingerprint(const InputView& matrix) const { return ozbound::fingerprint(matrix, engine_.threads()); }

ExponentRange HostAccess::exponent_range(const InputView& operand, Side side) const {
  const auto vectors = vectors_of(operand, side);
  ExponentRange all;
  for (Index i = 0; i < vectors.rows(); ++i) {
    const auto range = range_of_row(vectors, i);
    all = {std::min(all.least, range.least), std::max(all.top, range.top)};
  }
  return all;
}

ExponentRange HostAccess::exponent_range(const InputView& matrix) const {
  ExponentRange range;
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j)
      if (is_finite(matrix.bits(i, j), binary64)) add(range, matrix.element(i, j));
  return range;
}

std::unique_ptr<OwnedMatrix> HostAccess::matrix(Index rows, Index cols, bool is_double) const {
  if (is_double) return std::make_unique<HostMatrix<double>>(rows, cols);
  return std::make_unique<HostMatrix<float>>(rows, cols);
}

std::unique_ptr<OwnedMatrix> HostAccess::copy(const InputView& matrix) const {
  auto result = std::make_unique<HostMatrix<double>>(matrix.rows(), matrix.cols());
  const auto to = result->view();
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) to.set_bits(i, j, matrix.bits(i, j));
  return result;
}

SpecialEntries HostAccess::special_entries(const GemmCall& call) const {
  return ozbound::special_entries(call, engine_.threads());
}

Index HostAccess::count(const SpecialEntries& specials) const {
  if (specials.c0.empty()) return specials.count_by_product();
  Index count = 0;
  for (Index i = 0; i < specials.c0.rows(); ++i)
    for (Index j = 0; j < specials.c0.cols(); ++j) count += specials.at(i, j) ? 1 : 0;
  return count;
}

void HostAccess::apply_specials(const GemmCall& call, const SpecialEntries& specials) const {
  ozbound::apply_specials(call, specials, engine_.threads());
}

void HostAccess::multiply_exactly(const GemmCall& call, const SpecialEntries& specials) const {
  ozbound::multiply_exactly(call, specials, engine_.threads());
}

void HostAccess::finish_exactly(const GemmCall& call, const std::vector<Entry>& entries) const {
  ozbound::finish_exactly(call, entries, engine_.threads());
}

std::unique_ptr<Examination> HostAccess::examine(const Factors& factors, const DecideOptions& options) const {
  return std::make_unique<HostExamination>(factors, options, engine_);
}

void HostAccess::multiply_finite(const GemmCall& call, const SplitPlan& plan, KeptSlices kept, double workspace) const {
  ozbound::multiply_finite(call, plan, engine_, kept, nullptr, workspace);
}

OperandAccess::ResultFacts HostAccess::result_facts(const ErrorBound& bound, const RemotePlanBound*, const InputView& c,
                                                    const SpecialEntries& specials) const {
  const auto largest = ozbound::largest_bound(bound, c, specials, engine_.threads());
  return {fingerprint(c), largest.value, largest.infinite};
}

std::vector<Entry> HostAccess::infinite_entries(const InputView& c, const SpecialEntries& specials) const {
  std::vector<Entry> entries;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j)
      if ((c.bits(i, j) & ~binary64.sign) == binary64.inf && !specials.at(i, j)) entries.push_back({i, j});
  return entries;
}

std::optional<Entry> HostAccess::last_inexact(const EntryBound& bound, const SpecialEntries& specials) const {
  std::optional<Entry> last;
  for (Index i = 0; i < static_cast<Index>(specials.rows.size()); ++i)
    for (Index j = 0; j < static_cast<Index>(specials.columns.size()); ++j)
      if (!specials.at(i, j) && bound.upper(i, j) > 0) last = {i, j};
  return last;
}

OperandAccess::Accepted HostAccess::accept_relative(const InputView& product, const ErrorBound& bound, double factor,
                                                    const SpecialEntries& specials, const OutputView& c) const {
  const double least_normal = c.is_double() ? 0x1p-1022 : 0x1p-126;
  Accepted accepted;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      if (specials.at(i, j)) continue;
      const auto bits = product.bits(i, j);
      const auto scale =
          std::int64_t{bound.row_exponents[static_cast<std::size_t>(i)]} + bound.column_exponents[static_cast<std::size_t>(j)];
      const auto verdict = judge_relative(bits, bound.product.upper(i, j), scale, bound.alpha, factor, least_normal);
      if (!verdict.accepted) {
        accepted.open.push_back({i, j});
        continue;
      }
      accepted.worst = std::max(accepted.worst, verdict.share);
      write_value(c, i, j, bits);
    }
  return accepted;
}

}  // namespace ozbound
