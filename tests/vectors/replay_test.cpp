// SPDX-License-Identifier: BSD-3-Clause
// For each conformance vector every engine gives the reference's digits, integer sums, bits of C and bounds.

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <complex>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ozbound/bounds/residue_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "support/exact.hpp"
#include "vectors/cases.hpp"
#include "vectors/engines.hpp"

namespace ozbound::vectors::replay_test {
namespace {

using nlohmann::json;
using test::Exact;

json read_vectors(const std::string& name) {
  std::ifstream file(std::filesystem::path(OZBOUND_VECTORS) / name);
  const auto vectors = json::parse(file);
  EXPECT_EQ(vectors.at("schema"), "ozbound-vectors-1");
  return vectors.at("cases");
}

double number(const std::string& text) {
  std::string_view rest = text;
  if (rest == "nan") return std::numeric_limits<double>::quiet_NaN();
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  double value = std::numeric_limits<double>::infinity();
  if (rest != "inf") {
    rest.remove_prefix(2);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, std::chars_format::hex);
    EXPECT_TRUE(error == std::errc{} && end == rest.data() + rest.size()) << text;
  }
  return negative ? -value : value;
}

Exact exact_number(const std::string& text) {
  const auto p = text.find('p');
  const bool negative = text.starts_with('-');
  const test::cpp_int magnitude(text.substr(negative ? 1 : 0, p - (negative ? 1 : 0)));
  return {negative ? test::cpp_int(-magnitude) : magnitude, std::stoi(text.substr(p + 1))};
}

std::int64_t integer(const json& value) {
  return value.is_string() ? std::stoll(value.get<std::string>()) : value.get<std::int64_t>();
}

/// A table of numbers, repeated `down` times by rows and `across` times by columns.
Matrix<double> matrix(const json& rows, Index m, Index n, Index down = 1, Index across = 1) {
  Matrix<double> result(m * down, n * across);
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.cols(); ++j)
      result(i, j) = number(rows.at(static_cast<std::size_t>(i % m)).at(static_cast<std::size_t>(j % n)).get<std::string>());
  return result;
}

/// A vector in the form that the engine takes.
struct Vector {
  explicit Vector(const json& record)
      : m(record.at("m")),
        n(record.at("n")),
        k(record.at("k")),
        repeat(record.at("inner_repeat")),
        a(matrix(record.at("a"), m, k, 1, repeat)),
        b(matrix(record.at("b"), k, n, repeat)),
        alpha(number(record.at("alpha"))),
        beta(number(record.at("beta"))),
        plan(parse_plan(record.at("plan").get<std::string>())) {
    if (record.contains("imaginary")) {
      imaginary_alpha = number(record.at("imaginary").at("alpha")), imaginary_beta = number(record.at("imaginary").at("beta"));
      complex = true;
    }
    if (!record.at("c0").is_null()) c0 = matrix(record.at("c0"), m, n);
  }

  Index m, n, k, repeat;
  Matrix<double> a, b, c0;
  double alpha, beta, imaginary_alpha = 0, imaginary_beta = 0;
  bool complex = false;
  Plan plan;
};

/// The complex matrix whose rows' parts lie one above the other.
Matrix<std::complex<double>> unstacked(const Matrix<double>& parts) {
  Matrix<std::complex<double>> result(parts.rows() / 2, parts.cols());
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.cols(); ++j) result(i, j) = {parts(2 * i, j), parts(2 * i + 1, j)};
  return result;
}

/// The complex matrix of the blocks (a_r, -a_i; a_i, a_r).
Matrix<std::complex<double>> unblocked(const Matrix<double>& blocks) {
  Matrix<std::complex<double>> result(blocks.rows() / 2, blocks.cols() / 2);
  for (Index i = 0; i < result.rows(); ++i)
    for (Index l = 0; l < result.cols(); ++l) result(i, l) = {blocks(2 * i, 2 * l), blocks(2 * i + 1, 2 * l)};
  return result;
}

