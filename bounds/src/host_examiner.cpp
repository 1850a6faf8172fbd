// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "allowance.hpp"
#include "facts_cache.hpp"
#include "largest_bound.hpp"
#include "ozbound/bounds/detail/entry_allowance.hpp"
#include "ozbound/bounds/detail/residue_facts.hpp"
#include "ozbound/bounds/examiner.hpp"
#include "ozbound/bounds/residue_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/fingerprint.hpp"

namespace ozbound {
namespace {

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

/// A lower bound of ||x||_2 of every vector.
std::vector<double> euclidean_norms(const std::vector<VectorNorms>& vectors) {
  std::vector<double> norms;
  for (const auto& vector : vectors) norms.push_back(euclidean_lower(vector.floor_squares));
  return norms;
}

ExponentRange outer_range(const std::vector<VectorNorms>& vectors) {
  ExponentRange range;
  for (const auto& vector : vectors) widen(range, vector.scale, vector.norms.zero(), vector.last_bit);
  return range;
}

class HostExamination final : public Examination {
 public:
  HostExamination(const RealProduct& product, const PreparedOperands& prepared, const Engine& engine)
      : of_(product),
        engine_(engine),
        rows_(of_.a, Side::rows_of_a, prepared.a, engine),
        columns_(of_.b, Side::columns_of_b, prepared.b, engine) {
    if (prepared.a != nullptr) row_norms_ = prepared.a->norms();
    if (prepared.b != nullptr) column_norms_ = prepared.b->norms();
  }

  OperandRecord record() override {
    const int threads = engine_.threads();
    return {fingerprint(of_.a, threads), fingerprint(of_.b, threads), special_vectors(of_.a, Side::rows_of_a, threads),
            special_vectors(of_.b, Side::columns_of_b, threads)};
  }

  PlanBound bound(const Plan& plan) override {
    return plan.visit([this](const SplitPlan& slices) { return bound_of_slices(slices); },
                      [this](const ResiduePlan& residues) { return bound_of_residues(residues); });
  }

  double error_at(const Plan& plan, double uniform, Index i, Index j) override {
    return plan.visit([&](const SplitPlan& slices) { return error_of_slices_at(slices, uniform, i, j); },
                      [&](const ResiduePlan& residues) {  // residues have the product's scales
                        return residue_entry_error_upper(row_norms()[static_cast<std::size_t>(i)],
                                                         column_norms()[static_cast<std::size_t>(j)], residues, of_.k());
                      });
  }

  bool holds(const ResiduePlan& plan) override {
    if (product_ && level_one_holds(plan)) return true;  // an existing product costs nothing
    if (!find_not_held(plan, norms_of(row_norms()), norms_of(column_norms()), of_.k())) return true;
    return level_one_holds(plan);
  }

  std::optional<ResidueFacts> residue_facts() override {
    if (!engine_.has_residues()) return std::nullopt;
    return ozbound::residue_facts(row_norms(), column_norms(), product().largest_units());
  }

  std::optional<OuterRanges> outer_ranges() override {
    if (row_norms_ == nullptr || column_norms_ == nullptr) return std::nullopt;
    return OuterRanges{outer_range(*row_norms_), outer_range(*column_norms_)};
  }

  std::unique_ptr<Allowance> allowance(const Target& target, double factor) override {
    std::vector<double> rows, columns;
    if (target.kind == Target::Kind::rowcol) rows = euclidean_norms(row_norms()), columns = euclidean_norms(column_norms());
    return std::make_unique<HostAllowance>(of_, target, factor, product(), std::move(rows), std::move(columns),
                                           engine_.threads());
  }

 private:
  PlanBound bound_of_slices(const SplitPlan& plan) {
    const auto& rows = rows_.all(plan.a);
    const auto& columns = columns_.all(plan.b);
    return {plan_error_upper(rows, columns, plan, of_.k()), exponents_of(rows), exponents_of(columns)};
  }

