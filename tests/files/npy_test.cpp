// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "files/support.hpp"

namespace ozbound::files::test::npy_test {
namespace {

class Npy : public testing::Test {
 protected:
  MatrixFile read(std::string_view bytes) {
    write_bytes(path_, bytes);
    return read_matrix(path_);
  }

  std::vector<double> doubles(std::string_view bytes) {
    const auto matrix = std::get<Matrix<double>>(read(bytes).values);
    return {matrix.data(), matrix.data() + matrix.rows() * matrix.cols()};
  }

  void expect_error(std::string_view bytes, const std::string& wrong) {
    EXPECT_EQ(error_of([&] { read(bytes); }), path_.string() + ": " + wrong);
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "a.npy";
  const std::string six_ = bytes_of<double>({1, 2, 3, 4, 5, 6});
};

// Every exponent and payload; plain doubles of rapidcheck are mostly subnormal.
template <class T, class Bits>
rc::Gen<std::vector<T>> any_bits(Index count) {
  const auto one = rc::gen::weightedOneOf<T>(
      {{4, rc::gen::map(rc::gen::resize(1000, rc::gen::arbitrary<Bits>()), [](Bits b) { return std::bit_cast<T>(b); })},
       {1, rc::gen::element(T{0}, -T{0}, std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::signaling_NaN())}});
  return rc::gen::container<std::vector<T>>(static_cast<std::size_t>(count), one);
}

template <class T>
struct Elements;
template <>
struct Elements<double> {
  static std::vector<double> any(Index count) { return *any_bits<double, std::uint64_t>(count); }
};
template <>
struct Elements<float> {
  static std::vector<float> any(Index count) { return *any_bits<float, std::uint32_t>(count); }
};
template <class T>
struct Elements<std::complex<T>> {
  static std::vector<std::complex<T>> any(Index count) {
    const auto parts = Elements<T>::any(2 * count);
    std::vector<std::complex<T>> elements;
    for (std::size_t i = 0; i < parts.size(); i += 2) elements.emplace_back(parts[i], parts[i + 1]);
    return elements;
  }
};

template <class T>
void round_trip_keeps_every_bit() {
  const TemporaryDirectory directory;
  const auto path = directory / "a.npy";
  const auto rows = *rc::gen::inRange<Index>(0, 20), cols = *rc::gen::inRange<Index>(0, 20);
  const auto matrix = matrix_of<T>(rows, cols, Elements<T>::any(rows * cols));
  const bool transposed = *rc::gen::arbitrary<bool>();
  const auto view = transposed ? matrix.view().transposed() : matrix.view();
  write_matrix(path, view);
  const auto again = read_matrix(path);
  RC_ASSERT(again.rows() == view.rows() && again.cols() == view.cols());
  RC_ASSERT(all_bits(std::get<Matrix<T>>(again.values).view()) == all_bits(view));
  RC_ASSERT(std::filesystem::file_size(path) % 64 == static_cast<std::uint64_t>(rows * cols) * sizeof(T) % 64);
}

RC_GTEST_PROP(NpyProperty, DoublesRoundTrip, ()) { round_trip_keeps_every_bit<double>(); }
RC_GTEST_PROP(NpyProperty, FloatsRoundTrip, ()) { round_trip_keeps_every_bit<float>(); }
RC_GTEST_PROP(NpyProperty, ComplexDoublesRoundTrip, ()) { round_trip_keeps_every_bit<std::complex<double>>(); }
RC_GTEST_PROP(NpyProperty, ComplexFloatsRoundTrip, ()) { round_trip_keeps_every_bit<std::complex<float>>(); }

/// Reverses the bytes of each number of the given size.
std::string swapped(std::string bytes, std::size_t number) {
  for (std::size_t at = 0; at < bytes.size(); at += number)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at + number));
  return bytes;
}

/// Checks every layout. `type` is the letter and the bytes of an element, `number` the bytes of a number in it.
template <class T>
void every_layout_is_read_alike(const std::string& type, std::size_t number) {
  const TemporaryDirectory directory;
  const auto path = directory / "a.npy";
  const auto rows = *rc::gen::inRange<Index>(0, 20), cols = *rc::gen::inRange<Index>(0, 20);
  const auto elements = Elements<T>::any(rows * cols);
  const bool column_major = *rc::gen::arbitrary<bool>(), big_endian = *rc::gen::arbitrary<bool>();
  const auto shape = "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
  const auto header = npy_header((big_endian ? ">" : "<") + type, column_major ? "True" : "False", shape);
  const auto data = bytes_of(elements);
  write_bytes(path, npy_file(header, big_endian ? swapped(data, number) : data, *rc::gen::element<char>(1, 2, 3)));
  const auto view = column_major ? ozbound::column_major(elements.data(), rows, cols, std::max<Index>(1, rows))
                                 : row_major(elements.data(), rows, cols, std::max<Index>(1, cols));
  RC_ASSERT(all_bits(std::get<Matrix<T>>(read_matrix(path).values).view()) == all_bits(view));
}

RC_GTEST_PROP(NpyProperty, DoublesOfEveryLayout, ()) { every_layout_is_read_alike<double>("f8", 8); }
RC_GTEST_PROP(NpyProperty, FloatsOfEveryLayout, ()) { every_layout_is_read_alike<float>("f4", 4); }
RC_GTEST_PROP(NpyProperty, ComplexDoublesOfEveryLayout, ()) { every_layout_is_read_alike<std::complex<double>>("c16", 8); }
RC_GTEST_PROP(NpyProperty, ComplexFloatsOfEveryLayout, ()) { every_layout_is_read_alike<std::complex<float>>("c8", 4); }

TEST_F(Npy, WritesWhatNumPyWrites) {
  write_matrix(path_, matrix_of<double>(2, 3, {1, 2, 3, 4, 5, 6}).view());
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  EXPECT_EQ(read_bytes(path_), npy_file(header + "\n", six_));
}

TEST_F(Npy, WritesComplexNumbersAsNumPyDoes) {
  using Complex = std::complex<double>;
  write_matrix(path_, matrix_of<Complex>(1, 3, {{1, 2}, {3, 4}, {5, 6}}).view());
  std::string header = "{'descr': '<c16', 'fortran_order': False, 'shape': (1, 3), }";
  header.resize(117, ' ');
  EXPECT_EQ(read_bytes(path_), npy_file(header + "\n", six_));
  write_matrix(path_, matrix_of<std::complex<float>>(1, 1, {{1, -2}}).view());
  EXPECT_TRUE(read_bytes(path_).ends_with(bytes_of<float>({1, -2})));
  EXPECT_NE(read_bytes(path_).find("'<c8'"), std::string::npos);
}

TEST_F(Npy, ComplexFilesSayWhatTheyHold) {
  const auto c16 = read(npy_file(npy_header("<c16", "True", "(3, 1)"), six_));
  EXPECT_TRUE(c16.is_complex());
  EXPECT_FALSE(c16.is_float());
  EXPECT_EQ(c16.rows(), 3);
  EXPECT_EQ(c16.cols(), 1);
  const auto c8 = read(npy_file(npy_header("<c8", "False", "(0, 4)"), ""));
  EXPECT_TRUE(c8.is_complex());
  EXPECT_TRUE(c8.is_float());
  EXPECT_FALSE(read(npy_file(npy_header("<f4", "False", "(0, 4)"), "")).is_complex());
  EXPECT_FALSE(read(npy_file(npy_header("<f8", "False", "(0, 4)"), "")).is_complex());
}

TEST_F(Npy, HeaderMayBeSpelledInAnyWayPythonAllows) {
  for (const auto* header : {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
                             "{\"shape\":(2,3,),\"fortran_order\":False,\"descr\":\"<f8\"}",
                             " { 'fortran_order' : False , 'descr' : '<f8' , 'shape' : ( 2 , 3 ) } \n"})
    EXPECT_EQ(doubles(npy_file(header, six_)), (std::vector<double>{1, 2, 3, 4, 5, 6})) << header;
}

TEST_F(Npy, HeadersOfPython2AreRead) {
  EXPECT_EQ(doubles(npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }", six_)),
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(doubles(npy_file("{u'descr': u'<f8', 'fortran_order': False, u'shape': (2L, 3), }", six_)),
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
  expect_error(npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (2LL, 3)}", six_),
               "byte 63: the header is no Python dictionary: ',' is missing");
}

bool same_values(const MatrixFile& a, const MatrixFile& b) {
  return std::visit(
      []<class T, class U>(const Matrix<T>& x, const Matrix<U>& y) {
        if constexpr (std::is_same_v<T, U>)
          return x.rows() == y.rows() && x.cols() == y.cols() &&
                 std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.rows() * x.cols()) * sizeof(T)) == 0;
        else
          return false;
      },
      a.values, b.values);
}

