// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/matrix_market.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <clocale>
#include <cmath>
#include <complex>
#include <limits>
#include <locale>

#include "files/support.hpp"

namespace ozbound::files::test::matrix_market_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class MatrixMarket : public testing::Test {
 protected:
  Matrix<double> read(std::string_view text) {
    write_bytes(path_, text);
    return read_matrix(path_).to_double();
  }

  void expect_matrix(std::string_view text, Index rows, Index cols, const std::vector<double>& elements) {
    const auto matrix = read(text);
    ASSERT_EQ(matrix.rows(), rows) << text;
    ASSERT_EQ(matrix.cols(), cols) << text;
    EXPECT_EQ(all_bits(matrix.view()), all_bits(matrix_of(rows, cols, elements).view())) << text;
  }

  /// The value read from an array file with one number.
  double number(std::string_view word, std::string_view field = "real") { return read(one_number(word, field))(0, 0); }

  static std::string one_number(std::string_view word, std::string_view field) {
    return std::string("%%MatrixMarket matrix array ").append(field).append(" general\n1 1\n").append(word).append("\n");
  }

  void expect_complex(std::string_view text, Index rows, Index cols, const std::vector<std::complex<double>>& elements) {
    write_bytes(path_, text);
    const auto matrix = std::get<Matrix<std::complex<double>>>(read_matrix(path_).values);
    ASSERT_EQ(matrix.rows(), rows) << text;
    ASSERT_EQ(matrix.cols(), cols) << text;
    EXPECT_EQ(all_bits(matrix.view()), all_bits(matrix_of(rows, cols, elements).view())) << text;
  }

  void expect_error(std::string_view text, const std::string& line_and_wrong) {
    EXPECT_EQ(error_of([&] { read(text); }), path_.string() + ":" + line_and_wrong) << text;
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "a.mtx";
};

const std::string array_banner = "%%MatrixMarket matrix array real general\n";
const std::string coordinate_banner = "%%MatrixMarket matrix coordinate real general\n";
const std::string complex_array = "%%MatrixMarket matrix array complex ";
const std::string complex_coordinate = "%%MatrixMarket matrix coordinate complex ";
const std::string symmetric_banner = "%%MatrixMarket matrix coordinate real symmetric\n";

TEST_F(MatrixMarket, Array) { expect_matrix(array_banner + "2 3\n1\n2\n3\n4\n5\n6\n", 2, 3, {1, 3, 5, 2, 4, 6}); }

TEST_F(MatrixMarket, ArrayOfASymmetricMatrix) {
  expect_matrix("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", 3, 3, {1, 2, 3, 2, 4, 5, 3, 5, 6});
}

TEST_F(MatrixMarket, ArrayOfASkewSymmetricMatrix) {
  expect_matrix("%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n0\n", 3, 3, {0, -1, -2, 1, 0, 0, 2, 0, 0});
}

TEST_F(MatrixMarket, Coordinate) {
  expect_matrix(coordinate_banner + "2 3 3\n2 3 -1.5\n1 1 4\n2 1 0\n", 2, 3, {4, 0, 0, 0, 0, -1.5});
}

TEST_F(MatrixMarket, CoordinateOfASymmetricMatrix) {
  expect_matrix(symmetric_banner + "3 3 3\n1 1 7\n3 1 2\n3 2 -0\n", 3, 3, {7, 0, 2, 0, 0, -0.0, 2, -0.0, 0});
}

TEST_F(MatrixMarket, CoordinateOfASkewSymmetricMatrix) {
  expect_matrix("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", 2, 2, {0, -3, 3, 0});
}

TEST_F(MatrixMarket, PatternsAreOnes) {
  expect_matrix("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n", 2, 2, {0, 1, 1, 0});
  expect_matrix("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", 2, 2, {0, 1, 1, 0});
}

TEST_F(MatrixMarket, ComplexArrays) {
  expect_complex(complex_array + "general\n2 2\n1 -0\n2 20\n-3.5e300 +.25\n-0 -inf\n", 2, 2,
                 {{1, -0.0}, {-3.5e300, 0.25}, {2, 20}, {-0.0, -infinity}});
  expect_complex(complex_array + "symmetric\n2 2\n1 10\n2 20\n3 30\n", 2, 2, {{1, 10}, {2, 20}, {2, 20}, {3, 30}});
  expect_complex(complex_array + "skew-symmetric\n2 2\n2 -20\n", 2, 2, {{0, 0}, {-2, 20}, {2, -20}, {0, 0}});
  expect_complex(complex_array + "hermitian\n2 2\n1 0\n2 20\n3 -0\n", 2, 2, {{1, 0}, {2, -20}, {2, 20}, {3, -0.0}});
}

TEST_F(MatrixMarket, ComplexCoordinates) {
  expect_complex(complex_coordinate + "general\n2 2 2\n2 1 1 -1\n1 1 0 5\n", 2, 2, {{0, 5}, {0, 0}, {1, -1}, {0, 0}});
  expect_complex(complex_coordinate + "symmetric\n2 2 2\n2 2 0 -0\n2 1 7 8\n", 2, 2, {{0, 0}, {7, 8}, {7, 8}, {0, -0.0}});
  expect_complex(complex_coordinate + "skew-symmetric\n2 2 1\n2 1 7 -0\n", 2, 2, {{0, 0}, {-7, 0}, {7, -0.0}, {0, 0}});
  expect_complex("%%matrixmarket MATRIX Coordinate COMPLEX Hermitian\r\n2 2 2\r\n% c\r\n2\t1 7 0\r\n\r\n2 2 1e-320 0", 2, 2,
                 {{0, 0}, {7, 0}, {7, 0}, {1e-320, 0}});
}

// A NaN or an infinity is mirrored into the other triangle part by part.
TEST_F(MatrixMarket, MirrorsOfComplexSpecials) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_complex(complex_coordinate + "hermitian\n2 2 1\n2 1 nan inf\n", 2, 2,
                 {{0, 0}, {nan, -infinity}, {nan, infinity}, {0, 0}});
  expect_complex(complex_coordinate + "skew-symmetric\n2 2 1\n2 1 -inf -nan\n", 2, 2,
                 {{0, 0}, {infinity, nan}, {-infinity, nan}, {0, 0}});
}

