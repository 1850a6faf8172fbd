// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/verify/oracle.hpp"

namespace ozbound {

/// The product enclosed by MPFR: every operation is rounded once down and once up, at a stated precision.
///
/// At `exact_bits(k)` nothing is rounded, for all inputs. The oracle is then a reference for correct rounding that shares no
/// code with ExactOracle. At a lower precision, every error includes the width of the enclosure, and a rounding that the
/// enclosure does not decide is reported as unknown. NaN and infinities follow MPFR's own (IEEE) rules. Slow: about 10^6 terms
/// a second.
class MpfrOracle final : public Oracle {
 public:
  /// @throws std::invalid_argument if precision_bits < 2 or more than 2^20.
  MpfrOracle(const Operands& operands, long precision_bits);
  MpfrOracle(const Problem& problem, long precision_bits) : MpfrOracle(ozbound::operands(problem), precision_bits) {}
  MpfrOracle(Problem&&, long) = delete;  // would dangle

  /// A precision that holds every sum of k products of three doubles exactly: from 2^-3222 to below 2^3072, and carries.
  static long exact_bits(Index k);

  [[nodiscard]] long precision_bits() const { return precision_bits_; }

 private:
  [[nodiscard]] OracleEntry judge(Index i, Index j, double computed, ResultFormat format) const override;

  long precision_bits_;
};

}  // namespace ozbound
