// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/verify/literature/models/cublas_emulation.hpp"
#include "vectors/cublas_cases.hpp"
#include "vectors/cublas_reference.hpp"

namespace ozbound::vectors::cublas_test {
namespace {

using nlohmann::json;

json cublas_vectors() {
  std::ifstream file(std::filesystem::path(OZBOUND_VECTORS) / "cublas.json");
  return json::parse(file).at("cases");
}

double number(const std::string& text) {
  const bool negative = text.starts_with('-');
  double value = 0;
  const auto* begin = text.data() + (negative ? 3 : 2);
  EXPECT_EQ(std::from_chars(begin, text.data() + text.size(), value, std::chars_format::hex).ec, std::errc{}) << text;
  return negative ? -value : value;
}

Matrix<double> numbers(const json& rows) {
  if (rows.is_null()) return {};
  Matrix<double> x(std::ssize(rows), std::ssize(rows[0]));
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      x(i, j) = number(rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].get<std::string>());
  return x;
}

std::string text_of(std::uint64_t bits) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
  return text;
}

models::CublasEmulation method(const json& record) {
  return {.mantissa_bits = test::cublas_bits(record.at("plan").get<std::string>())};
}

TEST(CublasVectors, AreReplayedByTheModel) {
  int products = 0;
  for (const auto& record : cublas_vectors()) {
    if (!record.contains("a")) continue;
    const auto a = numbers(record.at("a")), b = numbers(record.at("b")), c0 = numbers(record.at("c0"));
    const auto c = models::multiply(method(record), {a.view(), b.view(), number(record.at("alpha").get<std::string>()),
                                                     number(record.at("beta").get<std::string>()), c0.view()});
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j)
        EXPECT_EQ(json(text_of(bits_of(c(i, j)))),
                  record.at("c_binary64")[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)])
            << record;
    ++products;
  }
  EXPECT_EQ(products, std::ssize(cublas_cases()));
}

TEST(CublasVectors, AreReplayedWhereTheInnerDimensionIsCut) {
  int products = 0;
  for (const auto& record : cublas_vectors()) {
    if (record.contains("a")) continue;
    const auto problem = generate({parse_family(record.at("family").get<std::string>()), record.at("m"), record.at("n"),
                                   record.at("k"), record.at("phi"), record.at("seed")});
    const auto c = models::multiply(method(record), operands(problem));
    std::uint64_t hash = 0xcbf29ce484222325;
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j) hash = (hash ^ bits_of(c(i, j))) * 0x100000001b3;
    EXPECT_EQ(json(text_of(hash)), record.at("c_binary64_checksum")) << record;
    ++products;
  }
  EXPECT_EQ(products, std::ssize(cublas_family_cases()));
}

/// The vectors cover the whole rule, also after their list is edited.
TEST(CublasVectors, CoverTheRule) {
  std::set<int> bits;
  std::set<std::size_t> pieces;
  bool infinite = false, subnormal = false;
  for (const auto& record : cublas_vectors()) {
    bits.insert(method(record).mantissa_bits);
    pieces.insert(models::cublas_pieces(record.at("m"), record.at("n"), record.at("k")).size());
    if (record.contains("c_binary64"))
      for (const auto& row : record.at("c_binary64"))
        for (const auto& c : row) {
          infinite = infinite || c == "7ff0000000000000";
          subnormal = subnormal || (c.get<std::string>().starts_with("000") && c != "0000000000000000");
        }
  }
  for (const int m : {8, 15, 16, 23, 24, 31, 32, 39, 40, 47, 48, 55, 56, 63, 64}) EXPECT_TRUE(bits.contains(m)) << m;
  for (const std::size_t count : {1U, 8U, 9U, 10U, 12U, 32U}) EXPECT_TRUE(pieces.contains(count)) << count;
  EXPECT_TRUE(infinite && subnormal);
}

}  // namespace
}  // namespace ozbound::vectors::cublas_test