TEST_F(MatrixMarket, ComplexZeroSizes) {
  expect_complex(complex_array + "general\n0 9223372036854775807\n", 0, 9223372036854775807, {});
  expect_complex(complex_array + "hermitian\n0 0\n", 0, 0, {});
  expect_complex(complex_array + "skew-symmetric\n1 1\n", 1, 1, {0});
  expect_complex(complex_coordinate + "general\n5 0 0", 5, 0, {});
}

TEST_F(MatrixMarket, WrongComplexEntriesAreRefused) {
  const auto array = complex_array + "general\n1 1\n", coordinate = complex_coordinate + "general\n2 2 1\n";
  expect_error(array + "1     \n", "3: a real and an imaginary part belong here, and the line has 1");
  expect_error(array + "1 2 3\n", "3: a real and an imaginary part belong here, and the line has 3");
  expect_error(array + "1 2i\n", "3: '2i' is not a decimal number");
  expect_error(array + "1,2 0\n", "3: '1,2' is not a decimal number");
  expect_error(array + "(1,2) 0\n", "3: '(1,2)' is not a decimal number");
  expect_error(array + "1 1e400\n", "3: '1e400' lies outside the range of a double");
  expect_error(array + "1 2\n3 4\n", "4: text after the last of 1 entries");
  expect_error(coordinate + "1 1 1    \n", "3: a row, a column, a real and an imaginary part belong here, and the line has 3");
  expect_error(coordinate + "1 1 1 1 1\n", "3: a row, a column, a real and an imaginary part belong here, and the line has 5");
  expect_error(coordinate + "1 3 1 1\n", "3: column '3' lies outside 1 to 2");
  expect_error(coordinate + "1 1 x 1\n", "3: 'x' is not a decimal number");
}

