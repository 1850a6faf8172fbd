// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "files/support.hpp"

namespace ozbound::files::test::text_test {
namespace {

TEST(Text, QuotesWhatMayBeUnprintable) {
  EXPECT_EQ(quote("abc"), "'abc'");
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("a\n\x1b\xff"), "'a\\x0a\\x1b\\xff'");
  EXPECT_EQ(quote(std::string(40, 'x')), "'" + std::string(40, 'x') + "'");
  EXPECT_EQ(quote(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
}

TEST(Text, OneLine) { EXPECT_EQ(one_line("a\r\nb\tc\x1b[0m\xc3\xa9"), "a  b c [0m\xc3\xa9"); }

TEST(Text, Reals) {
  EXPECT_EQ(parse_real("0.1", "x"), 0.1);
  EXPECT_EQ(parse_real("-1.5e3", "x"), -1500);
  EXPECT_EQ(parse_real("0x1.8p-2", "x"), 0x1.8p-2);
  EXPECT_EQ(parse_real("-0X1P4", "x"), -16);
  EXPECT_EQ(bits(parse_real("-0", "x")), bits(-0.0));
  EXPECT_EQ(parse_real("+inf", "x"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parse_real("nan", "x")));
  // Read first as a long double, the number would be rounded twice, to 1 + 2^-52.
  EXPECT_EQ(parse_real("1.00000000000000011102230246251565404236316680908203124", "x"), 1);
}

TEST(Text, WrongRealsAreRefused) {
  for (const auto* text : {"", "-", "+", "1x", "--1", "+-1", "0x", "0xinf", "0x-1", "one", "1,5", " 1"})
    EXPECT_EQ(error_of<std::invalid_argument>([&] { parse_real(text, "--phi"); }),
              "--phi: '" + std::string(text) + "' is not a number");
  EXPECT_EQ(error_of<std::invalid_argument>([] { parse_real("1e999", "--phi"); }),
            "--phi: '1e999' is not within the range of a double");
}

TEST(Text, ComplexNumbers) {
  EXPECT_EQ(parse_complex("0x1p-3", "x"), std::complex<double>(0.125, 0));
  EXPECT_EQ(parse_complex("1,-2", "x"), std::complex<double>(1, -2));
  EXPECT_EQ(parse_complex("-inf,+0.5e1", "x"), std::complex<double>(-std::numeric_limits<double>::infinity(), 5));
  EXPECT_EQ(bits(parse_complex("-0,-0", "x")), bits(std::complex<double>(-0.0, -0.0)));
  for (const auto* text : {"1,", ",", "1,2,3", "1, 2", "1,2i", "(1,2)", "1;2"}) {
    const std::string spelled = text;
    const auto comma = spelled.find(',');
    const auto message = error_of<std::invalid_argument>([&] { parse_complex(spelled, "--alpha"); });
    const bool first_is_wrong = comma == std::string::npos || comma == 0 || spelled[0] == '(';
    const auto wrong = first_is_wrong ? spelled.substr(0, comma) : spelled.substr(comma + 1);
    EXPECT_EQ(message, "--alpha: '" + wrong + "' is not a number") << spelled;
  }
  EXPECT_EQ(complex_text({1.5, 0}), "1.5");
  EXPECT_EQ(complex_text({0.1, -2}), "0.1,-2");
  EXPECT_EQ(complex_text({-std::numeric_limits<double>::infinity(), 1e300}), "-inf,1e+300");
}

TEST(Text, Integers) {
  EXPECT_EQ(parse_integer("12", "n", 0, 12), 12);
  EXPECT_EQ(parse_integer("-3", "n", -3, 12), -3);
  const auto wrong = [](std::string_view text, std::int64_t low, std::int64_t high) {
    return error_of<std::invalid_argument>([&] { parse_integer(text, "n", low, high); });
  };
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(wrong("13", 0, 12), "n: '13' is not between 0 and 12");
  EXPECT_EQ(wrong("-1", 0, largest), "n: '-1' is not an integer of at least 0");
  EXPECT_EQ(wrong("9223372036854775808", 0, largest), "n: '9223372036854775808' is not an integer of at least 0");
  for (const auto* text : {"", "1.0", "x", "1 ", "0x1"})
    EXPECT_EQ(wrong(text, 0, 9), "n: '" + std::string(text) + "' is not an integer");
}

TEST(Text, Bytes) {
  EXPECT_EQ(parse_bytes("0", "s"), 0U);
  EXPECT_EQ(parse_bytes("17", "s"), 17U);
  EXPECT_EQ(parse_bytes("17B", "s"), 17U);
  for (const auto* text : {"2G", "2GB", "2GiB"}) EXPECT_EQ(parse_bytes(text, "s"), std::uint64_t{2} << 30) << text;
  EXPECT_EQ(parse_bytes("3k", "s"), 3072U);
  EXPECT_EQ(parse_bytes("16777215T", "s"), 16777215ULL << 40);
  for (const auto* text : {"", "-1", "1.5G", "G", "2X", "2iB", "2Gi", "2GiBs", "16777216T", "99999999999999999999"})
    EXPECT_EQ(error_of<std::invalid_argument>([&] { parse_bytes(text, "s"); }),
              "s: '" + std::string(text) + "' is not a size, such as 512M or 2GiB");
}

TEST(Text, Durations) {
  using std::chrono::milliseconds;
  EXPECT_EQ(parse_duration("300s", "t"), milliseconds(300000));
  EXPECT_EQ(parse_duration("2", "t"), milliseconds(2000));
  EXPECT_EQ(parse_duration("1.5m", "t"), milliseconds(90000));
  EXPECT_EQ(parse_duration("10000h", "t"), milliseconds(36000000000));
  EXPECT_EQ(parse_duration("0.1ms", "t"), milliseconds(1));
  for (const auto* text : {"", "s", "0", "-1s", "1 s", "1d", "1sm", "inf", "nan", "1e3", "10000.1h", "0x1s"})
    EXPECT_EQ(error_of<std::invalid_argument>([&] { parse_duration(text, "t"); }),
              "t: '" + std::string(text) + "' is not a time, such as 300s or 5m");
}

TEST(Text, UnsignedIntegers) {
  EXPECT_EQ(parse_unsigned("18446744073709551615", "s"), ~std::uint64_t{0});
  for (const auto* text : {"", "-1", "+1", "18446744073709551616", "1e3", "0x1"})
    EXPECT_EQ(error_of<std::invalid_argument>([&] { parse_unsigned(text, "s"); }),
              "s: '" + std::string(text) + "' is not an integer from 0 to 2^64 - 1");
}

TEST(Text, UpperBoundsStayUpperBounds) {
  EXPECT_EQ(format_upper(0), "0");
  EXPECT_EQ(format_upper(0.25), "0.25");
  EXPECT_EQ(format_upper(1e-16), "1e-16");
  EXPECT_EQ(format_upper(1.2341e-16), "1.235e-16");
  EXPECT_EQ(format_upper(123450.1), "1.235e+05");
  EXPECT_EQ(format_upper(9.9991), "10");
  EXPECT_EQ(format_upper(0x1p-1074), "5e-324");
  EXPECT_EQ(format_upper(std::numeric_limits<double>::infinity()), "inf");
}

RC_GTEST_PROP(TextProperty, UpperBoundsAreNotBelowAndNotFarAbove, ()) {
  const auto x =
      std::bit_cast<double>(*rc::gen::resize(1000, rc::gen::inRange<std::uint64_t>(bits(0x1p-1000), bits(0x1p1000))));
  const auto text = parse_real(format_upper(x), "x");
  RC_ASSERT(text >= x);
  RC_ASSERT(text <= x * 1.001);
}

TEST(Text, ShellCommands) {
  EXPECT_EQ(shell_command({"ozbound", "verify", "A.npy", "--alpha=-1e+3"}), "ozbound verify A.npy --alpha=-1e+3");
  EXPECT_EQ(shell_command({"my file", "it's", "", "$x"}), "'my file' 'it'\\''s' '' '$x'");
}

TEST(Text, BytesForPeople) {
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{1} << 40), "1.0 TiB");
  EXPECT_EQ(format_bytes(~std::uint64_t{0}), "16.0 EiB");
}

}  // namespace
}  // namespace ozbound::files::test::text_test
