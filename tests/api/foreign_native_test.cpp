// SPDX-License-Identifier: BSD-3-Clause
// Libraries passed by the caller: netlib's reference BLAS and BLIS if the system has them, and an unknown library.

#include "ozbound/native.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "ozbound/machine.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound::foreign_native_test {
namespace {

struct Library {
  BlasRoutines<> routines;
  const void* dgemm = nullptr;
};

/// A library loaded for the life of the process; nothing if it is not installed.
Library library(const char* file) {
  void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {};
  Library found;
  found.dgemm = dlsym(handle, "dgemm_");
  found.routines = {reinterpret_cast<FortranGemm<double, std::int32_t>>(dlsym(handle, "dgemm_")),
                    reinterpret_cast<FortranGemm<float, std::int32_t>>(dlsym(handle, "sgemm_")),
                    reinterpret_cast<FortranGemm<std::complex<double>, std::int32_t>>(dlsym(handle, "zgemm_")),
                    reinterpret_cast<FortranGemm<std::complex<float>, std::int32_t>>(dlsym(handle, "cgemm_"))};
  return found;
}

template <class T>
Matrix<T> some(Index rows, Index cols) {
  Matrix<T> x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const auto value = static_cast<double>(1 + i - 2 * j);
      if constexpr (std::is_floating_point_v<T>)
        x(i, j) = static_cast<T>(value);
      else
        x(i, j) = static_cast<T>(std::complex<double>(value, i == j ? 1 : -3));
    }
  return x;
}

/// Checks the product of small integers, which is exact, in every layout: plain, transposed, strided, C0 in place and beside C.
template <class T>
void expect_exact(const NativeGemm& native) {
  const auto machine = Machine::cpu(1, &native);
  const Index m = 5, n = 4, k = 6;
  const auto a = some<T>(m, k), b = some<T>(k, n), at = some<T>(k, m), c0 = some<T>(m, n);
  Matrix<T> wide(m, 3 * n);
  using Scalar = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;
  const auto expect = [&](const auto& view_a, const MatrixView<T>& c, Scalar beta, const auto& start) {
    const Matrix<T> from = start;
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) c(i, j) = from(i, j);
    const auto target = std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>> ? Target::componentwise(1e-12)
                                                                                             : Target::componentwise(1e-4);
    const Product product(view_a, b, c, Scalar(2), beta, MatrixView<const T>(c));
    const auto decision = decide(product, target, machine, {.slices = false});
    ASSERT_EQ(decision.method, Method::native);
    const auto certificate = multiply(product, decision, machine);
    EXPECT_TRUE(certificate.holds);
    EXPECT_EQ(certificate.native, native.name());
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        T sum = 0;
        for (Index l = 0; l < k; ++l) sum += view_a(i, l) * b(l, j);
        const T scale = static_cast<T>(2), of_c0 = beta == Scalar(0) ? T(0) : static_cast<T>(beta) * from(i, j);
        EXPECT_EQ(c(i, j), scale * sum + of_c0) << i << ", " << j;
      }
  };
  Matrix<T> row_major(m, n), column_major(n, m);
  const MatrixView<const T> plain = a.view(), transposed = at.view().transposed();
  const MatrixView<T> strided(wide.data() + 1, m, n, 3 * n, 3);
  for (const auto& view_a : {plain, transposed})
    for (const auto& c : {row_major.view(), column_major.view().transposed(), strided})
      for (const Scalar beta : {Scalar(0), Scalar(1), Scalar(-3)}) expect(view_a, c, beta, c0);
}

/// Checks that nothing is certified if alpha times an element of A or B leaves the range of a double, though every given number
/// is in range: netlib's BLAS and, for small sizes, BLIS multiply elements by alpha.
void expect_extremes_refused(const NativeGemm& native) {
  const auto machine = Machine::cpu(1, &native);
  struct Numbers {
    double a, b, alpha;
  };
  for (const auto& [x, y, alpha] :
       {Numbers{0x1p600, 0x1p-500, 0x1p-600}, Numbers{0x1p-500, 0x1p600, 0x1p-600}, Numbers{0x1p-900, 0x1p100, 0x1p1000},
        Numbers{0x1.8p-60, 0x1p100, 0x1.0000000000001p-970}}) {
    Matrix<double> a(1, 1), b(1, 1), c(1, 1);
    a(0, 0) = x, b(0, 0) = y;
    const Product product(a, b, c, alpha);
    EXPECT_THROW((void)decide(product, Target::dgemm(), machine, {.slices = false}), CannotCertify) << x << ' ' << alpha;
    const Decision given{Target::dgemm(), Method::native, {}, 1, 1, 1, 0, 0, {}, {}};
    const auto certificate = multiply(product, given, machine);
    EXPECT_FALSE(certificate.holds);
    EXPECT_TRUE(check_certificate(to_json(certificate).dump(), {a.view(), b.view(), alpha}, c.view()).holds());
  }
}

void expect_recognised(const char* file, const std::string& name) {
  const auto found = library(file);
  if (found.dgemm == nullptr) GTEST_SKIP() << file << " is not here";
  const auto recognised = recognised_library(found.dgemm);
  ASSERT_TRUE(recognised) << file;
  EXPECT_NE(recognised->find(name), std::string::npos) << *recognised;
  const auto native = make_native_gemm(found.routines, *recognised, Summation::conventional);
  expect_exact<double>(*native);
  expect_exact<float>(*native);
  expect_exact<std::complex<double>>(*native);
  expect_exact<std::complex<float>>(*native);
  expect_extremes_refused(*native);
}

TEST(ForeignNative, NetlibIsRecognisedAndMultiplies) { expect_recognised(OZBOUND_REFERENCE_BLAS, "netlib"); }
TEST(ForeignNative, BlisIsRecognisedAndMultiplies) { expect_recognised(OZBOUND_BLIS, "BLIS"); }