TEST_F(MatrixMarket, HermitianFilesAreHermitian) {
  const auto coordinate = [](std::string_view entry) { return (complex_coordinate + "hermitian\n2 2 1\n").append(entry); };
  const std::string diagonal = "3: entry (2, 2) lies on the diagonal of a hermitian matrix, and its imaginary part ";
  expect_error(coordinate("2 2 1 0.5\n"), diagonal + "0.5 is not 0");
  expect_error(coordinate("2 2 0 5e-324\n"), diagonal + "5e-324 is not 0");
  expect_error(coordinate("2 2 0 -inf\n"), diagonal + "-inf is not 0");
  expect_error(coordinate("2 2 0 nan\n"), diagonal + "nan is not 0");
  expect_error(complex_array + "hermitian\n2 2\n1 0\n2 2\n% c\n3 -3\n",
               "6: entry (2, 2) lies on the diagonal of a hermitian matrix, and its imaginary part -3 is not 0");
  expect_error(coordinate("1 2 1 1\n"), "3: entry (1, 2) lies above the diagonal of a hermitian matrix");
  expect_error(complex_array + "hermitian\n2 3\n1 0\n", "2: a hermitian matrix is square, and 2 x 3 is not");
  expect_complex(coordinate("2 2 nan 0\n"), 2, 2, {{0, 0}, {0, 0}, {0, 0}, {std::numeric_limits<double>::quiet_NaN(), 0}});
}

TEST_F(MatrixMarket, ZeroSizes) {
  expect_matrix(array_banner + "0 5\n", 0, 5, {});
  expect_matrix(coordinate_banner + "5 0 0", 5, 0, {});
  expect_matrix("%%MatrixMarket matrix array real skew-symmetric\n0 0\n", 0, 0, {});
  expect_matrix("%%MatrixMarket matrix array real skew-symmetric\n1 1\n", 1, 1, {0});
}

// A loop over 2^63 - 1 columns without elements would never end.
TEST_F(MatrixMarket, ManyColumnsWithoutElementsTakeNoTime) {
  const auto matrix = read(array_banner + "0 9223372036854775807\n");
  EXPECT_EQ(matrix.cols(), 9223372036854775807);
  write_matrix(path_, matrix.view());
  EXPECT_EQ(read_bytes(path_), array_banner + "0 9223372036854775807\n");
}

TEST_F(MatrixMarket, LettersCaseSpacesCommentsAndLineEndsDoNotMatter) {
  expect_matrix(
      "%%MATRIXmarket\tMatrix  ARRAY Double GENERAL  \r\n% a comment\r\n\r\n  %another\r\n 2\t1 \r\n\r\n1\r\n% third\r\n  2  "
      "\r\n\r\n%",
      2, 1, {1, 2});
}

TEST_F(MatrixMarket, TheLastLineNeedsNoEnd) { expect_matrix(array_banner + "1 1\n2.5", 1, 1, {2.5}); }

TEST_F(MatrixMarket, LongLinesAreReadUpToALimit) {
  const std::string longest(LineReader::longest_line - 1, 'x');
  expect_matrix(array_banner + "%" + longest + "\r\n1 1\n1\n", 1, 1, {1});
  expect_error(array_banner + "%" + longest + "xxx\n1 1\n1\n", "2: the line is longer than 65536 bytes");
}

TEST_F(MatrixMarket, RealsAreRoundedToNearest) {
  EXPECT_EQ(number("0.1"), 0x1.999999999999ap-4);
  EXPECT_EQ(number("9007199254740993"), 0x1p53);                                      // a tie, to even
  EXPECT_EQ(number("9007199254740993." + std::string(5000, '0') + "1"), 0x1p53 + 2);  // just above it
  EXPECT_EQ(number("4.9406564584124654e-324"), 0x1p-1074);
  EXPECT_EQ(number("2.4703282292062328e-324"), 0x1p-1074);
  EXPECT_EQ(number("1.7976931348623157e+308"), 0x1.fffffffffffffp1023);
  EXPECT_EQ(bits(number("-0")), bits(-0.0));
  EXPECT_EQ(number("+1.5E+2"), 150);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("5."), 5);
}

