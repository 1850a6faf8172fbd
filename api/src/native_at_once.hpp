// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound {

/// A product on the CPU by its native GEMM, or exactly, where that is what `decide` would choose, and certify: the same bits,
/// without decision, record or certificate. One sweep over the operands finds it out; what ways cost is looked up once for a
/// size, by each thread. False, with nothing written, where it may be otherwise: then `multiply` decides.
/// @param native as native_gemm() gives it: it lives as long as the process @param threads of the machine's engine
/// @pre product.check() passes, its matrices lie in the host's memory, and a FloatEnvironment.
bool multiply_at_once(const Product& product, const Target& target, const NativeGemm& native, int threads);

}  // namespace ozbound
