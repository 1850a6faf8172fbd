// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/verify/oracle.hpp"

namespace ozbound {

/// The product enclosed by MPFR: every operation once rounded down and once up, at a stated precision.
///
/// At `exact_bits(k)` nothing is rounded, whatever the inputs: then it is a reference for correct rounding that shares no code
/// with ExactOracle. At a lower precision the width of the enclosure is part of every error, and a rounding that it does
/// not decide is reported as unknown. NaN and infinities follow MPFR's own (IEEE) rules. Slow: some 10^6 terms a second.
class MpfrOracle final : public Oracle {
 public:
  /// @throws std::invalid_argument if precision_bits < 2 or more than 2^20.
  MpfrOracle(const Operands& operands, long precision_bits);
  MpfrOracle(const Problem& problem, long precision_bits) : MpfrOracle(ozbound::operands(problem), precision_bits) {}
  MpfrOracle(Problem&&, long) = delete;  // would dangle

  /// A precision that holds every sum of k products of three doubles exactly: 2^-3222 to below 2^3072, and carries.
  static long exact_bits(Index k);

  [[nodiscard]] long precision_bits() const { return precision_bits_; }

 private:
  [[nodiscard]] OracleEntry judge(Index i, Index j, double computed, ResultFormat format) const override;

  long precision_bits_;
};

}  // namespace ozbound