TEST_F(MatrixMarket, InfinitiesAndNaNs) {
  for (const auto* word : {"inf", "Inf", "INFINITY", "+inf"}) EXPECT_EQ(number(word), infinity) << word;
  for (const auto* word : {"-inf", "-Infinity"}) EXPECT_EQ(number(word), -infinity) << word;
  for (const auto* word : {"nan", "NaN", "-nan", "+NAN"}) EXPECT_EQ(bits(number(word)), 0x7ff8000000000000U) << word;
}

TEST_F(MatrixMarket, FortransExponents) {
  EXPECT_EQ(number("1.5D+00"), 1.5);
  EXPECT_EQ(number("-2.5d-1"), -0.25);
  EXPECT_EQ(number("+.5D2"), 50);
  EXPECT_EQ(number("5.D2"), 500);
  EXPECT_EQ(number("0.10000000000000000-101"), 1e-102);
  EXPECT_EQ(number("-1.+300"), -1e300);
  EXPECT_THAT(error_of([&] { number("1D400"); }), testing::EndsWith("lies outside the range of a double"));
  expect_complex(complex_array + "general\n1 1\n1.5D+00 -2d0\n", 1, 1, {{1.5, -2}});
}

TEST_F(MatrixMarket, WhatIsNoRealIsRefused) {
  for (const auto* word : {"0x1p3", "1D", "D+03", "1.0DD3", "1.0D+0x3", "1-2",  "1-1000", "-D1", "1,5",   "1e",           "e5",
                           "-",     "+",  "+-1",  "--1",    "1.2.3",    "infi", "nan(1)", "one", "1_000", "\xef\xbc\x91", "''"})
    EXPECT_THAT(error_of([&] { number(word); }), testing::EndsWith("is not a decimal number")) << word;
  expect_error(one_number("1.0Q+03", "real"), "3: '1.0Q+03' is not a decimal number");
  expect_error(one_number(std::string("1\0", 2), "real"), "3: '1\\x00' is not a decimal number");
  expect_error(one_number(std::string(100, 'z'), "real"), "3: '" + std::string(40, 'z') + "...' is not a decimal number");
  for (const auto* word : {"1e400", "-1.7976931348623159e308", "1e-400", "2.4703282292062327e-324", "1e99999999999999999999"})
    EXPECT_THAT(error_of([&] { number(word); }), testing::EndsWith("lies outside the range of a double")) << word;
}

TEST_F(MatrixMarket, IntegersAreExactOrRefused) {
  EXPECT_EQ(number("-42", "integer"), -42);
  EXPECT_EQ(number("+7", "integer"), 7);
  EXPECT_EQ(bits(number("-0", "integer")), bits(0.0));
  EXPECT_EQ(number("9007199254740992", "integer"), 0x1p53);
  EXPECT_EQ(number("9007199254740994", "unsigned-integer"), 0x1p53 + 2);
  EXPECT_EQ(number("-9223372036854775808", "integer"), -0x1p63);
  for (const auto* word :
       {"9007199254740993", "-9007199254740993", "9223372036854775807", "9223372036854775808", "100000000000000000000"})
    expect_error(one_number(word, "integer"), "3: '" + std::string(word) + "' is not exactly a double");
  for (const auto* word : {"1.0", "1e3", "x", "0x10", "+-1", "inf"})
    expect_error(one_number(word, "integer"), "3: '" + std::string(word) + "' is not an integer");
}

TEST_F(MatrixMarket, WrongBannersAreRefused) {
  const std::string words = "1: five words, such as %%MatrixMarket matrix array real general, belong here, and the line has ";
  expect_error("%%MatrixMarket", words + "1");
  expect_error("%%MatrixMarket matrix array real\n1 1\n1\n", words + "4");
  expect_error("%%MatrixMarket matrix array real general 5\n1 1\n1\n", words + "6");
  expect_error("%%MatrixMarkets matrix array real general\n1 1\n1\n", "1: the first word is not %%MatrixMarket");
  expect_error("%%MatrixMarket vector array real general\n1 1\n1\n", "1: 'vector' cannot be read; only a matrix can");
  expect_error("%%MatrixMarket matrix dense real general\n1 1\n1\n", "1: 'dense' is not one of: array, coordinate");
  expect_error("%%MatrixMarket matrix array quaternion general\n1 1\n1 0\n",
               "1: 'quaternion' is not one of: real, double, integer, unsigned-integer, pattern, complex");
  expect_error("%%MatrixMarket matrix array real hermitian\n1 1\n1\n",
               "1: 'hermitian' is not one of: general, symmetric, skew-symmetric");
  expect_error(complex_array + "unitary\n1 1\n1 0\n",
               "1: 'unitary' is not one of: general, symmetric, skew-symmetric, hermitian");
  expect_error("%%MatrixMarket matrix array pattern general\n1 1\n1\n", "1: an array cannot be a pattern");
  expect_error("%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 1\n2 1\n",
               "1: a pattern cannot be skew-symmetric");
}

