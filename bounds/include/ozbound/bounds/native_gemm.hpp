// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/core/gemm.hpp"

namespace ozbound {

/// A floating-point DGEMM that `decide` may choose. Its bound, and every certificate in so many words, assumes
/// - conventional summation: every entry is a sum of its k products in some order, each product and each addition rounded once,
///   or the two at once (FMA), as Jeannerod and Rump require;
/// - rounding to nearest and gradual underflow, in every thread that computes, whatever that thread inherited;
/// - that sums are multiplied by alpha, all products at once or some at a time, not elements of A or B.
/// A library that emulates FP64 or uses Strassen's algorithm is none.
class NativeGemm {
 public:
  virtual ~NativeGemm() = default;

  /// Name and version, for the record.
  [[nodiscard]] virtual std::string name() const = 0;

  /// C = alpha A B + beta C0, all binary64. @pre call.check() passes; C0 is C or does not overlap it. A library's product
  /// cannot be interrupted: Cancelled comes before it or, C being as it was or written in part, after it.
  virtual void dgemm(const RealProduct& call) const = 0;
};

}  // namespace ozbound
