// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <variant>

#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/result_view.hpp"
#include "properties/case_product.hpp"

// A case in the form of oracles and verdicts.

namespace ozbound::properties {

/// The full matrices of a case, and an oracle for its result.
template <class SomeOracle>
class Judge {
 public:
  template <class... Options>
  explicit Judge(const GemmCase& gemm_case, Options... options)
      : a_(gemm_case.full_a()),
        b_(gemm_case.full_b()),
        c0_(gemm_case.c0.values),
        oracle_(Operands{a_.view(), b_.view(), gemm_case.alpha, gemm_case.beta, c0_.view()}, options...) {}

  [[nodiscard]] const SomeOracle& oracle() const { return oracle_; }

 private:
  Matrix<double> a_, b_, c0_;
  SomeOracle oracle_;
};

/// Passes C on in the form of verdicts.
template <class Look>
auto with_view(const StoredMatrix& c, const Look& look) {
  const auto input = c.input();
  return std::visit([&](const auto& view) { return look(ResultView(view)); }, input.typed());
}

}  // namespace ozbound::properties
