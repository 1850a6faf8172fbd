// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <optional>

#include "ozbound/core/views.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/operands.hpp"
#include "ozbound/verify/complex_operands.hpp"

namespace ozbound::cli {

/// The operands of a product in the form of oracles: doubles; for a complex product the operands of its real product
/// (ComplexOperands).
class JudgedOperands {
 public:
  explicit JudgedOperands(const files::OperandFiles& files);
  JudgedOperands(const JudgedOperands&) = delete;
  JudgedOperands& operator=(const JudgedOperands&) = delete;

  [[nodiscard]] const Operands& operands() const { return operands_; }
  [[nodiscard]] Index inner() const { return operands_.a.cols(); }  ///< twice the inner dimension of a complex product

 private:
  Matrix<double> a_, b_, c0_;  // copies of floats
  std::optional<ComplexOperands> complex_;
  Operands operands_;
};

/// C in the form of oracles. For a complex C, the parts of each row one above the other. `c` must outlive it.
class JudgedResult {
 public:
  explicit JudgedResult(const files::MatrixFile& c);

  [[nodiscard]] ResultView view() const;

 private:
  const files::MatrixFile& c_;
  std::optional<ComplexResult> complex_;
};

}  // namespace ozbound::cli