TEST_F(MatrixMarket, WrongSizesAreRefused) {
  expect_error(array_banner, "1: the file ends before its line of sizes");
  expect_error(array_banner + "% only\n\n", "3: the file ends before its line of sizes");
  expect_error(array_banner + "1\n1\n", "2: rows and columns belong here, and the line has 1");
  expect_error(array_banner + "1 1 1\n1\n", "2: rows and columns belong here, and the line has 3");
  expect_error(coordinate_banner + "1 1\n1\n", "2: rows, columns and the number of entries belong here, and the line has 2");
  expect_error(array_banner + "-1 1\n1\n", "2: '-1' is not a size");
  expect_error(array_banner + "1.0 1\n1\n", "2: '1.0' is not a size");
  expect_error(array_banner + "99999999999999999999 1\n1\n", "2: '99999999999999999999' is too large");
  expect_error(symmetric_banner + "2 3 1\n1 1 1\n", "2: a symmetric matrix is square, and 2 x 3 is not");
}

TEST_F(MatrixMarket, HugeClaimsAreRefused) {
  expect_error(array_banner + "1000000 1000000\n1\n", "3: the file ends after 1 of 1000000000000 entries");
  expect_error(coordinate_banner + "10 10 1000000000000\n1 1 1\n", "3: the file ends after 1 of 1000000000000 entries");
  expect_error(
      coordinate_banner + "1000000000 1000000 1\n1 1 1\n",
      "2: a dense matrix of 1000000000 x 1000000 takes 7.1 PiB, more than the memory of " + [] {
        const auto gib = static_cast<double>(physical_memory()) / 0x1p30;
        char text[32];
        std::snprintf(text, sizeof text, "%.1f GiB", gib);
        return std::string(text);
      }());
  const std::string largest = "9223372036854775807";
  for (const std::string symmetry : {"general", "symmetric", "skew-symmetric", "hermitian"})
    expect_error(complex_array + symmetry + "\n" + largest + " " + largest + "\n1 1\n",
                 "2: a matrix of " + largest + " x " + largest + " is too large");
  for (const std::string symmetry : {"general", "symmetric", "skew-symmetric"})
    expect_error("%%MatrixMarket matrix array real " + symmetry + "\n" + largest + " " + largest + "\n1\n",
                 "2: a matrix of " + largest + " x " + largest + " is too large");
  expect_error(coordinate_banner + largest + " 1 1\n1 1 1\n", "2: a matrix of " + largest + " x 1 is too large");
}

TEST_F(MatrixMarket, TheShortestLinesDecideHowManyEntriesFit) {
  expect_matrix(array_banner + "2 1\n1\n2", 2, 1, {1, 2});
  expect_error(array_banner + "2 1\n1\n", "3: the file ends after 1 of 2 entries");
  expect_matrix(coordinate_banner + "2 1 2\n1 1 1\n2 1 2", 2, 1, {1, 2});
  expect_error(coordinate_banner + "2 1 2\n1 1 1\n2 1\n", "4: a row, a column and a number belong here, and the line has 2");
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern general\n2 1 2\n";
  expect_matrix(pattern + "1 1\n2 1", 2, 1, {1, 1});
  expect_error(pattern + "1 1\n2\n", "4: a row and a column belong here, and the line has 1");
  expect_complex(complex_array + "general\n2 1\n1 2\n3 4", 2, 1, {{1, 2}, {3, 4}});
  expect_error(complex_array + "general\n2 1\n1 2\n3\n", "4: a real and an imaginary part belong here, and the line has 1");
  expect_complex(complex_coordinate + "general\n2 1 2\n1 1 1 2\n2 1 3 4", 2, 1, {{1, 2}, {3, 4}});
  expect_error(complex_coordinate + "general\n2 1 2\n1 1 1 2\n2 1 3\n",
               "4: a row, a column, a real and an imaginary part belong here, and the line has 3");
}

