// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "expected.hpp"
#include "outward.hpp"
#include "parallel.hpp"

namespace ozbound::checking {
namespace {

constexpr const char* assumed_of_tensor_cores =
    "tensor cores' sum of k products of bfloat16 numbers is at most the exact one over 1 - k 2^-22";
constexpr Index longest_by_tensor_cores = Index{1} << 21;  ///< longest inner dimension for which their sums are used (E5)

/// One plan, rounded once.
class OnePlan final : public Expected {
 public:
  OnePlan(const Claims& claims, const Subject& subject) : Expected(claims, subject) {
    source = plans[0].by_residues()
                 ? "residues: 1/2 (2^-p_A ||b_j||_1 + 2^-p_B ||a~_i||_1), 0 for what is exact; one rounding"
                 : "general bound: sum_p h(A_p, T^B_c(p)) + h(T^A_sA, B), or k rho sigma (sum_p a_p t_c(p) + t_sA); one "
                   "rounding";
    bounds.product = plans[0].bound();
    if (!subject.complex_scalars) return;
    source = plans[0].by_residues() ? "residues of the parts of A B, times |alpha_r| and |alpha_i|; one rounding"
                                    : "general bound of the parts of A B, times |alpha_r| and |alpha_i|; one rounding";
    bounds.product = times_complex(bounds.product, subject.operands.alpha, subject.operands.imaginary_alpha);
  }

  /// The plan's sum, rounded. If it is infinite, for a complex entry in either part, the exact entry.
  std::optional<double> entry(Tally& tally, EntryProducts& products, Index i, Index j,
                              const OracleEntry& truth) const override {
    const double c = rounded_to(products.sum_with_scalars(0, i), subject_.c.format());
    if (!std::isinf(c) && !other_part_overflows(products, i, j)) return c;
    ++tally.exact;
    return truth.rounded;
  }

  void count_pair(Tally& tally, EntryProducts& products, Index i, Index j) const override {
    if (!subject_.is_finite(i, j) && other_part_overflows(products, i, j)) ++tally.exact;  // counted as the other part is
  }

  [[nodiscard]] bool in_pairs() const override { return subject_.complex_scalars; }

  void look_at_identity(Tally& tally, EntryProducts& products, Index i, Index j) const override {
    ExactNumber error;
    for (const auto& [alpha, row] : product_terms(subject_.operands, i))
      error = error + exact(subject_.complex_scalars ? alpha : 1) * (products.exact(row) + -products.sum(0, row));
    compare(tally, error, bounds.product, i, j);
  }

  [[nodiscard]] WorstRatio ratio(const Tally&) const override {
    const auto& target = claims_.target;
    if (target.kind == Target::Kind::cr) return zero_error();
    if (!(tau_ >= subject_.u)) return {infinity};
    const auto& in = subject_.operands;
    if (!subject_.complex_scalars) return worst_ratio(bounds.product, target, tau_, subject_.u, in, subject_.finite);
    if (target.kind == Target::Kind::normwise && subject_.finite != subject_.finite_product) return {infinity};
    return worst_ratio(plans[0].bound(), target, tau_, subject_.u, {in.a, in.b}, subject_.finite_product);
  }

  /// This checker assumes nothing about tensor cores. But the certifier's search for the worst entry may have trusted them: if
  /// level 1 of the enclosure does not settle every entry, their sums tell which entries to look at (enclosure.md, E5).
  [[nodiscard]] std::vector<std::string> assumptions(const WorstRatio& worst) const override {
    const auto kind = claims_.target.kind;
    const bool by_entry = kind != Target::Kind::rowcol && kind != Target::Kind::normwise;
    const bool may_search = by_entry && worst.loose && subject_.operands.a.cols() <= longest_by_tensor_cores;
    auto all = assumed;
    if (may_search && claims_.assumptions == std::vector<std::string>{assumed_of_tensor_cores})
      all.emplace_back(assumed_of_tensor_cores);  // assumed by the search only, not by this check
    return all;
  }

 private:
  /// True if the plan's sum of the other part of a complex entry is infinite.
  [[nodiscard]] bool other_part_overflows(EntryProducts& products, Index i, Index j) const {
    return subject_.complex_scalars && subject_.is_finite(i ^ 1, j) &&
           std::isinf(rounded_to(products.sum_with_scalars(0, i ^ 1), subject_.c.format()));
  }

  /// A single plan is correctly rounded if its error bound is zero. Reports the last entry for which it is not.
  [[nodiscard]] WorstRatio zero_error() const {
    const Index m = subject_.m(), n = subject_.n();
    std::vector<Index> last(at(m), -1);
    for_rows(m, n, [&](Index i) {
      for (Index j = 0; j < n; ++j)
        if (subject_.is_finite(i, j) && bounds.product.at(i, j) > 0) last[at(i)] = j;
    });
    for (Index i = m - 1; i >= 0; --i)
      if (last[at(i)] >= 0) return {infinity, i, last[at(i)]};
    return {1};
  }
};

}  // namespace

std::unique_ptr<Expected> by_one_plan(const Claims& claims, const Subject& subject) {
  return std::make_unique<OnePlan>(claims, subject);
}

}  // namespace ozbound::checking
