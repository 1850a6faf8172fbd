// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/matrices.hpp"

namespace ozbound {

NativeGuarantee native_guarantee(const RealProduct& product, const Matrices& matrices);

/// The same of a product of doubles, from the exponents of its operands and, where beta is not 0, of C0.
NativeGuarantee native_guarantee(const RealProduct& product, const ExponentRange& rows, const ExponentRange& columns,
                                 const ExponentRange& c0);

/// Whether that certifies a target, for an inner dimension k: the product may have none left that is read.
bool native_certifies(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product);

/// Why it does not, with the numbers that say so. @pre it does not.
std::string native_refusal(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product);

/// The guarantee per entry, from the norms of rows and columns.
ErrorBound native_error_bound(const RealProduct& product, const NativeGuarantee& guarantee, const Engine& engine);

}  // namespace ozbound