/// C. For a complex product, the parts of each row lie one above the other.
template <class T>
Matrix<T> product(const Vector& v, const Engine& engine, double workspace) {
  Matrix<T> c(v.m, v.n);
  if (!v.complex) {
    multiply_unproven({v.a, v.b, c, v.alpha, v.beta, v.beta == 0 ? InputView() : InputView(v.c0)}, v.plan, engine, workspace);
    return c;
  }
  Matrix<std::complex<T>> parts(v.m / 2, v.n);
  const auto a = unblocked(v.a), b = unstacked(v.b), c0 = unstacked(v.c0);
  multiply_unproven({a, b, parts, {v.alpha, v.imaginary_alpha}, {v.beta, v.imaginary_beta}, c0}, v.plan, engine, workspace);
  for (Index i = 0; i < v.m; ++i)
    for (Index j = 0; j < v.n; ++j) c(i, j) = i % 2 == 0 ? parts(i / 2, j).real() : parts(i / 2, j).imag();
  return c;
}

void expect_digits(const SlicedMatrix& sliced, bool rows, const json& exponents, const json& slices, Index k) {
  for (Index i = 0; i < sliced.count(); ++i) {
    EXPECT_EQ(sliced.exponent(i), exponents.at(static_cast<std::size_t>(i))) << "vector " << i;
    for (int p = 1; p <= sliced.slicing().slices; ++p) {
      const auto& table = slices.at(static_cast<std::size_t>(p - 1));
      for (Index l = 0; l < sliced.inner_dimension(); ++l) {
        const auto row = static_cast<std::size_t>(rows ? i : l % k), column = static_cast<std::size_t>(rows ? l % k : i);
        ASSERT_EQ(sliced.digit(i, p, l), table.at(row).at(column))
            << "digit " << p << " of element " << l << " of vector " << i;
      }
    }
  }
}

/// Checks the weights of every vector, for plans without a common ratio.
void expect_weights(const SlicedMatrix& sliced, const json& weights) {
  for (Index i = 0; i < sliced.count(); ++i)
    for (int p = 1; p <= sliced.slicing().slices; ++p)
      EXPECT_EQ(sliced.weight_exponent(i, p), weights.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(p - 1)))
          << "vector " << i << ", digit " << p;
}

void expect_sums(const std::vector<Matrix<std::int64_t>>& sums, const SplitPlan& plan, Index k, const json& groups) {
  const auto expected = plan.groups(k);
  ASSERT_EQ(groups.size(), expected.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const auto& group = groups[t];
    EXPECT_EQ(group.at("weight"), plan.common_ratio() ? json(plan.weight_exponent(expected[t].diagonal)) : json(nullptr));
    EXPECT_EQ(group.at("pairs").front(), json({expected[t].first_a, expected[t].diagonal - expected[t].first_a}));
    EXPECT_EQ(group.at("pairs").size(), static_cast<std::size_t>(expected[t].pairs()));
    for (Index i = 0; i < sums[t].rows(); ++i)
      for (Index j = 0; j < sums[t].cols(); ++j)
        EXPECT_EQ(sums[t](i, j), integer(group.at("sums").at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j))))
            << "group " << t << ", entry " << i << ", " << j;
  }
}

template <class T>
void expect_product(const Vector& v, const Engine& engine, double workspace, const json& bits) {
  const auto c = product<T>(v, engine, workspace);
  for (Index i = 0; i < v.m; ++i)
    for (Index j = 0; j < v.n; ++j)
      EXPECT_EQ(bits_of(c(i, j)),
                std::stoull(bits[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].get<std::string>(), nullptr, 16))
          << "entry " << i << ", " << j << " of binary" << 8 * sizeof(T);
}

