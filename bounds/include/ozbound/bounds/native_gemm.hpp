// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/core/gemm.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound {

/// The floating-point GEMMs of a library, which `decide` may choose. Their bound assumes, and certificates say so,
/// - conventional summation: every entry is a sum of its k products in some order, each product and each addition rounded once,
///   or the two at once (FMA), as Jeannerod and Rump require; of complex matrices each part, a sum of 2k real products;
/// - rounding to nearest and gradual underflow, in every thread that computes, whatever that thread inherited;
/// - that alpha multiplies sums, of all products or of some at a time, or each element of one of A and B.
/// A library that emulates FP64, uses Strassen's algorithm, or multiplies complex matrices by three real products is none.
///
/// A library's product cannot be interrupted: Cancelled comes before it or, C being as it was or written in part, after it.
class NativeGemm {
 public:
  virtual ~NativeGemm() = default;

  /// Name and version, for the record.
  [[nodiscard]] virtual std::string name() const = 0;

  /// Whether all of that is known of the library, or somebody answers for it. false: `decide` never takes it, and a product
  /// that is multiplied by it nevertheless has a certificate that claims nothing.
  [[nodiscard]] virtual bool is_conventional() const { return true; }

  /// C = alpha A B + beta C0, all binary64. @pre call.check() passes; C0 is C or does not overlap it.
  virtual void dgemm(const RealProduct& call) const = 0;

  /// The same of binary32 matrices. @pre has_sgemm(); alpha and beta are binary32 numbers.
  virtual void sgemm(const RealProduct& call) const;
  [[nodiscard]] virtual bool has_sgemm() const { return false; }

  /// The same of complex matrices, all binary64 or all binary32. @pre has_complex(); of binary32 ones as for sgemm.
  virtual void complex_gemm(const ComplexProduct& call) const;
  [[nodiscard]] virtual bool has_complex() const { return false; }
};

}  // namespace ozbound