// numpy.dtype(other).str == name for each.
TEST_F(Npy, ATypeMayHaveAnyNameThatNumPyKnows) {
  const std::pair<const char*, std::vector<const char*>> types[] = {
      {"<f8", {"=f8", "f8", "|f8", "d", "=d", "<d", "float64", "double", "float", "float_"}},
      {">f8", {">d"}},
      {"<f4", {"f", "f4", "float32", "single"}},
      {"<f2", {"e", "=f2", "float16", "half"}},
      {"<c16", {"D", "c16", "complex128", "cdouble", "cfloat", "complex", "complex_"}},
      {">c16", {">D"}},
      {"<c8", {"F", "complex64", "csingle", "singlecomplex"}},
      {"<i8", {"l", "q", "p", "int64", "int", "int_", "int0", "intp", "long", "longlong"}},
      {">i8", {">q", ">l"}},
      {"<i4", {"i", "<i", "|i4", "int32", "intc"}},
      {"<i2", {"h", "int16", "short"}},
      {"|i1", {"b", "i1", "<i1", ">i1", "int8", "byte"}},
      {"<u8", {"L", "Q", "P", "uint64", "uint", "uint0", "uintp", "ulong", "ulonglong"}},
      {"<u4", {"I", "uint32", "uintc"}},
      {">u2", {">H"}},
      {"<u2", {"H", "uint16", "ushort"}},
      {"|u1", {"B", "uint8", "ubyte"}},
      {"|b1", {"?", "=?", "<?", ">b1", "bool", "bool_", "bool8"}},
  };
  const std::string bytes("\0\0\1\0\1\0\0\0\0\0\0\1\1\0\0\0", 16);  // truth values, and integers below 2^53 in either order
  for (const auto& [name, others] : types) {
    const auto shape = "(1, " + std::to_string(16 / std::stoi(name + 2)) + ")";
    const auto expected = read(npy_file(npy_header(name, "False", shape), bytes));
    for (const auto* other : others) {
      const auto found = read(npy_file(npy_header(other, "False", shape), bytes));
      EXPECT_TRUE(same_values(found, expected)) << other;
    }
  }
}

