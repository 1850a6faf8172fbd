// SPDX-License-Identifier: BSD-3-Clause
// A BLAS-shaped call: right arguments give a C that meets the target, wrong ones are refused, and nothing except C is written.

#include "fuzz/operands.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "ozbound/blas.hpp"
#include "ozbound/bounds/decide.hpp"

namespace ozbound::fuzz {
namespace {

/// The arguments, correct or spoiled.
template <class T>
struct Arguments {
  Layout layout;
  Op op_a, op_b;
  Index m, n, k;
  T alpha;
  const T* a;
  Index lda;
  const T* b;
  Index ldb;
  T beta;
  T* c;
  Index ldc;
  Target target;
};

Op op(Bytes& bytes) {
  constexpr std::array<Op, 3> ops{Op::none, Op::transpose, Op::conjugate_transpose};
  return bytes.pick(ops);
}

StoredMatrix stored(Bytes& bytes, Op op, Index rows, Index cols, Storage storage) {
  storage.padding = bytes.between(0, 3);
  return op == Op::none ? matrix(bytes, rows, cols, storage) : matrix(bytes, cols, rows, storage);
}

template <class T>
const T* data_of(const StoredMatrix& matrix) {
  return std::get<MatrixView<const T>>(matrix.input().typed()).data();
}

/// Makes one argument wrong; false if the changed argument is still correct.
template <class T>
bool spoil(int fault, Arguments<T>& arguments) {
  auto& x = arguments;
  const bool read = x.alpha != 0;
  switch (fault) {
    case 0: return x.m = -1, true;
    case 1: return x.n = -1, true;
    case 2: return x.k = -7, true;
    case 3: return x.lda = std::max<Index>(1, (x.layout == Layout::row_major) == (x.op_a == Op::none) ? x.k : x.m) - 1, true;
    case 4: return x.ldb = std::max<Index>(1, (x.layout == Layout::row_major) == (x.op_b == Op::none) ? x.n : x.k) - 1, true;
    case 5: return x.ldc = std::max<Index>(1, x.layout == Layout::row_major ? x.n : x.m) - 1, true;
    case 6: return x.a = nullptr, read && x.m > 0 && x.k > 0;
    case 7: return x.b = nullptr, read && x.k > 0 && x.n > 0;
    case 8: return x.c = nullptr, x.m > 0 && x.n > 0;
    case 9: return x.a = x.c, read && x.m > 0 && x.n > 0 && x.k > 0;
    case 10: return x.layout = static_cast<Layout>('X'), true;
    case 11: return x.op_a = static_cast<Op>('\0'), true;
    case 12: return x.op_b = static_cast<Op>('n'), true;
    default: return false;
  }
}

/// The certificate if the call was carried out. std::invalid_argument is the only possible refusal.
template <class T>
std::optional<Certificate> run(const Arguments<T>& x) {
  try {
    return gemm(x.layout, x.op_a, x.op_b, x.m, x.n, x.k, x.alpha, x.a, x.lda, x.b, x.ldb, x.beta, x.c, x.ldc, x.target);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

template <class T>
void call(Bytes& bytes) {
  const Storage storage{std::is_same_v<T, float>, bytes.flag(), 0};
  const int fault = bytes.between(0, 31);
  const auto wanted = target(bytes);
  const auto op_a = op(bytes), op_b = op(bytes);
  const Index m = bytes.between(0, 8), n = bytes.between(0, 8), k = bytes.between(0, 8);
  const auto alpha = static_cast<T>(number(bytes, storage.single)), beta = static_cast<T>(number(bytes, storage.single));
  const auto a = stored(bytes, op_a, m, k, storage), b = stored(bytes, op_b, k, n, storage);
  auto c = stored(bytes, Op::none, m, n, storage);
  const auto before = c;

  auto* const c_data = std::get<MatrixView<T>>(c.output().typed()).data();
  Arguments<T> arguments{storage.column_major ? Layout::column_major : Layout::row_major,
                         op_a,
                         op_b,
                         m,
                         n,
                         k,
                         alpha,
                         data_of<T>(a),
                         a.ld(),
                         data_of<T>(b),
                         b.ld(),
                         beta,
                         c_data,
                         c.ld(),
                         wanted};
  const bool wrong = spoil(fault, arguments);
  const Untouched untouched({&a, &b});
  std::optional<Certificate> certificate;
  try {
    certificate = run(arguments);
    require(certificate.has_value() != wrong, wrong ? "wrong arguments were taken" : "right arguments were refused");
  } catch (const CannotCertify&) {
    require(!wrong, "wrong arguments were not refused as such");
  }
  untouched.check(c);
  if (!certificate) return require(bits_of_matrix(c) == bits_of_matrix(before), "a refused product wrote C");

  require(certificate->holds, "a product that was decided does not meet its target");
  const auto a_values = values(op_a == Op::none ? a.input() : a.input().transposed());
  const auto b_values = values(op_b == Op::none ? b.input() : b.input().transposed());
  const auto c0_values = values(before.input());
  const ExactOracle oracle(Operands{a_values.view(), b_values.view(), double{alpha}, double{beta}, c0_values.view()});
  require_certified(c.output(), oracle, *certificate);
}

}  // namespace
}  // namespace ozbound::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ozbound::fuzz::Bytes bytes(data, size);
  if (bytes.flag())
    ozbound::fuzz::call<float>(bytes);
  else
    ozbound::fuzz::call<double>(bytes);
  return 0;
}
