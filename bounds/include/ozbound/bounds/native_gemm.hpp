// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/core/gemm.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound {

/// The floating-point GEMMs of a library, which `decide` may choose. Their bound assumes the following, and certificates state
/// it:
/// - conventional summation: every entry is a sum of its k products in some order, each product and each addition rounded once,
///   or both at once (FMA), as Jeannerod and Rump require; for complex matrices each part, a sum of 2k real products;
/// - rounding to nearest and gradual underflow, in every computing thread, independent of inherited settings;
/// - that alpha multiplies sums, of all or some products, or each element of one of A and B.
/// A library that emulates FP64, uses Strassen's algorithm, or multiplies complex matrices by three real products does not
/// qualify.
///
/// A library's product cannot be interrupted: Cancelled is thrown before it, with C unchanged, or after it, with C perhaps
/// partly written.
class NativeGemm {
 public:
  virtual ~NativeGemm() = default;

  /// Name and version, for the record.
  [[nodiscard]] virtual std::string name() const = 0;

  /// True if all of this is known of the library, or the user guarantees it. If false, `decide` never chooses it, and a product
  /// multiplied with it anyway has a certificate that claims nothing.
  [[nodiscard]] virtual bool is_conventional() const { return true; }

  /// C = alpha A B + beta C0, all binary64. @pre product.check() passes; C0 is C or does not overlap it.
  virtual void dgemm(const RealProduct& product) const = 0;

  /// The same for binary32 matrices. @pre has_sgemm(); alpha and beta are binary32 numbers.
  virtual void sgemm(const RealProduct& product) const;
  [[nodiscard]] virtual bool has_sgemm() const { return false; }

  /// The same for complex matrices, all binary64 or all binary32. @pre has_complex(); for binary32 also as for sgemm.
  virtual void complex_gemm(const ComplexProduct& product) const;
  [[nodiscard]] virtual bool has_complex() const { return false; }
};

}  // namespace ozbound