/// Checks that the a-priori bound is the vector's, rounded outward: at most that many operations on any path, each off by a
/// factor below 1 + 2^-51.
void expect_stated_bound(const Vector& v, int operations, const json& record) {
  const auto stated = exact_number(record.at("truncation_bound"));
  const Exact ours(truncation_a_priori_upper(v.plan, v.k * v.repeat));
  EXPECT_GE(ours, stated);
  EXPECT_LE(ours, stated * (Exact{1, 0} + Exact{operations + 1, -51}));
}

/// Checks that Ozbound's bounds are at least the exact error.
void expect_bounds(const Vector& v, const EntryBound& bound, const std::vector<VectorFacts>& rows,
                   const std::vector<VectorFacts>& columns, const json& record) {
  const auto stated = exact_number(record.at("truncation_bound"));
  for (Index i = 0; i < v.m; ++i)
    for (Index j = 0; j < v.n; ++j) {
      const auto& text = record.at("truncation_error").at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j));
      if (text.is_null()) continue;
      const auto error = exact_number(text.get<std::string>()).magnitude();
      const int scale = rows[static_cast<std::size_t>(i)].scale.exponent + columns[static_cast<std::size_t>(j)].scale.exponent;
      EXPECT_LE(error, stated.times_power_of_two(scale)) << "a priori, entry " << i << ", " << j;
      EXPECT_LE(error, Exact(bound.upper(i, j)).times_power_of_two(scale)) << "a posteriori, entry " << i << ", " << j;
    }
}

void expect_parts(const Vector& v, const SplitPlan& plan, const json& record) {
  const auto& whole = *engines().front();
  for (const auto& engine : engines()) {
    const auto a = engine->slice(v.a, Side::rows_of_a, plan.a);
    const auto b = engine->slice(v.b, Side::columns_of_b, plan.b);
    expect_sums(engine->group_sums(a, b, plan), plan, a.inner_dimension(), record.at("groups"));
  }
  const auto a = whole.slice(v.a, Side::rows_of_a, plan.a);
  const auto b = whole.slice(v.b, Side::columns_of_b, plan.b);
  expect_digits(a, true, record.at("a_exponents"), record.at("a_digits"), v.k);
  expect_digits(b, false, record.at("b_exponents"), record.at("b_digits"), v.k);
  EXPECT_EQ(record.contains("a_weights"), !plan.common_ratio());
  if (!plan.common_ratio()) {
    expect_weights(a, record.at("a_weights"));
    expect_weights(b, record.at("b_weights"));
  }
  const auto rows = whole.measure(v.a, Side::rows_of_a, plan.a).vectors;
  const auto columns = whole.measure(v.b, Side::columns_of_b, plan.b).vectors;
  expect_stated_bound(v, plan.a.slices + 7, record);
  expect_bounds(v, truncation_a_posteriori_upper(rows, columns, plan), rows, columns, record);
}

test::cpp_int long_integer(const json& value) {
  return value.is_string() ? test::cpp_int(value.get<std::string>()) : test::cpp_int(value.get<std::int64_t>());
}

void expect_residues(const Residues& residues, bool rows, const json& exponents, const json& tables, Index k) {
  for (Index i = 0; i < residues.count(); ++i) {
    EXPECT_EQ(residues.scale(i).exponent, exponents.at(static_cast<std::size_t>(i))) << "vector " << i;
    for (int t = 0; t < residues.form().moduli; ++t)
      for (Index l = 0; l < residues.inner_dimension(); ++l) {
        const auto row = static_cast<std::size_t>(rows ? i : l % k), column = static_cast<std::size_t>(rows ? l % k : i);
        ASSERT_EQ(residues.residue(i, t, l), tables.at(static_cast<std::size_t>(t)).at(row).at(column))
            << "modulus " << residue_moduli[t] << " of element " << l << " of vector " << i;
      }
  }
}

