// SPDX-License-Identifier: BSD-3-Clause
// BLAS's four matrix products on Ozbound's C interface, to be preloaded. They are correctly rounded: LAPACK's testers compare
// the bits of results computed in blocks of different widths, so an entry must depend only on its row and its column, as in
// netlib's BLAS. The bits do not depend on the decision, which is made once for every shape, as deciding takes longer than a
// small product.
//
// If Ozbound refuses an argument, the shim passes BLAS's number of the argument to xerbla_, as the testers expect. Any other
// refusal is a failure and leaves C unchanged. At its end a program writes `CALLS ERRORS REFUSED` to the file named by
// OZBOUND_NETLIB_CALLS.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "ozbound.h"

extern "C" void xerbla_(const char* name, const int* argument, std::size_t length);

namespace {

struct Counts {
  long calls = 0, errors = 0, refused = 0;

  ~Counts() {
    const char* path = std::getenv("OZBOUND_NETLIB_CALLS");
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    std::fprintf(file, "%ld %ld %ld\n", calls, errors, refused);
    std::fclose(file);
  }
} counts;

int op_of(char op) {
  if (op == 'N' || op == 'n') return OZB_NONE;
  if (op == 'T' || op == 't') return OZB_TRANSPOSE;
  return op == 'C' || op == 'c' ? OZB_CONJUGATE_TRANSPOSE : 0;
}

/// The number of the argument with whose name a refusal begins, or 0.
int argument_of(std::string_view refusal) {
  static constexpr std::pair<std::string_view, int> arguments[] = {{"op_a ", 1}, {"op_b ", 2}, {"m ", 3},    {"n ", 4},
                                                                   {"k ", 5},    {"lda ", 8},  {"ldb ", 10}, {"ldc ", 13}};
  for (const auto& [name, number] : arguments)
    if (refusal.substr(0, name.size()) == name) return number;
  return 0;
}

template <class Decide, class Multiply>
void gemm(const char* name, int m, int n, int k, const Decide& decide, const Multiply& multiply) {
  static std::map<std::tuple<char, int, int, int>, ozb_decision*> decisions;
  ++counts.calls;
  ozb_decision*& decision = decisions[{*name, m, n, k}];
  int status = decision == nullptr ? decide("cr", OZB_NO_NATIVE, &decision) : OZB_SUCCESS;
  if (status == OZB_SUCCESS) status = multiply(decision, 0, nullptr);
  const int argument = status == OZB_INVALID_ARGUMENT ? argument_of(ozb_last_error()) : 0;
  if (argument != 0) ++counts.errors, xerbla_(name, &argument, 6);
  if (status == OZB_SUCCESS || argument != 0) return;
  ++counts.refused;
  std::fprintf(stderr, "%s refused: %s\n", name, ozb_last_error());
}

}  // namespace

#define OZB_NETLIB_GEMM(letter, name, T, scalar)                                                                               \
  extern "C" void letter##gemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const T* alpha,  \
                                const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c, const int* ldc) { \
    const auto with = [&](auto* call) {                                                                                        \
      return [=](auto... rest) {                                                                                               \
        return call(OZB_COLUMN_MAJOR, op_of(*op_a), op_of(*op_b), *m, *n, *k, scalar alpha, a, *lda, b, *ldb, scalar beta, c,  \
                    *ldc, rest...);                                                                                            \
      };                                                                                                                       \
    };                                                                                                                         \
    gemm(name, *m, *n, *k, with(ozb_decide_##letter), with(ozb_##letter##gemm_decided));                                       \
  }
OZB_NETLIB_GEMM(d, "DGEMM ", double, *)
OZB_NETLIB_GEMM(s, "SGEMM ", float, *)
OZB_NETLIB_GEMM(z, "ZGEMM ", void, )
OZB_NETLIB_GEMM(c, "CGEMM ", void, )
