#include "operands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <utility>
#include <variant>

#include "progress.hpp"
#include "text.hpp"

namespace ozbound::cli {
namespace {

bool parse_transposition(const std::string& text, const std::string& option) {
  if (text == "N" || text == "n") return false;
  if (text == "T" || text == "t" || text == "C" || text == "c") return true;  // conjugation changes no real number
  throw std::invalid_argument(option + ": " + quote(text) + " is not one of N, T, C");
}

void add_transposition(CLI::App& command, const std::string& option, bool& transpose, const std::string& help) {
  const auto store = [&transpose, option](const std::string& text) { transpose = parse_transposition(text, option); };
  command.add_option_function<std::string>(option, store, help)->type_name("N|T|C");
}

CLI::Option* add_real(CLI::App& command, const std::string& option, double& value, const std::string& help) {
  const auto store = [&value, option](const std::string& text) { value = parse_real(text, option); };
  return command.add_option_function<std::string>(option, store, help)->type_name("REAL");
}

MatrixFile read_operand(const std::string& path) {
  const Progress progress("reading " + one_line(path));
  return read_real_matrix(path);
}

std::string shape(const InputView& matrix) { return fmt::format("{} x {}", matrix.rows(), matrix.cols()); }

}  // namespace

void add_operand_arguments(CLI::App& command, OperandArguments& arguments) {
  command.add_option("A", arguments.a, "File of A, NumPy .npy or Matrix Market")->required()->type_name("");
  command.add_option("B", arguments.b, "File of B")->required()->type_name("");
  add_transposition(command, "--op-a", arguments.transpose_a, "T or C: the transpose of A is multiplied");
  add_transposition(command, "--op-b", arguments.transpose_b, "T or C: the transpose of B is multiplied");
  add_real(command, "--alpha", arguments.alpha, "Factor of A B, 1 where it is not given");
  auto* beta = add_real(command, "--beta", arguments.beta, "Factor of C0, 0 where it is not given");
  command.add_option("--c", arguments.c0, "File of C0, read only if beta is not 0")->type_name("C0")->needs(beta);
}

MatrixFile read_real_matrix(const std::string& path) {
  auto matrix = read_matrix(path);
  if (matrix.is_complex()) throw InputError(path, "the matrix is complex, and only real ones can be multiplied");
  return matrix;
}

OperandFiles::OperandFiles(const OperandArguments& arguments)
    : arguments_(arguments), a_(read_operand(arguments.a)), b_(read_operand(arguments.b)) {
  if (k() != b().rows())
    throw std::invalid_argument(fmt::format("op(A) of {} is {} and op(B) of {} is {}: {} columns do not meet {} rows",
                                            arguments.a, shape(a()), arguments.b, shape(b()), k(), b().rows()));
  if (beta() == 0) return;
  if (arguments.c0.empty()) throw std::invalid_argument("--beta: C0 is missing; --c names it");
  c0_ = read_operand(arguments.c0);
  if (c0().rows() != m() || c0().cols() != n())
    throw std::invalid_argument(fmt::format("{}: C0 is {}, and the product is {} x {}", arguments.c0, shape(c0()), m(), n()));
}

InputView OperandFiles::view(const MatrixFile& file) {
  if (file.is_float()) return std::get<Matrix<float>>(file.values);
  return std::get<Matrix<double>>(file.values);
}

DoubleView::DoubleView(const InputView& input) {
  if (const auto* doubles = std::get_if<MatrixView<const double>>(&input.typed())) {
    view_ = *doubles;
    return;
  }
  const auto& floats = std::get<MatrixView<const float>>(input.typed());
  copy_ = Matrix<double>(floats.rows(), floats.cols());
  for (Index i = 0; i < floats.rows(); ++i)
    for (Index j = 0; j < floats.cols(); ++j) copy_(i, j) = floats(i, j);
  view_ = std::as_const(copy_).view();
}

}  // namespace ozbound::cli
