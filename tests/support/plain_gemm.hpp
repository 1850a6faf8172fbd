// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound::test {

/// A native DGEMM of three loops. It sums in order, rounds each product and each sum, and multiplies by alpha after the sum.
class PlainGemm final : public NativeGemm {
 public:
  [[nodiscard]] std::string name() const override { return "three loops"; }
  void dgemm(const RealProduct& call) const override {
    for (Index i = 0; i < call.m(); ++i)
      for (Index j = 0; j < call.n(); ++j) {
        double sum = 0;
        for (Index l = 0; l < call.k(); ++l) sum += double_from_bits(call.a.bits(i, l)) * double_from_bits(call.b.bits(l, j));
        sum *= call.alpha;
        if (call.beta != 0) sum += call.beta * double_from_bits(call.c0.bits(i, j));
        call.c.set_bits(i, j, bits_of(sum));
      }
  }
};

}  // namespace ozbound::test