TEST_F(MatrixMarket, FewerEntriesThanAnnouncedAreCounted) {
  expect_error(coordinate_banner + "2 2 5\n1 1 1\n% a comment\n1 2 2\n\n2 1 3\n2 2 4\n",
               "8: the file ends after 4 of 5 entries");
  expect_error(array_banner + "2 2\n1\n2\n3\n", "5: the file ends after 3 of 4 entries");
  expect_error(array_banner + "2 2\n", "2: the file ends after 0 of 4 entries");
}

TEST_F(MatrixMarket, AWrongEntryIsNamedWhereTooFewAreThere) {
  expect_error(coordinate_banner + "2 2 100\n1 1 1\n9 9 1\n1 1 1\n", "4: row '9' lies outside 1 to 2");
  expect_error(coordinate_banner + "2 2 100\n1 1 x\n1 1 1\n", "3: 'x' is not a decimal number");
}

TEST_F(MatrixMarket, AMarkAndBlanksBeforeTheBannerAreNoFault) {
  for (const std::string before : {"\xEF\xBB\xBF", "  ", "\t", "\xEF\xBB\xBF  "}) {
    expect_matrix(before + array_banner + "2 1\n1\n2\n", 2, 1, {1, 2});
    expect_error(before + array_banner + "2 1\n1\nx\n", "4: 'x' is not a decimal number");
  }
  std::string lines = "\xEF\xBB\xBF" + array_banner + "2 1\n1\n2\n";
  for (auto at = lines.find('\n'); at != std::string::npos; at = lines.find('\n', at + 2)) lines.insert(at, "\r");
  expect_matrix(lines, 2, 1, {1, 2});
}

TEST_F(MatrixMarket, MatricesLargerThanMemoryAreRefused) {
  write_bytes(path_, coordinate_banner + "16 16 1\n1 1 1\n");
  EXPECT_EQ(error_of([&] { read_matrix(path_, 2047); }),
            path_.string() + ":2: a dense matrix of 16 x 16 takes 2.0 KiB, more than the memory of 2.0 KiB");
  EXPECT_NO_THROW(read_matrix(path_, 2048));
  write_bytes(path_, complex_coordinate + "hermitian\n16 16 1\n1 1 1 0\n");
  EXPECT_EQ(error_of([&] { read_matrix(path_, 4095); }),
            path_.string() + ":2: a dense matrix of 16 x 16 takes 4.0 KiB, more than the memory of 4.0 KiB");
  EXPECT_NO_THROW(read_matrix(path_, 4096));
}

TEST_F(MatrixMarket, CountsMustBeRight) {
  expect_error(array_banner + "2 2\n1.0\n2.0\n3.0\n% end\n", "6: the file ends after 3 of 4 entries");
  expect_error(array_banner + "1 1\n1\n2\n", "4: text after the last of 1 entries");
  expect_error(coordinate_banner + "2 2 2\n1 1 1.000000\n", "3: the file ends after 1 of 2 entries");
  expect_error(coordinate_banner + "2 2 1\n1 1 1\n\n2 2 2\n", "5: text after the last of 1 entries");
  expect_error(array_banner + "2 2\n1 2\n3 4\n",
               "3: an array has one number on a line, column by column: one belongs here, and the line has 2");
  expect_error(coordinate_banner + "2 2 1\n1 1 1 1\n", "3: a row, a column and a number belong here, and the line has 4");
  expect_error(coordinate_banner + "2 2 1\n1 1    \n", "3: a row, a column and a number belong here, and the line has 2");
  expect_error("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n",
               "3: a row and a column belong here, and the line has 3");
}

