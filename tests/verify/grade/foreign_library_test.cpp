// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/grade/foreign_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <vector>

namespace ozbound::foreign_library_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string bad(const std::string& name) { return OZBOUND_BAD_BLAS "/" + name + ".so"; }

/// op(A) = [1 2 3; 4 5 6], op(B) = [1 0; 2 1; 0 3], C0 = 10 everywhere. Returns C as stored, with ldc = 3 and 7 in between.
std::vector<double> product(const ForeignLibrary& library, BlasCall call) {
  const std::vector<double> rows_a{1, 2, 3, 4, 5, 6}, columns_a{1, 4, 2, 5, 3, 6};
  const std::vector<double> rows_b{1, 0, 2, 1, 0, 3}, columns_b{1, 2, 0, 0, 1, 3};
  const bool a_by_rows = call.row_major != call.transpose_a, b_by_rows = call.row_major != call.transpose_b;
  std::vector<double> c{10, 10, 7, 10, 10, 7};
  call.m = 2;
  call.n = 2;
  call.k = 3;
  call.a = (a_by_rows ? rows_a : columns_a).data();
  call.lda = a_by_rows ? 3 : 2;
  call.b = (b_by_rows ? rows_b : columns_b).data();
  call.ldb = b_by_rows ? 2 : 3;
  call.c = c.data();
  call.ldc = 3;
  library.dgemm(call);
  return c;
}

void expect_products(const ForeignLibrary& library) {
  for (const bool row_major : {false, true})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        if (row_major && !library.takes_row_major()) continue;
        const auto c = product(
            library, {.row_major = row_major, .transpose_a = transpose_a, .transpose_b = transpose_b, .alpha = 2, .beta = 0.5});
        if (row_major)
          EXPECT_THAT(c, ElementsAre(15, 27, 7, 33, 51, 7)) << library.name();
        else
          EXPECT_THAT(c, ElementsAre(15, 33, 7, 27, 51, 7)) << library.name();
      }
}

/// The operations that a library receives for a transposed op(A) and a plain op(B).
std::vector<double> ops(const ForeignLibrary& library, OpSpelling spelling) {
  const double one = 1;
  std::vector<double> c(2);
  library.dgemm(
      {.transpose_a = true, .spelling = spelling, .m = 2, .n = 1, .k = 1, .a = &one, .b = &one, .c = c.data(), .ldc = 2});
  return c;
}

TEST(ForeignLibrary, SaysOpAsItIsSpelt) {
  const ForeignLibrary fortran(bad("shows_op"), "dgemm_"), cblas(bad("shows_op"), "cblas_dgemm");
  EXPECT_THAT(ops(fortran, OpSpelling::usual), ElementsAre('T', 'N'));
  EXPECT_THAT(ops(fortran, OpSpelling::lower_case), ElementsAre('t', 'n'));
  EXPECT_THAT(ops(fortran, OpSpelling::conjugate), ElementsAre('C', 'N'));
  EXPECT_THAT(ops(fortran, OpSpelling::lower_case_conjugate), ElementsAre('c', 'n'));
  for (const auto spelling : {OpSpelling::usual, OpSpelling::lower_case})
    EXPECT_THAT(ops(cblas, spelling), ElementsAre(112, 111));
  for (const auto spelling : {OpSpelling::conjugate, OpSpelling::lower_case_conjugate})
    EXPECT_THAT(ops(cblas, spelling), ElementsAre(113, 111));
}

TEST(ForeignLibrary, CallsByBothConventions) {
  expect_products(ForeignLibrary(bad("correct"), "cblas_dgemm"));
  expect_products(ForeignLibrary(bad("correct"), "dgemm_"));
  expect_products(ForeignLibrary(bad("ilp64"), "cblas_dgemm64_"));
  expect_products(ForeignLibrary(bad("ilp64"), "dgemm_64_"));
}

TEST(ForeignLibrary, FindsASymbol) {
  EXPECT_EQ(ForeignLibrary(bad("correct")).identity().symbol, "cblas_dgemm");
  EXPECT_EQ(ForeignLibrary(bad("ilp64")).identity().symbol, "cblas_dgemm64_");
  EXPECT_TRUE(ForeignLibrary(bad("correct")).takes_row_major());
  EXPECT_FALSE(ForeignLibrary(bad("correct"), "dgemm_").takes_row_major());
}

/// CRC-32 by its definition, bit by bit.
std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

