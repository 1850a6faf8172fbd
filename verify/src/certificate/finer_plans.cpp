// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "expected.hpp"
#include "outward.hpp"

// Methods that continue with finer plans while entries are open, and finish exactly the entries that all plans leave open.

namespace ozbound::checking {
namespace {

constexpr auto lowest_exponent = std::numeric_limits<std::int64_t>::min();

class FinerPlans : public Expected {
 public:
  FinerPlans(const Claims& claims, const Subject& subject) : Expected(claims, subject) {
    limits.emplace_back("plans: that these and no others were tried, where others leave the same entries");
  }

  void look_at_identity(Tally& tally, EntryProducts& products, Index i, Index j) const override {
    for (std::size_t t = 0; t < plans.size(); ++t)
      for (const auto& [alpha, row] : product_terms(subject_.operands, i))
        if (products.has_sum(t, row)) compare(tally, products.exact(row) + -products.sum(t, row), plans[t].bound(), row, j);
  }
};

/// The entry of the last plan that is close enough (T4), or the exact one if none is.
class RelativeTarget final : public FinerPlans {
 public:
  RelativeTarget(const Claims& claims, const Subject& subject) : FinerPlans(claims, subject) {
    source = "relative: every entry within tau |C|";
    bounds.result_factor = quotient_up(tau_, difference_down(1, tau_));
    ratio_of_entries = true;
  }

  std::optional<double> entry(Tally& tally, EntryProducts& products, Index i, Index j,
                              const OracleEntry& truth) const override {
    const double factor = quotient_down(difference_down(product_down(tau_, 1 - subject_.u), subject_.u), sum_up(1, tau_));
    const double least_normal = subject_.c.format() == ResultFormat::of_double ? 0x1p-1022 : 0x1p-126;
    std::optional<double> value;
    for (std::size_t t = 0; t < plans.size(); ++t) {
      const double error = error_times_alpha(plans[t].bound(), subject_.operands.alpha, i, j);
      const double c = rounded_to(products.sum_with_scalars(t, i), subject_.c.format());
      const double allowed = product_down(factor, std::fabs(c));
      const bool close = std::isfinite(c) && std::fabs(c) >= least_normal && error <= allowed;
      if (plans[t].bound().at(i, j) == 0 || close) {
        value = c;
        if (plans[t].bound().at(i, j) > 0)
          tally.relative_ratio = std::max(tally.relative_ratio, std::min(1.0, quotient_up(error, allowed)));
      } else if (t == 0) {
        ++tally.undecided;
      }
    }
    if (!value) ++tally.exact;
    return value.value_or(truth.rounded);
  }

  [[nodiscard]] WorstRatio ratio(const Tally& tally) const override {
    return {with_rounding(tally.relative_ratio, tau_, subject_.u)};
  }
};

/// Correct rounding, by Ziv's test of each plan (targets.md, T5).
class CorrectlyRounded final : public FinerPlans {
 public:
  using FinerPlans::FinerPlans;

  std::optional<double> entry(Tally& tally, EntryProducts& products, Index i, Index j,
                              const OracleEntry& truth) const override {
    if (subject_.complex_scalars) return truth.rounded;  // is counted with its other part
    count(tally, [&](std::size_t t) { return left_open(products, t, i, j); });
    return truth.rounded;
  }

  [[nodiscard]] bool in_pairs() const override { return subject_.complex_scalars; }

  /// Both parts of a complex entry stay open if one does. Both are counted, special or not.
  void count_pair(Tally& tally, EntryProducts& products, Index i, Index j) const override {
    if (!subject_.complex_scalars) return;
    const Index first = i - i % 2;
    count(tally, [&](std::size_t t) {
      return left_open_if_finite(products, t, first, j) || left_open_if_finite(products, t, first + 1, j);
    });
  }

 private:
  /// Takes plans until one does not leave the entry open.
  template <class LeftOpen>
  void count(Tally& tally, const LeftOpen& left_open) const {
    bool open = true;
    for (std::size_t t = 0; open && t < plans.size(); ++t) {
      open = left_open(t);
      if (open && t == 0) ++tally.undecided;
    }
    if (open) ++tally.exact;
  }

  [[nodiscard]] bool left_open_if_finite(EntryProducts& products, std::size_t t, Index i, Index j) const {
    return subject_.is_finite(i, j) && left_open(products, t, i, j);
  }

  [[nodiscard]] bool left_open(EntryProducts& products, std::size_t t, Index i, Index j) const {
    if (subject_.operands.a.cols() == 0) return false;
    const auto& bound = plans[t].bound();
    ExactNumber radius;
    for (const auto& [alpha, row] : product_terms(subject_.operands, i)) {
      const double error = bound.at(row, j);
      if (error == infinity) return true;
      radius = radius + absolute(exact(alpha)) * times_power(error, bound.scale(row, j));
    }
    if (radius.number == 0) return false;
    auto h = absolute(products.sum_with_scalars(t, i));
    if (!subject_.complex_scalars) to_grid(h, radius, exact(subject_.operands.alpha) * products.sum(t, i), i, j);
    if ((h + -radius).number <= 0) return true;
    const auto format = subject_.c.format();
    return !same(rounded_to(h + radius, format), rounded_to(h + -radius, format));
  }

  /// Moves a real product to the grid of T5: rounds h down and the radius up, and adds one to the radius if h was not on the
  /// grid.
  void to_grid(ExactNumber& h, ExactNumber& radius, const ExactNumber& product, Index i, Index j) const {
    const auto& in = subject_.operands;
    const auto c0 = in.beta == 0 ? ExactNumber{} : exact(in.beta) * exact(in.c0(i, j));
    if (product.number == 0 && c0.number == 0) return;
    const auto top = [](const ExactNumber& x) { return x.number == 0 ? lowest_exponent : leading_exponent(x); };
    const auto unit = std::max(top(product), top(c0)) + 3 - 512;
    const auto units = [unit](const ExactNumber& x) { return ExactNumber{whole_multiple(x, unit), unit}; };
    const auto is_cut = [&units](const ExactNumber& x) { return (x + -units(x)).number != 0; };
    const int more = (is_cut(h) ? 1 : 0) + (is_cut(radius) ? 1 : 0);
    h = units(h);
    radius = units(radius) + ExactNumber{more, unit};
  }
};

}  // namespace

std::unique_ptr<Expected> within_relative_target(const Claims& claims, const Subject& subject) {
  return std::make_unique<RelativeTarget>(claims, subject);
}

std::unique_ptr<Expected> correctly_rounded(const Claims& claims, const Subject& subject) {
  return std::make_unique<CorrectlyRounded>(claims, subject);
}

}  // namespace ozbound::checking