TEST_F(MatrixMarket, IndicesMustLieInside) {
  const auto entry = [](std::string_view text) { return (coordinate_banner + "2 3 1\n").append(text).append(" 1\n"); };
  expect_error(entry("0 1"), "3: row '0' lies outside 1 to 2");
  expect_error(entry("3 1"), "3: row '3' lies outside 1 to 2");
  expect_error(entry("1 4"), "3: column '4' lies outside 1 to 3");
  expect_error(entry("-1 1"), "3: row '-1' lies outside 1 to 2");
  expect_error(entry("1 99999999999999999999"), "3: column '99999999999999999999' lies outside 1 to 3");
  expect_error(entry("1.0 1"), "3: '1.0' is not the index of a row");
  expect_error(entry("1 x"), "3: 'x' is not the index of a column");
}

/// Entries given several times are summed in the file's order, as in SciPy.
TEST_F(MatrixMarket, EntriesGivenAgainAreAdded) {
  expect_matrix(coordinate_banner + "2 2 4\n1 1 3\n1 2 0.5\n1 1 4\n2 2 1\n", 2, 2, {7, 0.5, 0, 1});
  expect_matrix(coordinate_banner + "1 1 3\n1 1 1e300\n1 1 1\n1 1 -1e300\n", 1, 1, {0});
  expect_matrix(symmetric_banner + "2 2 2\n2 1 1\n2 1 2\n", 2, 2, {0, 3, 3, 0});
  expect_matrix("%%MatrixMarket matrix coordinate pattern general\n1 1 2\n1 1\n1 1\n", 1, 1, {2});
  expect_complex(complex_coordinate + "hermitian\n2 2 2\n2 1 1 2\n2 1 3 4\n", 2, 2, {{0, 0}, {4, -6}, {4, 6}, {0, 0}});
  expect_error(coordinate_banner + "1 1 2\n1 1 1e308\n1 1 1e308\n",
               "4: the sum of entries (1, 1) lies outside the range of a double");
  expect_error("%%MatrixMarket matrix coordinate integer general\n1 1 2\n1 1 9007199254740992\n1 1 1\n",
               "4: the sum of entries (1, 1) is not exactly a double");
}

TEST_F(MatrixMarket, EntriesMustBeStoredBelowTheDiagonal) {
  expect_error(symmetric_banner + "2 2 1\n1 2 1\n", "3: entry (1, 2) lies above the diagonal of a symmetric matrix");
  const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n";
  expect_error(skew + "1 2 1\n", "3: entry (1, 2) lies above the diagonal of a skew-symmetric matrix");
  expect_error(skew + "1 1 1\n", "3: entry (1, 1) lies on the diagonal of a skew-symmetric matrix, and is not 0");
  expect_error(skew + "1 1 nan\n", "3: entry (1, 1) lies on the diagonal of a skew-symmetric matrix, and is not 0");
  const std::string entries = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 3\n";
  expect_matrix(entries + "1 1 0\n2 1 3\n2 2 -0\n", 2, 2, {0, -3, 3, -0.0});
  expect_matrix(entries + "2 2 1\n2 1 3\n2 2 -1\n", 2, 2, {0, -3, 3, 0});  // only the sum must be 0
  expect_error(entries + "2 1 3\n2 2 1\n1 1 0\n",
               "4: entry (2, 2) lies on the diagonal of a skew-symmetric matrix, and is not 0");
  expect_complex(complex_coordinate + "hermitian\n1 1 2\n1 1 1 2\n1 1 1 -2\n", 1, 1, {{2, 0}});
}

TEST_F(MatrixMarket, EveryTruncationIsReadOrRefused) {
  for (const auto& whole : {symmetric_banner + "% c\n2 2 2\n1 1 1.25\n2 1 -3e5\n",
                            complex_coordinate + "hermitian\n% c\n2 2 2\n1 1 1.25 0\n2 1 1 -3e5\n"})
    for (std::size_t length = 0; length < whole.size(); ++length) {
      write_bytes(path_, std::string_view(whole).substr(0, length));
      try {
        read_matrix(path_);
        EXPECT_GE(length, whole.size() - 4) << "only the last number may be cut unseen";
      } catch (const InputError&) {
      }
    }
}

