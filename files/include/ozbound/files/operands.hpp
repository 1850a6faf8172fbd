// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/views.hpp"
#include "ozbound/files/matrix_file.hpp"

namespace CLI {
class App;
}

namespace ozbound::files {

/// C = alpha op(A) op(B) + beta C0 as given on the command line.
struct OperandArguments {
  std::string a, b, c0;         ///< files; empty c0: not given
  char op_a = 'N', op_b = 'N';  ///< N, T or C: as stored, the transpose, the conjugate transpose
  std::complex<double> alpha = 1;
  std::complex<double> beta = 0;
};

/// Adds the positional arguments A and B, and --op-a, --op-b, --alpha, --beta and --c. `arguments` must outlive `command`.
void add_operand_arguments(CLI::App& command, OperandArguments& arguments);

/// The matrices that these arguments name, with checked shapes. C0 is read only if beta != 0, and empty otherwise.
///
/// The product is complex if a matrix is complex, or a scalar has a non-zero imaginary part. Real matrices then become complex
/// ones with zero imaginary parts.
class OperandFiles {
 public:
  /// @throws InputError for a file that cannot be read, std::invalid_argument for shapes that do not fit or a missing C0.
  explicit OperandFiles(const OperandArguments& arguments);

  [[nodiscard]] bool is_complex() const { return complex_; }
  [[nodiscard]] bool is_float() const { return narrow_; }  ///< true if A and B, and therefore C, are binary32

  /// op(A) (m x k), op(B) (k x n) and C0. @pre the product is real; the same for the scalars.
  [[nodiscard]] InputView a() const;
  [[nodiscard]] InputView b() const;
  [[nodiscard]] InputView c0() const;
  [[nodiscard]] double alpha() const { return arguments_.alpha.real(); }
  [[nodiscard]] double beta() const { return arguments_.beta.real(); }

  /// The operands and scalars of a complex product.
  [[nodiscard]] ComplexInputView complex_a() const;
  [[nodiscard]] ComplexInputView complex_b() const;
  [[nodiscard]] ComplexInputView complex_c0() const;
  [[nodiscard]] std::complex<double> complex_alpha() const { return arguments_.alpha; }
  [[nodiscard]] std::complex<double> complex_beta() const { return arguments_.beta; }

  [[nodiscard]] Index m() const { return arguments_.op_a == 'N' ? a_.rows() : a_.cols(); }
  [[nodiscard]] Index n() const { return arguments_.op_b == 'N' ? b_.cols() : b_.rows(); }
  [[nodiscard]] Index k() const { return arguments_.op_a == 'N' ? a_.cols() : a_.rows(); }

  /// Rows of C and inner dimension of the real product that is multiplied; for a complex product twice its own (docs/adr/0012).
  [[nodiscard]] Index real_m() const { return complex_ ? 2 * m() : m(); }
  [[nodiscard]] Index real_k() const { return complex_ ? 2 * k() : k(); }

  /// Rows, columns and element type of A, B and C0 as stored.
  struct Stored {
    Index rows, cols;
    std::string type;  ///< f8, f4, c16 or c8
  };
  [[nodiscard]] const std::vector<Stored>& stored() const { return stored_; }

 private:
  void check_factors() const;
  void read_c0();
  [[nodiscard]] bool reads_c0() const { return arguments_.beta != 0.0; }

  OperandArguments arguments_;
  MatrixFile a_, b_, c0_;  // all three complex, or all three real
  std::vector<Stored> stored_;
  bool complex_ = false, narrow_ = false;
};

}  // namespace ozbound::files
