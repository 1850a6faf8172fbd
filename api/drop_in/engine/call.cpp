// SPDX-License-Identifier: BSD-3-Clause
#include "call.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "blas_arguments.hpp"
#include "program_blas.hpp"

namespace ozbound::drop_in {
namespace {

template <class T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Integers in the width that the library takes. CBLAS arguments are copied as 64-bit integers. A library with 32-bit integers
/// reads the lower half, which comes first in memory on every processor that this project supports.
class Integers {
 public:
  explicit Integers(const ozd_call& call) : wide_(integer_bits(*call.site) == 64) {}

  Index operator()(const void* from) const { return wide_ ? read<std::int64_t>(from) : read<std::int32_t>(from); }

 private:
  bool wide_;
};

char fortran_op(const void* text) {
  const char op = read<char>(text);
  const char upper = op >= 'a' && op <= 'z' ? static_cast<char>(op - 'a' + 'A') : op;
  return upper == 'N' || upper == 'T' || upper == 'C' ? upper : '?';
}

char cblas_op(const void* number) {
  switch (read<int>(number)) {
    case 111: return 'N';
    case 112: return 'T';
    case 113: return 'C';
    default: return '?';
  }
}

char op_of(const ozd_call& call, const void* op) {
  return call.site->name->convention == OZD_FORTRAN ? fortran_op(op) : cblas_op(op);
}

double scalar(const ozd_call& call, const void* from) {
  return call.site->name->single != 0 ? static_cast<double>(read<float>(from)) : read<double>(from);
}

template <class T>
BlasArguments<T> arguments_of(const Call& x) {
  return {static_cast<Layout>(x.layout),
          static_cast<Op>(x.op_a),
          static_cast<Op>(x.op_b),
          x.m,
          x.n,
          x.k,
          static_cast<T>(x.alpha),
          static_cast<const T*>(x.as_made.a),
          x.lda,
          static_cast<const T*>(x.as_made.b),
          x.ldb,
          static_cast<T>(x.beta),
          static_cast<T*>(x.as_made.c),
          x.ldc};
}

}  // namespace

Call::Call(const ozd_call& made)
    : as_made(made),
      layout(made.layout == 101   ? 'R'
             : made.layout == 102 ? 'C'
                                  : '?'),
      op_a(op_of(made, made.op_a)),
      op_b(op_of(made, made.op_b)),
      alpha(scalar(made, made.alpha)),
      beta(scalar(made, made.beta)) {
  const Integers integer(made);
  m = integer(made.m), n = integer(made.n), k = integer(made.k);
  lda = integer(made.lda), ldb = integer(made.ldb), ldc = integer(made.ldc);
}

bool Call::is_valid() const {
  if (layout == '?' || op_a == '?' || op_b == '?' || m < 0 || n < 0 || k < 0) return false;
  const bool row_major = layout == 'R';
  const auto needed = [row_major](char op, Index rows, Index columns) { return (op == 'N') != row_major ? rows : columns; };
  const Index least_a = needed(op_a, m, k), least_b = needed(op_b, k, n), least_c = row_major ? n : m;
  if (lda < least_a || ldb < least_b || ldc < least_c) return false;
  return (lda > 0 && ldb > 0 && ldc > 0) || takes_no_rows(*as_made.site);  // a leading dimension of 0
}

bool Call::is_below(std::uint64_t least_work) const {
  std::uint64_t work = 0;
  const bool large = __builtin_mul_overflow(static_cast<std::uint64_t>(m), static_cast<std::uint64_t>(n), &work) ||
                     __builtin_mul_overflow(work, static_cast<std::uint64_t>(k), &work);
  return !large && work < least_work;
}

RealProduct Call::product() const {
  return single() ? views_of(arguments_of<float>(*this)).product(Place{})
                  : views_of(arguments_of<double>(*this)).product(Place{});
}

}  // namespace ozbound::drop_in
