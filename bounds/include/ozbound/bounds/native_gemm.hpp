#pragma once

#include <string>

#include "ozbound/core/gemm.hpp"

namespace ozbound {

/// A floating-point DGEMM that `decide` may choose. Its bound assumes conventional summation: every entry is a sum of its k
/// products, each rounded, in some order, as Jeannerod and Rump require. A library that emulates FP64 or uses Strassen's
/// algorithm is none.
class NativeGemm {
 public:
  virtual ~NativeGemm() = default;

  /// Name and version, for the record.
  [[nodiscard]] virtual std::string name() const = 0;

  /// C = alpha A B + beta C0, all binary64. @pre call.check() passes; C0 is C or does not overlap it.
  virtual void dgemm(const GemmCall& call) const = 0;
};

}  // namespace ozbound