/// Checks C' as every engine recovers it.
void expect_integers(const Engine& engine, const ResidueMatrix& a, const ResidueMatrix& b, const ResiduePlan& plan,
                     const json& integers) {
  const auto groups = engine.recovered_groups(a, b, plan);
  for (Index i = 0; i < a.count(); ++i)
    for (Index j = 0; j < b.count(); ++j) {
      test::cpp_int found = 0;
      for (const auto& group : groups) found = (found << residue_layout(plan).radix_bits) + group(i, j);
      EXPECT_EQ(found, long_integer(integers.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j))))
          << "entry " << i << ", " << j;
    }
}

/// Checks that the vector's integers have the vector's residues.
void expect_own_residues(const json& integers, const json& residues) {
  for (std::size_t t = 0; t < residues.size(); ++t)
    for (std::size_t i = 0; i < integers.size(); ++i)
      for (std::size_t l = 0; l < integers[i].size(); ++l)
        EXPECT_EQ((long_integer(integers[i][l]) - residues[t][i][l].get<int>()) % residue_moduli[t], 0)
            << "modulus " << residue_moduli[t] << ", element " << i << ", " << l;
}

/// Checks that the vector's own sums give the vector's own integer.
void expect_recovery(const ResiduePlan& plan, const Vector& v, const json& record) {
  const auto base = ResidueBase::of(plan.moduli);
  for (Index i = 0; i < v.m; ++i)
    for (Index j = 0; j < v.n; ++j) {
      const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
      std::vector<std::int64_t> sums;
      for (const auto& of_modulus : record.at("residue_sums")) sums.push_back(integer(of_modulus.at(row).at(column)));
      auto x = base.reconstruct(sums.data(), 1);
      const bool negative = base.half.less_than(x);
      test::cpp_int found = 0;
      for (int word = residue_limbs - 1; word >= 0; --word) found = (found << 64) + x.limb[word];
      if (negative) found -= test::cpp_int(1) << (64 * residue_limbs);
      EXPECT_EQ(found, long_integer(record.at("integers").at(row).at(column))) << "entry " << i << ", " << j;
    }
}

void expect_parts(const Vector& v, const ResiduePlan& plan, const json& record) {
  ASSERT_EQ(record.at("moduli").size(), static_cast<std::size_t>(plan.moduli));
  for (int t = 0; t < plan.moduli; ++t) EXPECT_EQ(record.at("moduli").at(static_cast<std::size_t>(t)), residue_moduli[t]);
  for (const auto& engine : engines()) {
    const auto a = engine->prepare(v.a, Side::rows_of_a, plan.a()), b = engine->prepare(v.b, Side::columns_of_b, plan.b());
    expect_residues(a.residues().residues(), true, record.at("a_exponents"), record.at("a_residues"), v.k);
    expect_residues(b.residues().residues(), false, record.at("b_exponents"), record.at("b_residues"), v.k);
    expect_integers(*engine, a.residues(), b.residues(), plan, record.at("integers"));
  }
  expect_own_residues(record.at("a_integers"), record.at("a_residues"));
  expect_own_residues(record.at("b_integers"), record.at("b_residues"));
  expect_recovery(plan, v, record);
  const auto rows = engines().front()->measure(v.a, Side::rows_of_a, residue_measure).vectors;
  const auto columns = engines().front()->measure(v.b, Side::columns_of_b, residue_measure).vectors;
  expect_stated_bound(v, 4, record);
  const auto& engine = *engines().front();
  const auto bound =
      residue_error_upper(engine.norms(v.a, Side::rows_of_a), engine.norms(v.b, Side::columns_of_b), plan, v.k * v.repeat);
  expect_bounds(v, bound, rows, columns, record);
}

class Replay : public testing::TestWithParam<const char*> {};

