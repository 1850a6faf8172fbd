// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <optional>

#include "ozbound/core/views.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/operands.hpp"
#include "ozbound/verify/complex_operands.hpp"

namespace ozbound::cli {

/// The operands of a product as oracles take them: doubles, and of a complex product those of its real one (ComplexOperands).
class JudgedOperands {
 public:
  explicit JudgedOperands(const OperandFiles& files);
  JudgedOperands(const JudgedOperands&) = delete;
  JudgedOperands& operator=(const JudgedOperands&) = delete;

  [[nodiscard]] const Operands& operands() const { return operands_; }
  [[nodiscard]] Index inner() const { return operands_.a.cols(); }  ///< twice that of a complex product

 private:
  Matrix<double> a_, b_, c0_;  // copies of floats
  std::optional<ComplexOperands> complex_;
  Operands operands_;
};

/// C likewise: the parts of each row of a complex one, one above the other. `c` must outlive it.
class JudgedResult {
 public:
  explicit JudgedResult(const MatrixFile& c);

  [[nodiscard]] ResultView view() const;

 private:
  const MatrixFile& c_;
  std::optional<ComplexResult> complex_;
};

}  // namespace ozbound::cli
