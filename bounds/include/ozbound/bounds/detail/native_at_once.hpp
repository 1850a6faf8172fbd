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

// These functions tell, without a decision and its record, that `decide` would take no integer products. They do so by prices,
// which are those of the sizes, and by native DGEMM's guarantee, for which one sweep over the operands is enough.

/// What prices say of products of one size.
struct WithoutSlices {
  Method method;              ///< taken where native DGEMM certifies the target: native, or exact where that is cheaper
  std::vector<Plan> cheaper;  ///< unless one of these does: plans of balanced slices that cost no more than native DGEMM
  int cheaper_moduli = 0;     ///< or residues of at most so many, which cost no more either
};

/// Looks at every plan's price: some 100 us. Nothing where too much depends on the elements. Of a complex product these are
/// sizes of the real one that stands for it.
std::optional<WithoutSlices> without_slices(const CostModel& costs, Index m, Index n, Index k);

/// True if one of three sampled entries rules out every plan and every number of moduli that is cheaper, so that `decide` does.
/// False: unknown. Takes time proportional to k. Of matrices of the host's. @pre as native_certifies_at_once.
bool refused_at_once(const WithoutSlices& ways, const Product& product, const Target& target);

/// Whether a conventional native GEMM certifies the target, and no entry is decided by a NaN or an infinity. False, too, where
/// one sweep cannot tell. Of matrices of the host's. @pre product.check() passes, and a FloatEnvironment.
bool native_certifies_at_once(const NativeGemm& native, const Product& product, const Target& target);

}  // namespace ozbound