#ifdef OZBOUND_HAVE_OPENBLAS
TEST(ForeignNative, OpenBlasMultipliesEveryFormat) {
  if (native_gemm() == nullptr) GTEST_SKIP() << "this OpenBLAS is not used";
  expect_exact<double>(*native_gemm());
  expect_exact<float>(*native_gemm());
  expect_exact<std::complex<double>>(*native_gemm());
  expect_exact<std::complex<float>>(*native_gemm());
}
#endif

#ifdef OZBOUND_HAVE_OPENBLAS
/// Conjugated operands are copied, as a library conjugates only together with a transposition.
TEST(ForeignNative, ConjugatedOperandsAreCopied) {
  if (native_gemm() == nullptr) GTEST_SKIP() << "this OpenBLAS is not used";
  using Number = std::complex<double>;
  const auto a = some<Number>(3, 4), b = some<Number>(4, 2), c0 = some<Number>(3, 2);
  for (const bool conjugate_b : {false, true})
    for (const bool adds : {false, true}) {
      Matrix<Number> c(3, 2);
      const ComplexInputView of_a = ComplexInputView(a).conjugate();
      const ComplexInputView of_b = conjugate_b ? ComplexInputView(b).conjugate() : ComplexInputView(b);
      native_gemm()->complex_gemm({of_a, of_b, c, 1, adds ? 1 : 0, ComplexInputView(c0).conjugate()});
      for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 2; ++j) {
          Number sum = adds ? std::conj(c0(i, j)) : 0;
          for (Index l = 0; l < 4; ++l) sum += std::conj(a(i, l)) * (conjugate_b ? std::conj(b(l, j)) : b(l, j));
          EXPECT_EQ(c(i, j), sum) << i << ", " << j;
        }
      Matrix<Number> before = c0;
      native_gemm()->complex_gemm({of_a, of_b, before, 1, adds ? 1 : 0, ComplexInputView(before).conjugate()});
      for (Index t = 0; t < 6; ++t) EXPECT_EQ(before.data()[t], c.data()[t]) << "C0 is C, conjugated";
    }
}
#endif

/// C = A B in a library that cannot be recognised by its symbols: this program.
void own_dgemm(const char*, const char*, const std::int64_t* m, const std::int64_t* n, const std::int64_t* k,
               const double* alpha, const double* a, const std::int64_t* lda, const double* b, const std::int64_t* ldb,
               const double* beta, double* c, const std::int64_t* ldc, std::size_t, std::size_t) {
  for (Index j = 0; j < *n; ++j)
    for (Index i = 0; i < *m; ++i) {
      double sum = 0;
      for (Index l = 0; l < *k; ++l) sum += a[i + l * *lda] * b[l + j * *ldb];
      c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
    }
}

TEST(ForeignNative, AnUnknownLibraryMultipliesAndNothingIsClaimed) {
  EXPECT_FALSE(recognised_library(reinterpret_cast<const void*>(&own_dgemm)));
  const BlasRoutines<std::int64_t> routines{own_dgemm};
  const auto unknown = make_native_gemm(routines, "own", Summation::unknown);
  const auto vouched = make_native_gemm(routines, "own", Summation::conventional);
  const auto problem = generate({Family::uniform, 4, 3, 5, 0, 1});
  Matrix<double> c(4, 3);
  const MatrixView<const double> a = problem.a.view();
  const Product product(a, problem.b, c);
  const auto machine = Machine::cpu(1, unknown.get());
  try {
    (void)decide(product, Target::dgemm(), machine, {.slices = false});
    FAIL();
  } catch (const CannotCertify& error) {
    EXPECT_STREQ(error.what(), "native DGEMM does not certify dgemm: the native library is not known to sum conventionally");
  }
  EXPECT_NE(decide(product, Target::dgemm(), machine).method, Method::native);

  // A decision for native DGEMM that was made with another machine.
  const auto decision = decide(product, Target::dgemm(), Machine::cpu(1, vouched.get()), {.slices = false});
  Matrix<double> column_major(3, 4);
  const Product told(a, problem.b, column_major.view().transposed());
  const auto unproven = multiply(told, decision, machine);
  EXPECT_FALSE(unproven.holds);
  const auto check =
      check_certificate(to_json(unproven).dump(), {problem.a.view(), problem.b.view()}, column_major.view().transposed());
  EXPECT_TRUE(check.holds());
  const auto proven = multiply(told, decision, Machine::cpu(1, vouched.get()));
  EXPECT_TRUE(proven.holds);
}

TEST(ForeignNative, IncompleteRoutinesAreRefused) {
  EXPECT_THROW((void)make_native_gemm(BlasRoutines<>{}, "none", Summation::conventional), std::invalid_argument);
  BlasRoutines<std::int64_t> half{own_dgemm};
  half.zgemm = [](auto...) {};
  EXPECT_THROW((void)make_native_gemm(half, "half", Summation::conventional), std::invalid_argument);
}

/// Products work while the program ends, after objects created later than this handler's registration were destroyed.
TEST(ForeignNativeDeathTest, ProductsAreMadeWhileTheProgramEnds) {
  static const auto multiply_one = [] {
    Matrix<double> a(2, 2), c(2, 2);
    a(0, 0) = a(1, 1) = 1;
    return multiply(Product(a, a, c), Target::dgemm(), Machine::cpu(1)).certificate.holds;
  };
  EXPECT_EXIT(
      {
        (void)std::atexit([] { std::_Exit(multiply_one() ? 7 : 8); });
        (void)multiply_one();
        std::exit(0);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace ozbound::foreign_native_test
