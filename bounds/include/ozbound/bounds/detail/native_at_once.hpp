// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "ozbound/bounds/decision.hpp"
#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/cost_model.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound {

// These functions show, without a decision and its record, that `decide` would choose no integer products. They use costs,
// which depend only on the sizes, and native DGEMM's guarantee, which takes one sweep over the operands.

/// The result of comparing costs for products of one size.
struct WithoutSlices {
  Method method;              ///< chosen if native DGEMM certifies the target: native, or exact if it is cheaper
  std::vector<Plan> cheaper;  ///< plans of balanced slices that cost no more than native DGEMM; one of them may win instead
  int cheaper_moduli = 0;     ///< residues with at most this many moduli cost no more either, and may win instead
};

/// Finds the plans that cost no more than native DGEMM. Returns nothing if there are too many, or if a plan that is refined
/// entry by entry might win. For a complex product, the sizes are those of the real product that stands for it.
std::optional<WithoutSlices> without_slices(const CostModel& costs, Index m, Index n, Index k);

/// True if one of three sampled entries rules out every cheaper plan and number of moduli; `decide` then rules them out too.
/// False: unknown. Takes time proportional to k. For matrices in host memory. @pre as native_certifies_at_once.
bool refused_at_once(const WithoutSlices& ways, const Product& product, const Target& target);

/// True if a conventional native GEMM certifies the target, and no NaN or infinity decides an entry. Also false if one sweep
/// cannot show this. For matrices in host memory. @pre product.check() passes, and a FloatEnvironment.
bool native_certifies_at_once(const NativeGemm& native, const Product& product, const Target& target);

}  // namespace ozbound
