// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/operands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::files {
namespace {

char parse_transposition(const std::string& text, const std::string& option) {
  if (text == "N" || text == "n") return 'N';
  if (text == "T" || text == "t") return 'T';
  if (text == "C" || text == "c") return 'C';
  throw std::invalid_argument(option + ": " + quote(text) + " is not one of N, T, C");
}

void add_transposition(CLI::App& command, const std::string& option, char& op, const std::string& help) {
  const auto store = [&op, option](const std::string& text) { op = parse_transposition(text, option); };
  command.add_option_function<std::string>(option, store, help)->type_name("N|T|C");
}

CLI::Option* add_scalar(CLI::App& command, const std::string& option, std::complex<double>& value, const std::string& help) {
  const auto store = [&value, option](const std::string& text) { value = parse_complex(text, option); };
  return command.add_option_function<std::string>(option, store, help)->type_name("REAL[,IMAGINARY]");
}

MatrixFile read_operand(const std::string& path) {
  const Progress progress("reading " + one_line(path));
  return read_matrix(path);
}

std::string shape(Index rows, Index cols) { return fmt::format("{} x {}", rows, cols); }

InputView real_view(const MatrixFile& file) {
  if (file.is_float()) return std::get<Matrix<float>>(file.values);
  return std::get<Matrix<double>>(file.values);
}

ComplexInputView complex_view(const MatrixFile& file) {
  if (file.is_float()) return std::get<Matrix<std::complex<float>>>(file.values);
  return std::get<Matrix<std::complex<double>>>(file.values);
}

/// op(matrix) for a real or a complex view.
InputView applied(char op, const InputView& matrix) { return op == 'N' ? matrix : matrix.transposed(); }
ComplexInputView applied(char op, const ComplexInputView& matrix) {
  return op == 'N' ? matrix : op == 'T' ? matrix.transposed() : matrix.adjoint();
}

}  // namespace

void add_operand_arguments(CLI::App& command, OperandArguments& arguments) {
  command.add_option("A", arguments.a, "File of A, NumPy .npy or Matrix Market")->required()->type_name("");
  command.add_option("B", arguments.b, "File of B")->required()->type_name("");
  add_transposition(command, "--op-a", arguments.op_a, "T, C: the transpose of A is multiplied, or its conjugate");
  add_transposition(command, "--op-b", arguments.op_b, "T, C: the transpose of B is multiplied, or its conjugate");
  add_scalar(command, "--alpha", arguments.alpha, "Factor of A B, 1 where it is not given; 1,-2 is 1 - 2i");
  auto* beta = add_scalar(command, "--beta", arguments.beta, "Factor of C0, 0 where it is not given");
  command.add_option("--c", arguments.c0, "File of C0, read only if beta is not 0")->type_name("C0")->needs(beta);
}

OperandFiles::OperandFiles(const OperandArguments& arguments)
    : arguments_(arguments), a_(read_operand(arguments.a)), b_(read_operand(arguments.b)) {
  const FloatEnvironment environment;  // so that a subnormal beta is not 0
  check_factors();
  if (reads_c0()) read_c0();
  for (const auto* file : {&a_, &b_, &c0_}) stored_.push_back({file->rows(), file->cols(), file->type()});
  narrow_ = a_.is_float() && b_.is_float();
  complex_ =
      a_.is_complex() || b_.is_complex() || c0_.is_complex() || arguments.alpha.imag() != 0 || arguments.beta.imag() != 0;
  if (!complex_) return;
  for (auto* file : {&a_, &b_, &c0_}) *file = std::move(*file).to_complex();
}

void OperandFiles::check_factors() const {
  const Index rows = arguments_.op_b == 'N' ? b_.rows() : b_.cols();
  if (k() != rows)
    throw std::invalid_argument(fmt::format("op(A) of {} is {} and op(B) of {} is {}: {} columns do not meet {} rows",
                                            arguments_.a, shape(m(), k()), arguments_.b, shape(rows, n()), k(), rows));
}

void OperandFiles::read_c0() {
  if (arguments_.c0.empty()) throw std::invalid_argument("--beta: C0 is missing; --c names it");
  c0_ = read_operand(arguments_.c0);
  if (c0_.rows() != m() || c0_.cols() != n())
    throw std::invalid_argument(
        fmt::format("{}: C0 is {}, and the product is {}", arguments_.c0, shape(c0_.rows(), c0_.cols()), shape(m(), n())));
}

InputView OperandFiles::a() const { return applied(arguments_.op_a, real_view(a_)); }
InputView OperandFiles::b() const { return applied(arguments_.op_b, real_view(b_)); }
InputView OperandFiles::c0() const { return real_view(c0_); }
ComplexInputView OperandFiles::complex_a() const { return applied(arguments_.op_a, complex_view(a_)); }
ComplexInputView OperandFiles::complex_b() const { return applied(arguments_.op_b, complex_view(b_)); }
ComplexInputView OperandFiles::complex_c0() const { return complex_view(c0_); }

}  // namespace ozbound::files
