#pragma once

#include <string>

#include "matrix_file.hpp"
#include "ozbound/core/views.hpp"

namespace CLI {
class App;
}

namespace ozbound::cli {

/// C = alpha op(A) op(B) + beta C0 as the command line states it.
struct OperandArguments {
  std::string a, b, c0;  ///< files; no c0: empty
  bool transpose_a = false, transpose_b = false;
  double alpha = 1;
  double beta = 0;
};

/// The positional arguments A and B, and --op-a, --op-b, --alpha, --beta and --c. `arguments` must outlive `command`.
void add_operand_arguments(CLI::App& command, OperandArguments& arguments);

/// @throws InputError for what cannot be read, and for a complex matrix.
MatrixFile read_real_matrix(const std::string& path);

/// The matrices that such arguments name, their shapes checked. C0 is read only where beta != 0, and empty otherwise.
class OperandFiles {
 public:
  /// @throws InputError for a file that cannot be read, std::invalid_argument for shapes that do not fit or a missing C0.
  explicit OperandFiles(const OperandArguments& arguments);

  [[nodiscard]] InputView a() const { return arguments_.transpose_a ? view(a_).transposed() : view(a_); }  ///< op(A), m x k
  [[nodiscard]] InputView b() const { return arguments_.transpose_b ? view(b_).transposed() : view(b_); }  ///< op(B), k x n
  [[nodiscard]] InputView c0() const { return view(c0_); }
  [[nodiscard]] double alpha() const { return arguments_.alpha; }
  [[nodiscard]] double beta() const { return arguments_.beta; }
  [[nodiscard]] Index m() const { return a().rows(); }
  [[nodiscard]] Index n() const { return b().cols(); }
  [[nodiscard]] Index k() const { return a().cols(); }

 private:
  static InputView view(const MatrixFile& file);

  OperandArguments arguments_;
  MatrixFile a_, b_, c0_;
};

/// The same elements as doubles, a copy unless they are doubles.
class DoubleView {
 public:
  explicit DoubleView(const InputView& input);
  DoubleView(const DoubleView&) = delete;
  DoubleView& operator=(const DoubleView&) = delete;

  [[nodiscard]] MatrixView<const double> view() const { return view_; }

 private:
  Matrix<double> copy_;
  MatrixView<const double> view_;
};

}  // namespace ozbound::cli
