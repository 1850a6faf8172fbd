// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "allowance.hpp"
#include "facts_cache.hpp"
#include "largest_bound.hpp"
#include "ozbound/bounds/detail/entry_allowance.hpp"
#include "ozbound/bounds/examiner.hpp"
#include "ozbound/bounds/residue_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/fingerprint.hpp"
#include "ozbound/core/last_bits.hpp"

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

std::vector<IntegerNorms> norms_of(const std::vector<VectorFacts>& vectors) {
  std::vector<IntegerNorms> norms;
  for (const auto& facts : vectors) norms.push_back(facts.vector);
  return norms;
}

class HostExamination final : public Examination {
 public:
  HostExamination(const RealProduct& product, const PreparedOperands& prepared, const Engine& engine)
      : of_(product),
        engine_(engine),
        rows_(of_.a, Side::rows_of_a, prepared.a, engine),
        columns_(of_.b, Side::columns_of_b, prepared.b, engine) {}

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
                      [&](const ResiduePlan& residues) {  // whose scales are the product's
                        return bound_of_residues(residues).product.upper(i, j);
                      });
  }

  bool holds(const ResiduePlan& plan) override {
    if (!find_not_held(plan, norms_of(rows_.all(residue_measure)), norms_of(columns_.all(residue_measure)), of_.k()))
      return true;
    // Level 1 counts in units of 2^-14 where norms do in units of 2^-32, and covers integers of 7 bits and more (R9).
    return std::min(plan.bits_a, plan.bits_b) >= 7 && product().largest_units() <= guard_limit(plan) >> 18;
  }

  std::unique_ptr<Allowance> allowance(const Target& target, double factor) override {
    return std::make_unique<HostAllowance>(of_, target, factor, product(), engine_);
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
    const auto& rows = rows_.all(residue_measure);
    const auto& columns = columns_.all(residue_measure);
    if (!last_bits_) {
      const int threads = engine_.threads();
      last_bits_.emplace(last_bits(of_.a, Side::rows_of_a, threads), last_bits(of_.b, Side::columns_of_b, threads));
    }
    return {residue_error_upper(rows, columns, last_bits_->first, last_bits_->second, plan, of_.k()), exponents_of(rows),
            exponents_of(columns)};
  }

  const MagnitudeProduct& product() {
    if (!product_) product_.emplace(of_.a, of_.b, engine_);
    return *product_;
  }

  RealProduct of_;
  const Engine& engine_;
  FactsCache rows_, columns_;
  std::optional<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> last_bits_;
  std::optional<MagnitudeProduct> product_;  ///< made when first needed
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