TEST_F(Npy, ZeroSizesAreMatrices) {
  const auto file = read(npy_file(npy_header("<f8", "False", "(0, 9000000000000000000)"), ""));
  EXPECT_EQ(file.rows(), 0);
  EXPECT_EQ(file.cols(), 9000000000000000000);
  EXPECT_EQ(read(npy_file(npy_header("<f4", "True", "(7, 0)"), "")).rows(), 7);
}

// A loop over 2^63 - 1 columns without elements would never end.
TEST_F(Npy, ManyColumnsWithoutElementsTakeNoTime) {
  const auto file = read(npy_file(npy_header("<f8", "True", "(0, 9223372036854775807)"), ""));
  EXPECT_EQ(file.cols(), 9223372036854775807);
  const MatrixView<const double> tall = std::get<Matrix<double>>(file.values).view().transposed();
  write_matrix(path_, tall);
  EXPECT_EQ(read_matrix(path_).rows(), 9223372036854775807);
}

TEST_F(Npy, EveryTruncationIsRefused) {
  for (const char version : {'\1', '\2', '\3'})
    for (const auto& header : {npy_header("<f8", "False", "(2, 3)"), npy_header("<c16", "True", "(3, 1)")}) {
      const auto whole = npy_file(header, six_, version);
      for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_THROW(read(whole.substr(0, length)), InputError) << int{version} << ".0, " << length;
    }
}

TEST_F(Npy, TruncationIsExplained) {
  expect_error("\x93NUMPY\x01", "the file ends before its NumPy header");
  expect_error(std::string("\x93NUMPY\x02\0\x04\0\0", 11), "the file ends before its NumPy header");
  const auto whole = npy_file(npy_header("<f8", "False", "(2, 3)"), six_);
  expect_error(whole.substr(0, whole.size() - 1),
               "the file ends too soon: 2 x 3 elements take 48 bytes, and 47 follow the header");
  expect_error(whole.substr(0, 60), "byte 8: a header of 60 bytes does not fit into a file of 60 bytes");
}