  double error_of_slices_at(const SplitPlan& plan, double uniform, Index i, Index j) {
    const auto& row = rows_.one(i, plan.a);
    const auto& column = columns_.one(j, plan.b);
    const auto shift = std::int64_t{row.scale.exponent} + column.scale.exponent -
                       product().row_exponents()[static_cast<std::size_t>(i)] -
                       product().column_exponents()[static_cast<std::size_t>(j)];
    return rescaled_upper(entry_error_upper(row, column, plan, of_.k(), uniform), shift);
  }

  PlanBound bound_of_residues(const ResiduePlan& plan) {
    return residue_plan_bound(row_norms(), column_norms(), plan, of_.k());
  }

  bool level_one_holds(const ResiduePlan& plan) {
    return covers_first_digits(row_norms(), plan.bits_a) && covers_first_digits(column_norms(), plan.bits_b) &&
           first_digits_held(plan, product().largest_units());
  }

  const std::vector<VectorNorms>& row_norms() {
    if (row_norms_ == nullptr) row_norms_ = &own_row_norms_.emplace(engine_.norms(of_.a, Side::rows_of_a));
    return *row_norms_;
  }
  const std::vector<VectorNorms>& column_norms() {
    if (column_norms_ == nullptr) column_norms_ = &own_column_norms_.emplace(engine_.norms(of_.b, Side::columns_of_b));
    return *column_norms_;
  }

  const MagnitudeProduct& product() {
    if (!product_) product_.emplace(of_.a, of_.b, engine_);
    return *product_;
  }

  RealProduct of_;
  const Engine& engine_;
  FactsCache rows_, columns_;
  const std::vector<VectorNorms>*row_norms_ = nullptr, *column_norms_ = nullptr;  ///< of a prepared operand, or own ones
  std::optional<std::vector<VectorNorms>> own_row_norms_, own_column_norms_;      ///< made on first use
  std::optional<MagnitudeProduct> product_;                                       ///< made on first use
};

void write_value(const OutputView& c, Index i, Index j, std::uint64_t wide_bits) {
  c.set_bits(i, j, c.is_double() ? wide_bits : bits_of(static_cast<float>(double_from_bits(wide_bits))));
}

}  // namespace

std::unique_ptr<Examination> HostExaminer::examine(const RealProduct& product, const PreparedOperands& prepared) const {
  return std::make_unique<HostExamination>(product, prepared, *engine_);
}

Examiner::ResultFacts HostExaminer::result_facts(const ErrorBound& bound, const RemotePlanBound*, const InputView& c,
                                                 const SpecialEntries& specials) const {
  const auto largest = ozbound::largest_bound(bound, c, specials, engine_->threads());
  return {engine_->matrices().fingerprint(c), largest.value, largest.infinite};
}

std::optional<Entry> HostExaminer::last_inexact(const PlanBound& known, const SpecialEntries& specials) const {
  const auto bound = fetched(known).product;
  std::optional<Entry> last;
  for (Index i = 0; i < static_cast<Index>(specials.rows.size()); ++i) {
    poll_cancelled();
    for (Index j = 0; j < static_cast<Index>(specials.columns.size()); ++j)
      if (!specials.at(i, j) && bound.upper(i, j) > 0) last = {i, j};
  }
  return last;
}

Examiner::Accepted HostExaminer::accept_relative(const InputView& product, const PlanBound& known, double alpha, double factor,
                                                 const SpecialEntries& specials, const OutputView& c) const {
  const auto bound = fetched(known);
  const double least_normal = c.is_double() ? 0x1p-1022 : 0x1p-126;
  Accepted accepted;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      if (j % 1024 == 0) poll_cancelled();
      if (specials.at(i, j)) continue;
      const auto bits = product.bits(i, j);
      const auto scale =
          std::int64_t{bound.row_exponents[static_cast<std::size_t>(i)]} + bound.column_exponents[static_cast<std::size_t>(j)];
      const auto verdict = judge_relative(bits, bound.product.upper(i, j), scale, alpha, factor, least_normal);
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
