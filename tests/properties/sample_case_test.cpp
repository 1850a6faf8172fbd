// SPDX-License-Identifier: BSD-3-Clause
// Cases are drawn as often as the stated weights say. The drawn numbers are judged, not the classes they were drawn from: each
// number is labelled with one class, and other classes seldom produce that label.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/verify/number_classes.hpp"
#include "ozbound/verify/property.hpp"
#include "properties/sampling.hpp"

namespace ozbound::sample_case_test {
namespace {

using namespace case_sampling;

constexpr int cases = 4000;

/// Drawn cases, from a domain without exclusions.
const std::vector<GemmCase>& drawn() {
  static const auto all = [] {
    std::vector<GemmCase> result;
    for (int seed = 0; seed < cases; ++seed)
      result.push_back(sample_case({.specials = true, .targets = true}, static_cast<std::uint64_t>(seed)));
    return result;
  }();
  return all;
}

/// The share of n independent draws misses its expectation by more than this value with probability below 1e-9 (Hoeffding's
/// inequality).
double deviation(std::size_t n) { return std::sqrt(std::log(2e9) / (2 * static_cast<double>(n))); }

template <class T, class Holds>
double share_of(const std::vector<T>& draws, const Holds& holds) {
  return static_cast<double>(std::count_if(draws.begin(), draws.end(), holds)) / static_cast<double>(draws.size());
}

/// Checks that the share of draws with a property is as expected.
template <class T, class Holds>
void expect_share(const std::vector<T>& draws, const Holds& holds, double expected, const std::string& what, double also = 0) {
  const double allowed = deviation(draws.size()) + also;
  EXPECT_LT(allowed, expected) << what << ": too few draws to tell";
  EXPECT_NEAR(share_of(draws, holds), expected, allowed) << what << " of " << draws.size();
}

/// The probability of `value`, by the weights.
template <class T, std::size_t N>
double probability(const Weighted<T> (&items)[N], T value) {
  for (const auto& item : items)
    if (item.value == value) return static_cast<double>(item.weight) / total_weight(items);
  return 0;
}

template <class Kind>
std::string name_of(Kind kind) {
  return "class " + std::to_string(static_cast<int>(kind));
}

TEST(SampleCase, IsFixedByItsSeed) {
  EXPECT_TRUE(sample_case({}, 5) == sample_case({}, 5));
  EXPECT_FALSE(sample_case({}, 5) == sample_case({}, 6));
}

TEST(SampleCase, IsValid) {
  for (const auto& one : drawn()) ASSERT_NO_THROW(one.validate());
}

TEST(SampleCase, EveryKindOfTargetIsDrawn) {
  for (const char* text : {"cr", "dgemm", "dgemm-typical", "componentwise:1", "rowcol:1", "normwise:1", "relative:1"})
    expect_share(
        drawn(), [&](const GemmCase& one) { return one.target && one.target->kind == parse_target(text).kind; }, 1.0 / 7, text);
}

// Exponents.

/// The binades of a class, as number_classes.hpp states them.
struct Binades {
  ExponentClass kind;
  int low, high;
};
constexpr Binades binades_of_double[] = {{ExponentClass::near_one, -8, 8},         {ExponentClass::moderate, -63, 63},
                                         {ExponentClass::wide, -1022, 1023},       {ExponentClass::largest, 1022, 1023},
                                         {ExponentClass::tiny, -1022, -962},       {ExponentClass::boundary, -1024, -1021},
                                         {ExponentClass::subnormal, -1074, -1023}, {ExponentClass::least, -1074, -1072}};
constexpr Binades binades_of_float[] = {{ExponentClass::near_one, -8, 8},       {ExponentClass::moderate, -31, 31},
                                        {ExponentClass::wide, -126, 127},       {ExponentClass::largest, 126, 127},
                                        {ExponentClass::tiny, -126, -96},       {ExponentClass::boundary, -128, -125},
                                        {ExponentClass::subnormal, -149, -127}, {ExponentClass::least, -149, -147}};

/// Checks that draws of one exponent class, with every class of significands, hit each binade of that class and no other.
template <class T, std::size_t N>
void expect_exactly(const Binades (&all)[N]) {
  for (const auto& [kind, low, high] : all) {
    RandomBits random(1);
    std::set<int> expected, found;
    for (int e = low; e <= high; ++e) expected.insert(e);
    for (int t = 0; t < 60000; ++t) {
      const auto significand = random.pick(significand_classes);
      const auto x = sample<T>(kind, significand, random.once_in(2), random);
      ASSERT_TRUE(std::isfinite(x) && x != 0) << name_of(kind);
      found.insert(std::ilogb(x));
    }
    EXPECT_EQ(found, expected) << name_of(kind);
  }
}

TEST(SampleCase, EachExponentClassIsItsBinades) {
  expect_exactly<double>(binades_of_double);
  expect_exactly<float>(binades_of_float);
  RandomBits random(1);
  EXPECT_EQ(bits_of(sample<double>(ExponentClass::zero, SignificandClass::uniform, true, random)), bits_of(-0.0));
}

/// The exponent class that a magnitude is labelled with, whatever class it was drawn from; nothing between the classes.
std::optional<ExponentClass> label(double x) {
  if (x == 0) return ExponentClass::zero;
  const int e = std::ilogb(x);
  if (e <= -1072) return ExponentClass::least;
  if (e < -1024) return ExponentClass::subnormal;
  if (e <= -1021) return ExponentClass::boundary;
  if (e <= -962) return ExponentClass::tiny;
  if (e >= 1022) return ExponentClass::largest;
  if (std::abs(e) <= 8) return ExponentClass::near_one;
  if (std::abs(e) <= 63) return ExponentClass::moderate;
  if (std::abs(e) < 900) return ExponentClass::wide;
  return std::nullopt;
}

/// The probability that a number drawn by the weights is labelled `kind`.
double expected_share(ExponentClass kind) {
  if (kind == ExponentClass::zero) return probability(exponent_weights, kind);
  double share = 0;
  for (const auto& [drawn, low, high] : binades_of_double) {
    int taken = 0;
    for (int e = low; e <= high; ++e) taken += label(std::ldexp(1.0, e)) == kind ? 1 : 0;
    share += probability(exponent_weights, drawn) * taken / (high - low + 1);
  }
  return share;
}

TEST(SampleCase, LargestMagnitudesAreOfEveryExponentClass) {
  std::vector<double> tops;
  RandomBits random(1);
  for (int t = 0; t < 60000; ++t) tops.push_back(std::abs(sample_vector<double>(1, false, random)[0]));
  for (const auto& weighted : exponent_weights)
    expect_share(
        tops, [&](double x) { return label(x) == weighted.value; }, expected_share(weighted.value),
        "exponent " + name_of(weighted.value));
}

// Significands.

constexpr std::uint64_t byte_ends[] = {0x00, 0x7f, 0x80, 0x81, 0xfe, 0xff};

/// True if all whole bytes below the leading bit's byte are ends of the range of bytes.
bool all_bytes_at_ends(std::uint64_t significand, int width) {
  for (int low = 0; low + 8 < width; low += 8)
    if (std::find(std::begin(byte_ends), std::end(byte_ends), significand >> low & 0xff) == std::end(byte_ends)) return false;
  return true;
}

/// The class that a significand is labelled with, whatever class it was drawn from; nothing if it is special in another way.
std::optional<SignificandClass> label(std::uint64_t significand, int width) {
  const auto top = std::uint64_t{1} << (width - 1);
  const auto limit = std::uint64_t{0x1FD} << (width - 9);
  const int set = std::popcount(significand), changes = std::popcount(significand ^ significand >> 1);
  if (significand < top || significand >= 2 * top) return std::nullopt;
  if (significand == top) return SignificandClass::one;
  if (significand == (top | 1)) return SignificandClass::above_one;
  if (significand == 2 * top - 1) return SignificandClass::below_two;
  if (significand + 1 >= limit && significand <= limit + 1) return SignificandClass::balanced_limit;
  if (significand % (top >> 7) == 0) return SignificandClass::short_bits;
  if (set <= 3) return SignificandClass::sparse;
  if (changes <= 4) return SignificandClass::runs;
  if (all_bytes_at_ends(significand, width)) return SignificandClass::bytes;
  if (set >= width / 4 && set <= 3 * width / 4) return SignificandClass::uniform;
  return std::nullopt;
}

constexpr std::size_t draws_of_significands = 100000;

std::vector<std::uint64_t> significands(SignificandClass kind, int width) {
  std::vector<std::uint64_t> all;
  RandomBits random(2);
  while (all.size() < draws_of_significands) all.push_back(sample_significand(kind, width, random));
  return all;
}

/// The bits that differ between some of the values.
std::uint64_t varying(const std::vector<std::uint64_t>& all) {
  std::uint64_t bits = 0;
  for (const auto x : all) bits |= x ^ all.front();
  return bits;
}

std::uint64_t expected_to_vary(SignificandClass kind, int width) {
  const auto below = [](int bits) { return (std::uint64_t{1} << bits) - 1; };
  switch (kind) {
    case SignificandClass::one:
    case SignificandClass::above_one:
    case SignificandClass::below_two: return 0;
    case SignificandClass::balanced_limit: return below(width - 8);
    case SignificandClass::short_bits: return below(width - 1) & ~below(width - 8);
    default: return below(width - 1);
  }
}

/// Each significand class, drawn separately, gets its own label in most draws (fewer with 24 bits), and varies every bit that
/// it can.
TEST(SampleCase, EachSignificandClassIsItself) {
  for (const int width : {53, 24})
    for (const auto kind : significand_classes) {
      const auto all = significands(kind, width);
      const auto own = share_of(all, [&](std::uint64_t x) { return label(x, width) == kind; });
      EXPECT_GE(own, width == 53 ? 0.9 : 0.4) << name_of(kind) << " of " << width << " bits";
      EXPECT_EQ(varying(all), expected_to_vary(kind, width)) << name_of(kind) << " of " << width << " bits";
    }
}

TEST(SampleCase, UniformSignificandsAreUniform) {
  const auto all = significands(SignificandClass::uniform, 53);
  for (int bit = 0; bit < 52; ++bit)
    expect_share(all, [bit](std::uint64_t x) { return (x >> bit & 1) != 0; }, 0.5, "bit " + std::to_string(bit));
}

TEST(SampleCase, BytesAreTheEndsOfTheRange) {
  std::set<std::uint64_t> bytes;
  for (const auto x : significands(SignificandClass::bytes, 53)) bytes.insert(x & 0xff);
  EXPECT_EQ(bytes, std::set<std::uint64_t>(std::begin(byte_ends), std::end(byte_ends)));
}

/// The share of each class in vectors follows from the weights and from the labels of separate classes. A vector of largest
/// digits has one of their fractions.
TEST(SampleCase, SignificandsAreOfEveryClass) {
  const auto fraction_of = [](double x) { return std::uint64_t{1} << 52 | (bits_of(x) & 0xfffffffffffff); };
  std::vector<std::uint64_t> drawn;
  RandomBits random(3);
  while (drawn.size() < draws_of_significands)
    if (const double x = sample_vector<double>(1, true, random)[0]; x != 0) drawn.push_back(fraction_of(x));
  const double maximal = probability(row_weights, RowClass::maximal);
  for (const auto& weighted : significand_weights) {
    const auto is = [&](std::uint64_t x) { return label(x, 53) == weighted.value; };
    double expected = 0;
    for (const auto fraction : maximal_fractions) expected += is(std::uint64_t{1} << 52 | fraction) ? maximal / 3 : 0;
    for (const auto& [kind, weight] : significand_weights)
      expected += (1 - maximal) * probability(significand_weights, kind) * share_of(significands(kind, 53), is);
    expect_share(drawn, is, expected, "significand " + name_of(weighted.value), deviation(draws_of_significands));
  }
}

// Vectors.

/// The class that a vector near 1 of eight elements is labelled with, by the depths of its elements (binades below the
/// largest).
std::optional<RowClass> label(const std::vector<double>& x) {
  const auto fraction = bits_of(x[0]) & 0xfffffffffffff;
  const bool listed =
      std::find(std::begin(maximal_fractions), std::end(maximal_fractions), fraction) != std::end(maximal_fractions);
  if (listed && std::all_of(x.begin(), x.end(), [&](double y) { return y == x[0]; })) return RowClass::maximal;
  std::vector<int> depths;
  for (const double y : x) depths.push_back(y == 0 ? 5000 : -std::ilogb(y));
  std::sort(depths.begin(), depths.end());
  const int second = depths[1] - depths[0], deepest = depths.back() - depths[0];
  if (deepest <= 1) return RowClass::alike;
  if (second >= 50) return RowClass::dominated;
  if (deepest < 20) return RowClass::any;
  return deepest < 70 ? std::optional(RowClass::spread) : std::nullopt;
}

TEST(SampleCase, VectorsAreOfEveryClass) {
  std::vector<std::vector<double>> all;
  RandomBits random(4);
  while (all.size() < 60000) {
    const auto x = sample_vector<double>(8, true, random);
    if (std::any_of(x.begin(), x.end(), [](double y) { return y != 0; })) all.push_back(x);
  }
  const double mistaken = 0.001;  // share with another class's label, as a spread vector within 20 binades: (2/7)^7
  for (const auto& weighted : row_weights)
    expect_share(
        all, [&](const std::vector<double>& x) { return label(x) == weighted.value; }, probability(row_weights, weighted.value),
        "row " + name_of(weighted.value), mistaken);
}

// Shapes and plans.

constexpr Index huge = 1 << 20;  // small sizes come on purpose, or once in 2^19 draws

/// The class that a shape drawn with huge sizes is labelled with.
ShapeClass label(const Shape& shape) {
  const auto [m, n, k] = shape;
  if (m == 0 || n == 0 || k == 0) return ShapeClass::empty;
  if (m == 1 && n == 1 && k == 1) return ShapeClass::scalar;
  if (m <= 2 && n <= 2) return ShapeClass::skinny;
  if (m == 1) return ShapeClass::row;
  if (n == 1) return ShapeClass::column;
  if (k == 1) return ShapeClass::inner;
  return m % 2 == 1 && n % 2 == 1 && k % 2 == 1 ? ShapeClass::odd : ShapeClass::any;
}

TEST(SampleCase, ShapesAreOfEveryClass) {
  std::vector<Shape> all;
  RandomBits random(5);
  for (int t = 0; t < 20000; ++t) all.push_back(case_sampling::sample_shape(huge, random));
  const double odd = probability(shape_weights, ShapeClass::any) / 8;  // by chance
  for (const auto& weighted : shape_weights) {
    const double by_chance = weighted.value == ShapeClass::odd ? odd : weighted.value == ShapeClass::any ? -odd : 0;
    expect_share(
        all, [&](const Shape& shape) { return label(shape) == weighted.value; },
        probability(shape_weights, weighted.value) + by_chance, "shape " + name_of(weighted.value), 1e-4);
  }
}

/// Cases have the expected share of empty and skinny shapes. A third of the skinny ones have no longer inner dimension than
/// others.
TEST(SampleCase, CasesHaveTheseShapes) {
  const Index longest = 3 * CaseDomain().largest;
  expect_share(
      drawn(), [](const GemmCase& one) { return one.m() == 0 || one.n() == 0 || one.k() == 0; },
      probability(shape_weights, ShapeClass::empty), "empty");
  expect_share(
      drawn(), [&](const GemmCase& one) { return one.k() > longest; }, probability(shape_weights, ShapeClass::skinny) * 2 / 3,
      "skinny");
}

TEST(SampleCase, CutsAreOfEveryClass) {
  std::vector<int> cuts;
  RandomBits random(6);
  for (int t = 0; t < 20000; ++t) cuts.push_back(sample_cut(8, 8, random));
  const double any = probability(cut_weights, CutClass::any) / 15;  // share of each value, 2 ... 16
  const auto expect_cut = [&](int cut, CutClass kind) {
    expect_share(
        cuts, [cut](int drawn) { return drawn == cut; }, probability(cut_weights, kind) + any, "cut " + std::to_string(cut));
  };
  expect_cut(16, CutClass::full);
  expect_cut(9, CutClass::diagonal);
  expect_cut(2, CutClass::first);
  EXPECT_EQ(std::set<int>(cuts.begin(), cuts.end()).size(), 15u);
}

bool is_of(EncodingClass kind, const Encoding& encoding) {
  const auto is_short = [&](Encoding::Kind of) { return encoding.kind == of && encoding.beta < 7; };
  switch (kind) {
    case EncodingClass::balanced: return encoding.kind == Encoding::Kind::balanced;
    case EncodingClass::adaptive: return encoding.kind == Encoding::Kind::nearest_adaptive;
    case EncodingClass::unsigned8: return encoding.kind == Encoding::Kind::unsigned8;
    case EncodingClass::truncated7: return encoding == Encoding::truncated(7);
    case EncodingClass::nearest7: return encoding == Encoding::nearest(7);
    case EncodingClass::ozimmu7: return encoding == Encoding::ozimmu(7);
    case EncodingClass::short_truncated: return is_short(Encoding::Kind::truncated);
    case EncodingClass::short_nearest: return is_short(Encoding::Kind::nearest);
    case EncodingClass::short_ozimmu: return is_short(Encoding::Kind::ozimmu);
  }
  return false;
}

TEST(SampleCase, PlansAreOfEveryClass) {
  for (const auto& weighted : encoding_weights)
    expect_share(
        drawn(), [&](const GemmCase& one) { return is_of(weighted.value, one.plan.split().a.encoding); },
        probability(encoding_weights, weighted.value), "encoding " + name_of(weighted.value));
  std::vector<GemmCase> free;  // cases that may have any accumulation
  std::ranges::copy_if(drawn(), std::back_inserter(free), [](const GemmCase& one) { return one.plan.split().common_ratio(); });
  for (const auto& weighted : accumulation_weights)
    expect_share(
        free, [&](const GemmCase& one) { return one.plan.split().accumulation == weighted.value; },
        probability(accumulation_weights, weighted.value), to_string(weighted.value));
}

TEST(SampleCase, SpecialsComeOnlyWhereTheyAreTaken) {
  int special = 0;
  const auto finite = [](const GemmCase& one) {
    const auto& a = one.a.values;
    return std::all_of(a.data(), a.data() + a.rows() * a.cols(), [](double x) { return std::isfinite(x); });
  };
  for (const auto& one : drawn()) special += finite(one) ? 0 : 1;
  EXPECT_GT(special, cases / 4);
  for (std::uint64_t seed = 0; seed < 500; ++seed) EXPECT_TRUE(finite(sample_case({}, seed)));
}

}  // namespace
}  // namespace ozbound::sample_case_test