// numpy.save to an open file appends arrays, and numpy.load reads the first.
TEST_F(Npy, BytesAfterTheElementsAreAnotherArrays) {
  const auto one = npy_file(npy_header("<f8", "False", "(2, 3)"), six_);
  for (const std::string& more : {std::string("x"), npy_file(npy_header("<f8", "False", "(0, 3)"), "")})
    EXPECT_EQ(doubles(one + more), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST_F(Npy, HeadersLongerThanTheFileAreRefused) {
  expect_error(std::string("\x93NUMPY\x03\0\xff\xff\xff\xff{}", 14),
               "byte 8: a header of 4294967295 bytes does not fit into a file of 14 bytes");
  expect_error(npy_file(std::string(70000, ' '), "", 2), "byte 8: a header of 70000 bytes is too long for a matrix");
}

TEST_F(Npy, HugeShapesAreRefused) {
  const auto claim = [](std::string_view shape) { return npy_file(npy_header("<f8", "False", shape), std::string(1000, 'x')); };
  expect_error(claim("(1000000, 1000000)"),
               "the file ends too soon: 1000000 x 1000000 elements take 8000000000000 bytes, and 1000 follow the header");
  expect_error(claim("(4294967296, 4294967296)"), "a matrix of 4294967296 x 4294967296 is too large");
  expect_error(claim("(2305843009213693952, 1)"), "a matrix of 2305843009213693952 x 1 is too large");
  expect_error(claim("(1152921504606846976, 1)"), "a matrix of 1152921504606846976 x 1 is too large");
  expect_error(claim("(99999999999999999999, 1)"), "byte 61: 'shape' has a size beyond 64 bits");
  expect_error(npy_file(npy_header("<c16", "False", "(576460752303423488, 1)"), six_),
               "a matrix of 576460752303423488 x 1 is too large");
  expect_error(npy_file(npy_header("<c16", "False", "(2, 3)"), six_),
               "the file ends too soon: 2 x 3 elements take 96 bytes, and 48 follow the header");
}

TEST_F(Npy, MatricesLargerThanMemoryAreRefused) {
  write_bytes(path_, npy_file(npy_header("<f8", "False", "(16, 16)"), std::string(2048, 'x')));
  EXPECT_EQ(error_of([&] { read_matrix(path_, 2047); }),
            path_.string() + ": a matrix of 16 x 16 takes 2.0 KiB, more than the memory of 2.0 KiB");
  EXPECT_NO_THROW(read_matrix(path_, 2048));
  write_bytes(path_, npy_file(npy_header("<c16", "True", "(16, 16)"), std::string(4096, 'x')));
  EXPECT_EQ(error_of([&] { read_matrix(path_, 4095); }),
            path_.string() + ": a matrix of 16 x 16 takes 4.0 KiB, more than the memory of 4.0 KiB");
  EXPECT_NO_THROW(read_matrix(path_, 4096));
}

/// Every number of binary16 is read as its definition says; NaNs stay NaNs.
TEST_F(Npy, ReadsHalvesExactly) {
  std::string elements(2 * 65536, '\0');
  for (std::size_t h = 0; h < 65536; ++h)
    elements[2 * h] = static_cast<char>(h & 255), elements[2 * h + 1] = static_cast<char>(h >> 8);
  write_bytes(path_, npy_file(npy_header("<f2", "False", "(256, 256)"), elements));
  const auto read = read_matrix(path_);
  ASSERT_EQ(read.type(), "f4");
  const auto& matrix = std::get<Matrix<float>>(read.values);
  for (int h = 0; h < 65536; ++h) {
    const float value = matrix(h / 256, h % 256);
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31 && fraction != 0) {
      ASSERT_TRUE(std::isnan(value)) << h;
      continue;
    }
    const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    ASSERT_EQ(value, h >> 15 != 0 ? -magnitude : magnitude) << h;
    ASSERT_EQ(std::signbit(value), h >> 15 != 0) << h;
  }
  write_bytes(path_, npy_file(npy_header(">f2", "True", "(1, 2)"), std::string("\x3c\x00\xc0\x00", 4)));
  const auto swapped = read_matrix(path_);
  EXPECT_EQ(std::get<Matrix<float>>(swapped.values)(0, 0), 1);
  EXPECT_EQ(std::get<Matrix<float>>(swapped.values)(0, 1), -2);
}

TEST_F(Npy, OtherDimensionsAreRefused) {
  expect_error(npy_file(npy_header("<f8", "False", "()"), six_), "the array has 0 dimensions; a matrix has 2");
  expect_error(npy_file(npy_header("<f8", "False", "(6,)"), six_), "the array has 1 dimension; reshape it to (6, 1) or (1, 6)");
  expect_error(npy_file(npy_header("<f8", "False", "(1, 2, 3)"), six_), "the array has 3 dimensions; a matrix has 2");
}

/// The bytes of integers in either byte order.
template <class Integer>
std::string integer_bytes(std::vector<Integer> elements, char order) {
  auto bytes = bytes_of(elements);
  if ((order == '>') == (std::endian::native == std::endian::little))
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Integer))
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + sizeof(Integer)));
  return bytes;
}

