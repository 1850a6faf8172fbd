// SPDX-License-Identifier: BSD-3-Clause
#include "goals.hpp"

#include <algorithm>
#include <functional>

#include "ozbound/core/plan.hpp"

namespace ozbound::bench {
namespace {

using Condition = std::function<bool(const Measurement&)>;

constexpr const char* integer_peak_name = "integer peak";

struct Rule {
  std::string name;
  double goal;
  bool at_most;
  Condition concerns;
  std::string kernel = "vnni";  ///< instruction set of the goal; or "avx2"
};

/// The kernel that is judged by VNNI's peak if `own` is the engine's default. A processor with AMX has AVX512-VNNI too.
std::string vnni_kernel(const std::string& own) { return own == "amx" ? "avx512vnni" : own; }

bool cube(const Shape& shape) { return shape.m == shape.n && shape.n == shape.k; }

bool large_cube(const Shape& shape, Index n) { return cube(shape) && shape.n >= n; }

/// The product under balanced:SxS:cut=S+1 relative to a baseline, cubes from n = 1024 on.
Condition whole_product(int slices, const std::string& baseline) {
  const auto name = "gemm/" + to_string(SplitPlan::balanced(slices, slices, slices + 1));
  return [=](const Measurement& x) { return x.name == name && x.baseline == baseline && large_cube(x.shape, 1024); };
}

/// The product by N moduli relative to OpenBLAS.
Condition by_residues(int moduli) {
  const auto name = "gemm/residues:" + std::to_string(moduli);
  return [=](const Measurement& x) { return x.name == name && x.baseline == "OpenBLAS" && large_cube(x.shape, 1024); };
}

Rule residue_rule(int moduli, double goal, const std::string& kernel) {
  return {std::to_string(moduli) + " moduli over OpenBLAS, n >= 1024" + (kernel == "avx2" ? ", AVX2" : ""), goal, false,
          by_residues(moduli), kernel};
}

Condition correctly_rounded(const std::string& baseline) {
  return [=](const Measurement& x) {
    return x.name == "cr/phi=1" && x.baseline == baseline && cube(x.shape) && x.shape.n == 1024;
  };
}

bool kernel_long(const Measurement& x) {
  return x.name == "kernel" && (std::min(x.shape.m, x.shape.n) >= 2048 || x.shape.k >= 4096);
}

bool kernel_short(const Measurement& x) { return x.name == "kernel" && cube(x.shape) && x.shape.n >= 256 && x.shape.n <= 1024; }

bool products_over_peak(const Measurement& x) {
  return whole_product(7, integer_peak_name)(x) || whole_product(8, integer_peak_name)(x);
}

bool proof(const Measurement& x) {
  return x.name.starts_with("proof/") && x.name.ends_with("/deciding+certifying") && x.shape.n >= 512;
}

std::vector<Rule> rules() {
  return {{"kernel over peak, n >= 2048 or K' >= 4096", 0.85, false, kernel_long},
          {"kernel over peak, n = 256 ... 1024", 0.75, false, kernel_short},
          {"end to end over peak, 28 and 36 products, n >= 1024", 0.75, false, products_over_peak},
          {"28 products over OpenBLAS, n >= 1024", 0.28, false, whole_product(7, "OpenBLAS")},
          {"36 products over OpenBLAS, n >= 1024", 0.23, false, whole_product(8, "OpenBLAS")},
          {"3 products over OpenBLAS, n >= 1024", 1.5, false, whole_product(2, "OpenBLAS")},
          residue_rule(8, 0.6, "vnni"),
          residue_rule(13, 0.45, "vnni"),
          residue_rule(15, 0.39, "vnni"),
          residue_rule(18, 0.33, "vnni"),
          residue_rule(8, 0.25, "avx2"),
          residue_rule(13, 0.16, "avx2"),
          residue_rule(15, 0.135, "avx2"),
          residue_rule(18, 0.11, "avx2"),
          {"correctly rounded over MPFR at 2048 bits, n = 1024, phi = 1", 400, false, correctly_rounded("MPFR, 2048 bits")},
          {"correctly rounded over double-double, n = 1024, phi = 1", 3, false, correctly_rounded("double-double")},
          {"deciding and certifying over the product, dgemm, n >= 512", 0.15, true, proof}};
}

std::optional<double> worst(std::span<const Measurement> measurements, const std::string& own, const Rule& rule) {
  std::optional<double> found;
  for (const auto& x : measurements) {
    const auto kernel = x.baseline == integer_peak_name ? vnni_kernel(own) : own;
    if (x.repetitions == 0 || x.kernel != kernel || !rule.concerns(x)) continue;
    const double ratio = x.ratio.median;
    if (!found || (rule.at_most ? ratio > *found : ratio < *found)) found = ratio;
  }
  return found;
}

}  // namespace

std::vector<Goal> judge_goals(std::span<const Measurement> measurements, const std::string& kernel) {
  std::vector<Goal> goals;
  for (const auto& rule : rules()) {
    const bool applicable = vnni_kernel(kernel).find(rule.kernel) != std::string::npos;
    goals.push_back({rule.name, rule.goal, rule.at_most, applicable, worst(measurements, kernel, rule)});
  }
  return goals;
}

std::string status(const Goal& goal) {
  if (!goal.applicable) return "not applicable";
  if (!goal.measured) return "not measured";
  return goal.met() ? "met" : "missed";
}

}  // namespace ozbound::bench
