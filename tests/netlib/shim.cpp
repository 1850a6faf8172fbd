// BLAS's four matrix products on Ozbound's C interface, to be preloaded: target dgemm, never native DGEMM, which this would be.
// A decision is kept for the next data of its sizes, and made anew where the target does not hold for them.
//
// What Ozbound refuses for an argument goes to xerbla_ with BLAS's number of it, as the testers want it; any other refusal is a
// failure and leaves C alone. At its end a program writes `CALLS ERRORS REFUSED` to the file that OZBOUND_NETLIB_CALLS names.

#include <complex>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ozbound.h"

extern "C" void xerbla_(const char* name, const int* argument, std::size_t length);

namespace {

struct Record {
  long calls = 0, errors = 0, refused = 0;
  std::map<std::tuple<char, int, int, int>, ozb_decision*> decisions;

  ~Record() {
    for (const auto& [sizes, decision] : decisions) ozb_decision_destroy(decision);
    const char* path = std::getenv("OZBOUND_NETLIB_CALLS");
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    std::fprintf(file, "%ld %ld %ld\n", calls, errors, refused);
    std::fclose(file);
  }
} record;

int op_of(char op) {
  if (op == 'N' || op == 'n') return OZB_NONE;
  if (op == 'T' || op == 't') return OZB_TRANSPOSE;
  return op == 'C' || op == 'c' ? OZB_CONJUGATE_TRANSPOSE : 0;
}

/// The number of the argument that a refusal begins with, or 0.
int argument_of(std::string_view refusal) {
  static constexpr std::pair<std::string_view, int> arguments[] = {{"op_a ", 1}, {"op_b ", 2}, {"m ", 3},    {"n ", 4},
                                                                   {"k ", 5},    {"lda ", 8},  {"ldb ", 10}, {"ldc ", 13}};
  for (const auto& [name, number] : arguments)
    if (refusal.substr(0, name.size()) == name) return number;
  return 0;
}

template <class T, class Decide, class Multiply>
void gemm(const char* name, int m, int n, int k, T* c, int ldc, const Decide& decide, const Multiply& multiply) {
  ++record.calls;
  ozb_decision*& decision = record.decisions[{*name, m, n, k}];
  const std::vector<T> before(c, m < 1 || n < 1 || ldc < m ? c : c + std::ptrdiff_t{ldc} * (n - 1) + m);
  int status = decision == nullptr ? OZB_DOES_NOT_HOLD : multiply(decision, 0, nullptr);
  if (status == OZB_DOES_NOT_HOLD) {
    if (!before.empty()) std::memcpy(static_cast<void*>(c), before.data(), before.size() * sizeof(T));
    ozb_decision_destroy(decision);
    status = decide("dgemm", OZB_NO_NATIVE + OZB_COUNT_PRODUCTS, &decision);
    if (status == OZB_SUCCESS) status = multiply(decision, 0, nullptr);
  }
  const int argument = status == OZB_INVALID_ARGUMENT ? argument_of(ozb_last_error()) : 0;
  if (argument != 0) ++record.errors, xerbla_(name, &argument, 6);
  if (status == OZB_SUCCESS || argument != 0) return;
  ++record.refused;
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
    gemm(name, *m, *n, *k, c, *ldc, with(ozb_decide_##letter), with(ozb_##letter##gemm_decided));                              \
  }
OZB_NETLIB_GEMM(d, "DGEMM ", double, *)
OZB_NETLIB_GEMM(s, "SGEMM ", float, *)
OZB_NETLIB_GEMM(z, "ZGEMM ", std::complex<double>, )
OZB_NETLIB_GEMM(c, "CGEMM ", std::complex<float>, )