TEST_P(Replay, GivesTheSameDigitsSumsAndBits) {
  for (const auto& record : read_vectors(GetParam())) {
    SCOPED_TRACE(std::string(GetParam()) + ": " + record.at("name").get<std::string>() + ", " +
                 record.at("plan").get<std::string>());
    const Vector v(record);
    EXPECT_EQ(json(to_string(v.plan)), record.at("plan"));
    v.plan.visit([&](const SplitPlan& plan) { expect_parts(v, plan, record); },
                 [&](const ResiduePlan& plan) { expect_parts(v, plan, record); });
    const auto& whole = *engines().front();
    for (const auto& engine : engines()) expect_product<double>(v, *engine, unlimited_workspace, record.at("c_binary64"));
    const double least = v.complex ? unlimited_workspace : least_workspace(whole, v.plan, v.k * v.repeat);
    expect_product<float>(v, whole, least, record.at("c_binary32"));
    if (testing::Test::HasFailure()) return;  // one failing vector is enough
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, Replay,
                         testing::Values("encodings.json", "digits.json", "limits.json", "ranges.json", "roundings.json",
                                         "specials.json", "scalars.json", "orders.json", "complex.json", "residues.json"),
                         [](const auto& file) { return std::string(file.param).substr(0, std::string(file.param).find('.')); });

template <class T>
std::string checksum(const json& record, const Problem& problem, const Matrix<double>& c0) {
  Matrix<T> c(c0.rows(), c0.cols());
  multiply_unproven({problem.a, problem.b, c, number(record.at("alpha")), number(record.at("beta")), c0},
                    parse_plan(record.at("plan").get<std::string>()), *engines().front());
  std::uint64_t hash = 0xcbf29ce484222325;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) hash = (hash ^ bits_of(c(i, j))) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

TEST(Families, GiveTheSameChecksums) {
  for (const auto& record : read_vectors("families.json")) {
    const auto problem = generate({parse_family(record.at("family").get<std::string>()), record.at("m"), record.at("n"),
                                   record.at("k"), record.at("phi"), record.at("seed")});
    const auto c0 = wrapped(problem.a, problem.b.cols());
    EXPECT_EQ(json(checksum<double>(record, problem, c0)), record.at("c_binary64_checksum")) << record;
    EXPECT_EQ(json(checksum<float>(record, problem, c0)), record.at("c_binary32_checksum")) << record;
  }
}

/// The vectors cover every encoding and accumulation, also after their list is edited.
TEST(Coverage, EveryEncodingAndAccumulation) {
  std::set<std::string> seen;
  for (const auto& record : read_vectors("encodings.json")) {
    const auto plan = parse_plan(record.at("plan").get<std::string>()).split();
    seen.insert(to_string(plan.a.encoding) + "," + to_string(plan.b.encoding) + ":" + to_string(plan.accumulation));
  }
  for (const std::string accumulation : {":exact", ":per_product", ":per_diagonal"}) {
    for (const std::string x : {"balanced", "unsigned8"})
      for (const std::string y : {"balanced", "unsigned8"}) EXPECT_TRUE(seen.contains(x + "," + y + accumulation));
    for (int beta = 1; beta <= 7; ++beta)
      for (const std::string x : {"truncated", "nearest", "ozimmu"})
        for (const std::string y : {"truncated", "nearest", "ozimmu"})
          EXPECT_TRUE(seen.contains(x + std::to_string(beta) + "," + y + std::to_string(beta) + accumulation));
  }
  EXPECT_TRUE(seen.contains("nearest_adaptive7,nearest_adaptive7:per_product"));
}

TEST(Coverage, SumsReachTheInt32LimitAndPassIt) {
  std::set<std::int64_t> sums;
  for (const auto& record : read_vectors("limits.json"))
    for (const auto& group : record.at("groups"))
      if (record.at("plan").get<std::string>().ends_with(":exact")) sums.insert(integer(group.at("sums")[0][0]));
  constexpr std::int64_t limit = 0x7fffffff;
  EXPECT_TRUE(sums.contains(131071 * 128 * 128));
  EXPECT_TRUE(sums.contains(limit + 1)) << "one too many by a single unit";
  EXPECT_TRUE(sums.contains(133144 * 127 * 127));
  EXPECT_TRUE(sums.contains(std::int64_t{133145} * 127 * 127));
  EXPECT_TRUE(sums.contains(524287 * 64 * 64));
  EXPECT_TRUE(sums.contains(33025 * 255 * 255));
  EXPECT_TRUE(sums.contains(std::int64_t{33026} * 255 * 255));
}

TEST(Coverage, ResiduesReachEveryLimit) {
  std::set<int> moduli, bits;
  std::set<std::int64_t> residues, sums, odd_sums;  // modulo 256, and modulo 253
  std::set<int> nearly_half;  // numbers of moduli with some |C'| above P (1/2 - 2^-8), where doubles do not suffice
  for (const auto& record : read_vectors("residues.json")) {
    const auto plan = parse_plan(record.at("plan").get<std::string>())
                          .visit([](const SplitPlan&) { return ResiduePlan{}; }, [](const ResiduePlan& p) { return p; });
    moduli.insert(plan.moduli);
    bits.insert({plan.bits_a, plan.bits_b});
    for (const auto& row : record.at("a_residues").at(0)) residues.insert(row.begin(), row.end());
    for (const auto& row : record.at("residue_sums").at(0))
      for (const auto& sum : row) sums.insert(std::abs(integer(sum)));
    for (const auto& row : record.at("residue_sums").at(1))
      for (const auto& sum : row) odd_sums.insert(std::abs(integer(sum)));
    test::cpp_int p = 1;
    for (int t = 0; t < plan.moduli; ++t) p *= residue_moduli[t];
    for (const auto& row : record.at("integers"))
      for (const auto& c : row)
        if (256 * abs(long_integer(c)) > 127 * p && 2 * abs(long_integer(c)) < p) nearly_half.insert(plan.moduli);
  }
  for (int n = 2; n <= max_moduli; ++n) EXPECT_TRUE(moduli.contains(n)) << n;
  for (int n = 6; n <= max_moduli; ++n) EXPECT_TRUE(nearly_half.contains(n)) << n;
  for (const int p : {1, 2, 3, 50, 51, 52, 53, 54, 62, 63, most_residue_bits}) EXPECT_TRUE(bits.contains(p)) << p;
  for (const int r : {-128, -1, 0, 1, 127}) EXPECT_TRUE(residues.contains(r)) << r;
  EXPECT_TRUE(sums.contains(131071 * 128 * 128));
  EXPECT_TRUE(sums.contains(std::int64_t{131072} * 128 * 128)) << "which is 2^31";
  EXPECT_TRUE(odd_sums.contains(135266 * 126 * 126));
  EXPECT_TRUE(odd_sums.contains(std::int64_t{135267} * 126 * 126)) << "above 2^31";
}

TEST(Coverage, RoundingsReachEveryKindOfResult) {
  std::set<std::string> wide, narrow;
  for (const auto* const file : {"roundings.json", "specials.json"})
    for (const auto& record : read_vectors(file)) {
      for (const auto& row : record.at("c_binary64")) wide.insert(row.begin(), row.end());
      for (const auto& row : record.at("c_binary32")) narrow.insert(row.begin(), row.end());
    }
  for (const auto* const bits :
       {"0000000000000000", "8000000000000000", "0000000000000001", "0000000000000002", "0010000000000000", "7fefffffffffffff",
        "7ff0000000000000", "fff0000000000000", "7ff8000000000000", "3ff0000000000000", "3ff0000000000002"})
    EXPECT_TRUE(wide.contains(bits)) << bits;
  for (const auto* const bits :
       {"00000000", "80000000", "00000002", "7f7fffff", "7f800000", "ff800000", "7fc00000", "3f800000", "3f800002"})
    EXPECT_TRUE(narrow.contains(bits)) << bits;
}

}  // namespace
}  // namespace ozbound::vectors::replay_test
