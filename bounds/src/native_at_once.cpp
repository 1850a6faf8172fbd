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
#include "plans_by_cost.hpp"

namespace ozbound {

namespace {

constexpr std::size_t most_plans = 64;

/// Whether one entry alone refuses all that is cheaper. Its row and its column ask for no more bits and no more moduli than
/// all rows and columns do, so that `decide` refuses it too.
bool refused_at(const WithoutSlices& ways, const RealProduct& product, const Target& target, Index i, Index j) {
  auto entry = product;
  entry.a = product.a.block(i, 0, 1, product.k()), entry.b = product.b.block(0, j, product.k(), 1);
  entry.c = product.c.block(i, j, 1, 1);
  if (!is_zero(product.beta)) entry.c0 = product.c0.block(i, j, 1, 1);
  static const auto& engine = *new CpuEngine({.threads = 1});  // never destroyed: programs multiply while they end
  const auto& format = product.c.format();
  const double u = unit_roundoff(format), tau = target_tau(target, product.k(), format, is_scaled(product.alpha, product.beta));
  const Product stated(entry);
  const ProductCount products;
  const DecisionProblem problem{entry, stated, target, product.k(), u, tau, products};
  const auto examination = HostExaminer(engine).examine(entry);
  TargetAllowance allowance(problem, *examination);
  if (ways.cheaper_moduli > 0 && propose_residues(problem, *examination, allowance, ways.cheaper_moduli).best) return false;
  const double allowed = allowance.get().probe(0, 0).allowed;
  return std::ranges::all_of(ways.cheaper, [&](const Plan& plan) {
    const double uniform = truncation_a_priori_upper(plan, product.k());
    return ratio_upper(examination->error_at(plan, uniform, 0, 0), allowed) > 1;
  });
}

}  // namespace

std::optional<WithoutSlices> without_slices(const CostModel& costs, Index m, Index n, Index k) {
  const double native = costs.native(m, n, k), exact = costs.exact(m, n, k);
  const double limit = std::min(native, exact);
  PlansByCost plans(Encoding::balanced(), costs, m, n, k);
  const double cheapest = plans.cheapest().cost;
  // Plans that are refined entry by entry (decide's choose_refined) finish at least that share exactly.
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

bool refused_at_once(const WithoutSlices& ways, const RealProduct& product, const Target& target) {
  if (ways.cheaper.empty() && ways.cheaper_moduli == 0) return true;
  if (target.kind == Target::Kind::normwise) return false;
  const Index m = product.m(), n = product.n();
  for (const auto& [i, j] : {Entry{m / 2, n / 2}, Entry{0, 0}, Entry{m - 1, n - 1}})
    if (refused_at(ways, product, target, i, j)) return true;
  return false;
}

bool native_certifies_at_once(const RealProduct& product, const Target& target) {
  if (!product.a.is_double() || !product.b.is_double() || !product.c.is_double()) return false;
  if (!std::isfinite(product.alpha) || !std::isfinite(product.beta) || std::isnan(target.tau)) return false;
  if (is_zero(product.alpha) || product.m() == 0 || product.n() == 0 || product.k() == 0) return false;
  const auto rows = range_if_finite(product.a);
  const auto columns = rows ? range_if_finite(product.b) : rows;
  const bool reads_c0 = !is_zero(product.beta);
  if (!columns || (reads_c0 && !product.c0.is_double())) return false;
  const auto c0 = reads_c0 ? range_if_finite(product.c0) : ExponentRange{};
  return c0 && native_certifies(native_guarantee(product, *rows, *columns, *c0), target, product.k(), product);
}

}  // namespace ozbound