template <class Integer>
std::string integer_type(char order) {
  return std::string(1, order) + (std::is_signed_v<Integer> ? 'i' : 'u') + std::to_string(sizeof(Integer));
}

using Integers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                std::uint32_t, std::uint64_t>;

template <class Integer>
class NpyIntegers : public Npy {};

TYPED_TEST_SUITE(NpyIntegers, Integers);

TYPED_TEST(NpyIntegers, BecomeTheDoublesTheyEqual) {
  using Limits = std::numeric_limits<TypeParam>;
  constexpr TypeParam largest = sizeof(TypeParam) < 8 ? Limits::max() : static_cast<TypeParam>(Limits::max() << 11);
  const std::vector<TypeParam> values{0, 1, 5, Limits::min(), largest, 7};
  for (const char order : {'<', '>'})
    for (const std::string storage : {"False", "True"}) {
      const auto file = npy_file(npy_header(integer_type<TypeParam>(order), storage, "(2, 3)"), integer_bytes(values, order));
      const auto read = this->doubles(file);
      ASSERT_EQ(read.size(), 6U);
      for (std::size_t t = 0; t < 6; ++t) {
        const std::size_t place = storage == "True" ? t % 3 * 2 + t / 3 : t;
        EXPECT_EQ(read[t], static_cast<double>(values[place])) << order << storage << t;
        EXPECT_EQ(static_cast<TypeParam>(read[t]), values[place]) << order << storage << t;
      }
    }
}

TYPED_TEST(NpyIntegers, MayBeMany) {
  std::vector<TypeParam> values(70001);  // more elements than are converted at a time
  for (std::size_t t = 0; t < values.size(); ++t) values[t] = static_cast<TypeParam>(t % 101);
  const auto read = this->doubles(npy_file(npy_header(integer_type<TypeParam>('<'), "False", "(70001, 1)"), bytes_of(values)));
  for (std::size_t t = 0; t < values.size(); ++t) ASSERT_EQ(read[t], static_cast<double>(t % 101));
}

TEST_F(Npy, IntegersThatAreNoDoublesAreRefusedWithTheirPlace) {
  const std::int64_t two_53 = std::int64_t{1} << 53;
  const auto of = [](const std::vector<std::int64_t>& values, const char* order) {
    return npy_file(npy_header("<i8", order, "(2, 3)"), bytes_of(values));
  };
  EXPECT_EQ(
      doubles(of({two_53, -two_53, two_53 + 2, two_53 - 1, 3 * two_53, std::numeric_limits<std::int64_t>::min()}, "False"))[4],
      0x1.8p54);
  expect_error(of({1, 2, 3, 4, two_53 + 1, 6}, "False"), "element [1, 1]: 9007199254740993 is not exactly a double");
  expect_error(of({1, 2, 3, 4, -two_53 - 1, 6}, "True"), "element [0, 2]: -9007199254740993 is not exactly a double");
  expect_error(of({1, 2, 3, 4, 5, std::numeric_limits<std::int64_t>::max()}, "False"),
               "element [1, 2]: 9223372036854775807 is not exactly a double");
  expect_error(npy_file(npy_header(">u8", "False", "(1, 1)"), std::string(8, '\xff')),
               "element [0, 0]: 18446744073709551615 is not exactly a double");
}

TEST_F(Npy, TruthValuesAreZeroAndOne) {
  EXPECT_EQ(doubles(npy_file(npy_header("|b1", "False", "(1, 3)"), std::string("\1\0\1", 3))), (std::vector<double>{1, 0, 1}));
  expect_error(npy_file(npy_header("|b1", "False", "(2, 2)"), std::string("\1\0\2\1", 4)),
               "element [1, 0]: the byte 2 is no truth value");
}