TEST_F(MatrixMarket, WritesTheShortestDecimals) {
  write_matrix(path_, matrix_of<double>(2, 2, {0.1, -0.0, 1e300, infinity}).view());
  EXPECT_EQ(read_bytes(path_), array_banner + "2 2\n0.1\n1e+300\n-0\ninf\n");
}

// A float is written as the double it equals, as 0.1 would read back as another number.
TEST_F(MatrixMarket, WritesFloatsExactly) {
  write_matrix(path_, matrix_of<float>(1, 2, {0.1F, 0.5F}).view());
  EXPECT_EQ(read_bytes(path_), array_banner + "1 2\n0.10000000149011612\n0.5\n");
}

TEST_F(MatrixMarket, WritesComplexNumbers) {
  write_matrix(path_, matrix_of<std::complex<double>>(2, 1, {{0.1, -0.0}, {-infinity, 1e300}}).view());
  EXPECT_EQ(read_bytes(path_), complex_array + "general\n2 1\n0.1 -0\n-inf 1e+300\n");
  write_matrix(path_, matrix_of<std::complex<float>>(1, 2, {{0.1F, 0.5F}, {-3, 4}}).view());
  EXPECT_EQ(read_bytes(path_), complex_array + "general\n1 2\n0.10000000149011612 0.5\n-3 4\n");
}

rc::Gen<double> any_double() {
  return rc::gen::map(rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>()),
                      [](std::uint64_t b) { return std::bit_cast<double>(b); });
}

RC_GTEST_PROP(MatrixMarketProperty, DoublesRoundTrip, ()) {
  const TemporaryDirectory directory;
  const auto path = directory / "a.mtx";
  const auto rows = *rc::gen::inRange<Index>(0, 10), cols = *rc::gen::inRange<Index>(0, 10);
  auto matrix =
      matrix_of(rows, cols, *rc::gen::container<std::vector<double>>(static_cast<std::size_t>(rows * cols), any_double()));
  write_matrix(path, std::as_const(matrix).view());
  for (Index i = 0; i < rows * cols; ++i)
    if (std::isnan(matrix.data()[i])) matrix.data()[i] = std::numeric_limits<double>::quiet_NaN();
  auto again = std::get<Matrix<double>>(read_matrix(path).values);
  RC_ASSERT(all_bits(again.view()) == all_bits(matrix.view()));
}

RC_GTEST_PROP(MatrixMarketProperty, ComplexNumbersRoundTrip, ()) {
  const TemporaryDirectory directory;
  const auto path = directory / "a.mtx";
  const auto rows = *rc::gen::inRange<Index>(0, 10), cols = *rc::gen::inRange<Index>(0, 10);
  Matrix<std::complex<double>> matrix(rows, cols), cleaned(rows, cols);
  const auto clean = [](double x) { return std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x; };
  for (Index i = 0; i < rows * cols; ++i) {
    matrix.data()[i] = {*any_double(), *any_double()};
    cleaned.data()[i] = {clean(matrix.data()[i].real()), clean(matrix.data()[i].imag())};
  }
  write_matrix(path, std::as_const(matrix).view());
  const auto again = read_matrix(path);
  RC_ASSERT(all_bits(std::get<Matrix<std::complex<double>>>(again.values).view()) == all_bits(std::as_const(cleaned).view()));
}

struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(MatrixMarket, NoLocaleIsConsulted) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  for (const auto* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_NUMERIC, name) != nullptr) break;
  EXPECT_EQ(number("1.5"), 1.5);
  write_matrix(path_, matrix_of<double>(1000, 1, std::vector<double>(1000, 1234.5)).view());
  EXPECT_THAT(read_bytes(path_), testing::StartsWith(array_banner + "1000 1\n1234.5\n"));
  std::setlocale(LC_NUMERIC, "C");
  std::locale::global(before);
}

}  // namespace
}  // namespace ozbound::files::test::matrix_market_test
