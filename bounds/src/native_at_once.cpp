// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/detail/native_at_once.hpp"

#include <algorithm>
#include <cmath>

#include "allowance.hpp"
#include "candidates.hpp"
#include "certifier.hpp"
#include "native_bound.hpp"
#include "ozbound/bounds/examiner.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/exponent_range.hpp"
#include "ozbound/core/real_representation.hpp"
#include "plans_by_cost.hpp"

namespace ozbound {

namespace {

constexpr std::size_t most_plans = 64;

/// True if one entry, or the two parts of a complex one, rules out all cheaper ways. Its row and its column need no more bits
/// and no more moduli than all rows and columns do, so that `decide` rules these ways out too.
/// @param stated the product of one row and one column @param entry the same, or the real product that stands for it
bool refuses(const WithoutSlices& ways, const Product& stated, const RealProduct& entry, const Target& target) {
  static const auto& engine = *new CpuEngine({.threads = 1});  // never destroyed: programs may multiply during their exit
  const auto& format = entry.c.format();
  const double u = unit_roundoff(format), tau = target_tau(target, entry.k(), format, has_scalars(entry.alpha, entry.beta));
  const ProductCount products;
  const DecisionProblem problem{entry, stated, target, entry.k(), u, tau, products};
  const auto examination = HostExaminer(engine).examine(entry);
  TargetAllowance allowance(problem, *examination);
  const auto limit = static_cast<double>(ways.cheaper_moduli);
  if (limit > 0 && propose_residues(problem, *examination, allowance, {limit, [limit] { return limit; }}).best) return false;
  const double allowed = allowance.get().probe(0, 0).allowed;
  return std::ranges::all_of(ways.cheaper, [&](const Plan& plan) {
    const double uniform = truncation_a_priori_upper(plan, entry.k());
    return ratio_upper(examination->error_at(plan, uniform, 0, 0), allowed) > 1;
  });
}

InputView block_of(const InputView& x, Index i, Index j, Index rows, Index cols) { return x.block(i, j, rows, cols); }
ComplexInputView block_of(const ComplexInputView& x, Index i, Index j, Index rows, Index cols) {
  const auto block = std::visit([&](const auto& v) { return ComplexInputView(v.block(i, j, rows, cols)); }, x.typed());
  return x.conjugated() ? block.conjugate() : block;
}
OutputView unwritten_entry(const OutputView& c) { return unwritten(1, 1, c.format()); }
ComplexOutputView unwritten_entry(const ComplexOutputView& c) { return unwritten_complex(1, 1, c.format()); }

/// Row i of A, column j of B and entry (i, j) of C0.
template <class AnyProduct>
AnyProduct entry_of(const AnyProduct& product, Index i, Index j) {
  auto entry = product;
  entry.a = block_of(product.a, i, 0, 1, product.k()), entry.b = block_of(product.b, 0, j, product.k(), 1);
  entry.c = unwritten_entry(product.c);
  if (!is_zero(product.beta)) entry.c0 = block_of(product.c0, i, j, 1, 1);
  return entry;
}

bool refused_at(const WithoutSlices& ways, const Product& product, const Target& target, Index i, Index j) {
  if (!product.is_complex()) {
    const auto entry = entry_of(product.real(), i, j);
    return refuses(ways, entry, entry, target);
  }
  const auto entry = entry_of(product.complex(), i, j);
  const auto parts = represent_on_host(entry, 1);
  return refuses(ways, entry, parts->product(), target);
}

/// Exponent ranges of A, B and, if it is read, C0; nothing if one sweep does not find them.
struct Ranges {
  ExponentRange a, b, c0;
};
template <class AnyProduct>
std::optional<Ranges> ranges_of(const AnyProduct& product) {
  const auto a = range_if_finite(product.a);
  const auto b = a ? range_if_finite(product.b) : a;
  const auto c0 = b && !is_zero(product.beta) ? range_if_finite(product.c0) : b ? ExponentRange{} : b;
  return c0 ? std::optional(Ranges{*a, *b, *c0}) : std::nullopt;
}

/// True if alpha and beta are real and finite, and A and B are read.
bool scalars_tell(std::complex<double> alpha, std::complex<double> beta) {
  return is_zero(alpha.imag()) && is_zero(beta.imag()) && std::isfinite(alpha.real()) && std::isfinite(beta.real()) &&
         !is_zero(alpha.real());
}

}  // namespace

std::optional<WithoutSlices> without_slices(const CostModel& costs, Index m, Index n, Index k) {
  const double native = costs.native(m, n, k), exact = costs.exact(m, n, k);
  const double limit = std::min(native, exact);
  PlansByCost plans(Encoding::balanced(), costs, m, n, k);
  const double cheapest = plans.cheapest().cost;
  // Plans that are refined entry by entry (decide's choose_refined) finish at least this share of entries exactly.
  if (cheapest <= native && !(cheapest + least_open_share * exact > limit)) return std::nullopt;
  WithoutSlices result{native < exact ? Method::native : Method::exact, {}};
  const bool residues = k <= longest_residue_inner;
  for (int moduli = 2; residues && moduli <= max_moduli && costs.planned(ResiduePlan{moduli, 7, 7}, m, n, k) <= limit; ++moduli)
    result.cheaper_moduli = moduli;
  while (!plans.empty() && plans.cheapest().cost <= limit) {
    if (result.cheaper.size() == most_plans) return std::nullopt;
    result.cheaper.push_back(plans.take().plan);
  }
  return result;
}

bool refused_at_once(const WithoutSlices& ways, const Product& product, const Target& target) {
  if (ways.cheaper.empty() && ways.cheaper_moduli == 0) return true;
  if (target.kind == Target::Kind::normwise) return false;
  const Index m = product.m(), n = product.n();
  for (const auto& [i, j] : {Entry{m / 2, n / 2}, Entry{0, 0}, Entry{m - 1, n - 1}})
    if (refused_at(ways, product, target, i, j)) return true;
  return false;
}

namespace {

bool certifies(const RealProduct& product, const NativeGemm& native, const Target& target) {
  if (!scalars_tell(product.alpha, product.beta) || !native_lack(native, product, product).empty()) return false;
  const auto ranges = ranges_of(product);
  return ranges && native_certifies(native_guarantee(product, ranges->a, ranges->b, ranges->c0), target, product.k(), product);
}

bool certifies(const ComplexProduct& product, const NativeGemm& native, const Target& target) {
  const auto fits = [&](const ComplexInputView& x) { return x.is_double() == product.c.is_double(); };
  const bool one_format = fits(product.a) && fits(product.b) && (is_zero(product.beta) || fits(product.c0));
  if (!scalars_tell(product.alpha, product.beta) || !one_format || !native.has_complex()) return false;
  RealProduct parts{unread(2 * product.m(), 2 * product.k()), unread(2 * product.k(), product.n()),
                    unwritten(2 * product.m(), product.n(), product.c.format()), product.alpha.real(), product.beta.real()};
  if (!native_lack(native, product, {{}, {}, parts.c, parts.alpha, parts.beta}).empty()) return false;
  const auto ranges = ranges_of(product);
  return ranges && native_certifies(native_guarantee(parts, ranges->a, ranges->b, ranges->c0), target, parts.k(), parts);
}

}  // namespace

bool native_certifies_at_once(const NativeGemm& native, const Product& product, const Target& target) {
  if (!native.is_conventional() || std::isnan(target.tau)) return false;
  if (product.m() == 0 || product.n() == 0 || product.k() == 0) return false;
  return product.is_complex() ? certifies(product.complex(), native, target) : certifies(product.real(), native, target);
}

}  // namespace ozbound
