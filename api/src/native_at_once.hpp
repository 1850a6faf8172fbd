// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound {

/// Computes a product on the CPU by its native GEMM, or exactly, if `decide` would choose and certify this: the same bits,
/// without decision, record or certificate. One sweep over the operands shows it; each thread looks up costs once per size.
/// Returns false, with nothing written, if the choice may be different; `multiply` then decides.
/// @param native as native_gemm() returns it, alive as long as the process @param threads of the machine's engine
/// @pre product.check() passes, its matrices lie in host memory, and a FloatEnvironment.
bool multiply_at_once(const Product& product, const Target& target, const NativeGemm& native, int threads);

}  // namespace ozbound