TEST(ForeignLibrary, KnowsItsFile) {
  const auto link = std::filesystem::temp_directory_path() / "ozbound-foreign-library.so";
  std::filesystem::remove(link);
  std::filesystem::create_symlink(bad("correct"), link);
  const ForeignLibrary library(link.string());
  std::filesystem::remove(link);
  EXPECT_EQ(library.identity().file, std::filesystem::canonical(bad("correct")));
  EXPECT_EQ(library.name(), library.identity().file + ": cblas_dgemm");
  std::ifstream file(bad("correct"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(library.identity().bytes, bytes.size());
  EXPECT_EQ(library.identity().crc32, crc32(bytes));
  EXPECT_EQ(crc32("123456789"), 0xcbf43926);
}

TEST(ForeignLibrary, AFileHereNeedsNoPath) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(OZBOUND_BAD_BLAS);
  EXPECT_NO_THROW(ForeignLibrary("correct.so"));
  std::filesystem::current_path(before);
}

TEST(ForeignLibrary, ThatIsNone) {
  const auto loading = [](const std::string& library, const std::string& symbol) {
    return [=] { const ForeignLibrary loaded(library, symbol); };
  };
  using Error = std::invalid_argument;
  EXPECT_THAT(loading("/nonexistent.so", ""), ThrowsMessage<Error>(HasSubstr("/nonexistent.so: cannot open")));
  EXPECT_THAT(loading(__FILE__, ""), ThrowsMessage<Error>(HasSubstr("foreign_library_test.cpp: ")));
  EXPECT_THAT(loading(bad("correct"), "dgemm"), ThrowsMessage<Error>(HasSubstr("undefined symbol: dgemm")));
  EXPECT_THAT(loading(bad("no_symbol"), ""), ThrowsMessage<Error>(HasSubstr("none of the symbols cblas_dgemm, dgemm_,")));
}

TEST(ForeignLibrary, FortranTakesNoRows) {
  const ForeignLibrary library(bad("correct"), "dgemm_");
  EXPECT_THROW(library.dgemm({.row_major = true}), std::invalid_argument);
}

#ifdef __x86_64__
bool has_subnormals() {
  const volatile double x = std::numeric_limits<double>::min();
  const volatile double half = x / 2;
  return half != 0;
}

/// The library computes in the environment that loading it sets, and the judging program keeps its own environment.
TEST(ForeignLibrary, HasAnEnvironmentOfItsOwn) {
  const ForeignLibrary fast(bad("loads_flush_to_zero"));
  EXPECT_TRUE(has_subnormals());
  EXPECT_THAT(fast.changed_by_loading(), testing::Optional(std::string("MXCSR is 0x9fc0, not 0x1f80")));
  EXPECT_TRUE(has_subnormals());
  const double small = 0x1p-1022, half = 0.5;
  double c = 1;
  fast.dgemm({.m = 1, .n = 1, .k = 1, .a = &small, .b = &half, .c = &c});
  EXPECT_EQ(c, 0);
  EXPECT_TRUE(has_subnormals());
  const ForeignLibrary right(bad("correct"));
  EXPECT_EQ(right.changed_by_loading(), std::nullopt);
  right.dgemm({.m = 1, .n = 1, .k = 1, .a = &small, .b = &half, .c = &c});
  EXPECT_EQ(c, 0x1p-1023);
  EXPECT_EQ(right.changed_by_call(), std::nullopt);
  EXPECT_EQ(fast.changed_by_call(), std::nullopt);  // left as it was found
}

/// The first call that changes the caller's environment is reported, and later calls still give correct results.
TEST(ForeignLibrary, TellsWhoChangesTheEnvironmentOfItsCaller) {
  const ForeignLibrary library(bad("changes_environment"));
  const auto before = std::fegetround();
  const std::vector<double> a(32, 0x1p-1022), half{0.5};
  std::vector<double> c(32);
  const auto call = [&](Index m) {
    library.dgemm({.m = m, .n = 1, .k = 1, .a = a.data(), .lda = m, .b = half.data(), .c = c.data(), .ldc = m});
  };
  call(16);
  EXPECT_EQ(library.changed_by_call(), std::nullopt);
  for (int t = 0; t < 2; ++t) {
    call(32);
    EXPECT_EQ(c[31], 0x1p-1023);
    EXPECT_THAT(library.changed_by_call(), testing::Optional(HasSubstr("after dgemm(NN, 32 x 1 x 1, ")));
    EXPECT_THAT(library.changed_by_call(), testing::Optional(HasSubstr(") MXCSR is 0xffc0, not 0x1f80")));
    EXPECT_EQ(std::fegetround(), before);
    EXPECT_TRUE(has_subnormals());
  }
  const ForeignLibrary x87(bad("changes_x87"));
  x87.dgemm({.m = 1, .n = 1, .k = 1, .a = a.data(), .b = half.data(), .c = c.data()});
  EXPECT_THAT(x87.changed_by_call(), testing::Optional(HasSubstr("the x87 control word is 0x3f, not 0x33f")));
}
#endif

}  // namespace
}  // namespace ozbound::foreign_library_test
