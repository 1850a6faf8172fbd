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

NativeGuarantee native_guarantee(const RealProduct& product, const Matrices& matrices);

/// The same of a library, of which nothing is guaranteed where it is not known to be conventional.
NativeGuarantee native_guarantee(const NativeGemm& native, const RealProduct& product, const Matrices& matrices);

/// The same of matrices of one format, from the exponents of its operands and, where beta is not 0, of C0.
NativeGuarantee native_guarantee(const RealProduct& product, const ExponentRange& rows, const ExponentRange& columns,
                                 const ExponentRange& c0);

/// The name of a GEMM by the letters of BLAS: SGEMM, DGEMM, CGEMM or ZGEMM.
std::string gemm_name(const Format& format, bool complex);

/// Whether the guarantee is weaker than a target's tau, underflow apart.
bool native_exceeds(const NativeGuarantee& guarantee, const Target& target, double tau);

/// Whether that certifies a target, for an inner dimension k: the product may have none left that is read.
bool native_certifies(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product);

/// Why it does not, with the numbers that say so. @pre it does not.
std::string native_refusal(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product);

/// The guarantee per entry, from the norms of rows and columns. @param complex the product stands for a complex one
ErrorBound native_error_bound(const RealProduct& product, bool complex, const NativeGuarantee& guarantee, const Engine& engine);

/// Why a native library cannot multiply such a product at all: it is of formats that it does not have, or of several. Empty if
/// it can. @param real the product itself, or the real one that stands for it
std::string native_lack(const NativeGemm& native, const Product& stated, const RealProduct& real);

/// C of `real` by a native library: a complex product as such where the library has it, else by the real one. @pre it can.
/// @param specials some entries are decided by a NaN or an infinity, and written afterwards
void multiply_native(const NativeGemm& native, const Product& stated, const RealProduct& real, bool specials, int threads);

}  // namespace ozbound