TEST_F(Npy, IntegersAreCheckedAgainstTheMemoryTheyWillTake) {
  write_bytes(path_, npy_file(npy_header("|u1", "False", "(16, 16)"), std::string(256, 'x')));
  EXPECT_EQ(error_of([&] { read_matrix(path_, 2047); }),
            path_.string() + ": a matrix of 16 x 16 takes 2.0 KiB, more than the memory of 2.0 KiB");
  EXPECT_NO_THROW(read_matrix(path_, 2048));
  expect_error(npy_file(npy_header("<i2", "False", "(2, 3)"), "1234567890"),
               "the file ends too soon: 2 x 3 elements take 12 bytes, and 10 follow the header");
}

TEST_F(Npy, OtherElementTypesAreRefused) {
  for (const std::string type :
       {"<i16", "<c4", "<c32", "<c",       "<C16",    "<f16",     "|b2",  "<b8", "|O",   "<f88", "",   "<",  "<U5",    "c",
        "g",    "g8",  " f8",  "<float64", "Float64", "float64 ", "==f8", "f8<", "\xff", " ",    "F8", "dd", "double_"})
    EXPECT_THAT(error_of([&] { read(npy_file(npy_header(type, "False", "(2, 3)"), six_)); }),
                testing::EndsWith("cannot be read; only f8, f4, f2, c16, c8, integers and b1 can"))
        << type;
  expect_error(npy_file(npy_header("<m8", "False", "(2, 3)"), six_),
               "elements of type '<m8' cannot be read; only f8, f4, f2, c16, c8, integers and b1 can");
  expect_error(npy_file("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2, 3)}", six_),
               "byte 21: structured elements cannot be read; write one matrix of numbers");
}

TEST_F(Npy, OtherVersionsAreRefused) {
  expect_error(npy_file("{}", "", 0), "byte 6: NumPy format version 0.0 is not known");
  expect_error(npy_file("{}", "", 4), "byte 6: NumPy format version 4.0 is not known");
  expect_error(std::string("\x93NUMPY\x01\x01\x02\0{}", 12), "byte 6: NumPy format version 1.1 is not known");
}

TEST_F(Npy, WrongHeadersAreRefusedWithTheirPlace) {
  const auto expect_header_error = [&](std::string_view header, const std::string& wrong) {
    expect_error(npy_file(header, six_), wrong);
  };
  expect_header_error("", "byte 10: the header is no Python dictionary: '{' is missing");
  expect_header_error("{'descr' '<f8'}", "byte 19: the header is no Python dictionary: ':' is missing");
  expect_header_error("{'descr': '<f8' 'shape': (2, 3)}", "byte 26: the header is no Python dictionary: ',' is missing");
  expect_header_error("{'descr': '<f8", "byte 21: the header has a string without end");
  expect_header_error("{descr: '<f8'}", "byte 11: the header has no string where one belongs");
  expect_header_error("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 3)}",
                      "byte 44: 'fortran_order' is neither True nor False");
  expect_header_error("{'shape': [2, 3]}", "byte 20: the header is no Python dictionary: '(' is missing");
  expect_header_error("{'shape': (-2, -3)}", "byte 21: 'shape' is not a tuple of sizes");
  expect_header_error("{'shape': (2.0, 3)}", "byte 22: the header is no Python dictionary: ',' is missing");
  expect_header_error("{'shape': (2, ", "byte 24: 'shape' is not a tuple of sizes");
  expect_header_error("{'colour': 'red'}", "byte 20: the header has an unknown key 'colour'");
  expect_header_error("{'descr': '<f8', 'descr': '<f4'}", "byte 41: the header gives 'descr' twice");
  expect_header_error("{'fortran_order': False, 'shape': (2, 3)}", "byte 51: the header has no 'descr'");
  expect_header_error("{'descr': '<f8', 'shape': (2, 3)}", "byte 43: the header has no 'fortran_order'");
  expect_header_error("{'descr': '<f8', 'fortran_order': False}", "byte 50: the header has no 'shape'");
  expect_header_error("{} {}", "byte 13: text after the dictionary of the header");
}

}  // namespace
}  // namespace ozbound::files::test::npy_test
