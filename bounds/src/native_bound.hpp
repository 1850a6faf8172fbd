// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/matrices.hpp"

namespace ozbound {

/// The guarantee of any conventional library. @param outer if given, saves a pass over A and B where it shows that nothing can
/// overflow or underflow
NativeGuarantee native_guarantee(const RealProduct& product, const Matrices& matrices,
                                 const std::optional<OuterRanges>& outer = {});

/// The guarantee of a library; nothing is guaranteed if it is not known to be conventional.
NativeGuarantee native_guarantee(const NativeGemm& native, const RealProduct& product, const Matrices& matrices,
                                 const std::optional<OuterRanges>& outer = {});

/// The guarantee for matrices of one format, from the exponents of its operands and, if beta is not 0, of C0.
NativeGuarantee native_guarantee(const RealProduct& product, const ExponentRange& rows, const ExponentRange& columns,
                                 const ExponentRange& c0);

/// The name of a GEMM by the letters of BLAS: SGEMM, DGEMM, CGEMM or ZGEMM.
std::string gemm_name(const Format& format, bool complex);

/// True if the guarantee is weaker than a target's tau, apart from underflow.
bool native_exceeds(const NativeGuarantee& guarantee, const Target& target, double tau);

/// True if the guarantee certifies a target. k is the original inner dimension, which `product` may lack if nothing is read.
bool native_certifies(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product);

/// The reason why the guarantee does not certify a target, with numbers. @pre it does not certify it.
std::string native_refusal(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product);

/// The guarantee per entry, from the norms of rows and columns. @param complex the product stands for a complex one
ErrorBound native_error_bound(const RealProduct& product, bool complex, const NativeGuarantee& guarantee, const Engine& engine);

/// The reason why a native library cannot multiply such a product at all: its matrices have a format that the library lacks, or
/// several formats. Empty if it can. @param real the product itself, or the real one that stands for it
std::string native_lack(const NativeGemm& native, const Product& stated, const RealProduct& real);

/// Computes C of `real` by a native library. A complex product is multiplied as it is if the library supports it, otherwise as
/// the real one. @pre the library can multiply it.
/// @param specials some entries are decided by a NaN or an infinity, and written afterwards
void multiply_native(const NativeGemm& native, const Product& stated, const RealProduct& real, bool specials, int threads);

}  // namespace ozbound
