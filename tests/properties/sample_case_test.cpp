// Cases are drawn as often as the stated weights say: judged by the numbers that come out, not by the classes that went in.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ozbound/verify/number_classes.hpp"
#include "ozbound/verify/property.hpp"
#include "properties/sampling.hpp"

namespace ozbound {
namespace {

using namespace case_sampling;

constexpr int cases = 4000;

/// Drawn cases, in a domain that leaves nothing out.
const std::vector<GemmCase>& drawn() {
  static const auto all = [] {
    std::vector<GemmCase> result;
    for (int seed = 0; seed < cases; ++seed)
      result.push_back(sample_case({.specials = true, .targets = true}, static_cast<std::uint64_t>(seed)));
    return result;
  }();
  return all;
}

/// Fewer than this of n independent draws are of a class of that weight with probability below 1e-9 (Hoeffding's inequality).
double least_count(int n, double weight, int total) { return n * weight / total - std::sqrt(n * std::log(1e9) / 2); }

/// Counts what holds, and compares with what the weight promises. Other classes may look the same: more is right too.
template <class T>
void expect_share(const std::vector<T>& draws, const std::function<bool(const T&)>& holds, double weight, int total,
                  const std::string& what) {
  const auto count = std::count_if(draws.begin(), draws.end(), holds);
  const auto least = least_count(static_cast<int>(draws.size()), weight, total);
  EXPECT_GT(least, 0) << what << ": too few draws to tell";
  EXPECT_GE(static_cast<double>(count), least) << what << " of " << draws.size();
}

TEST(SampleCase, IsFixedByItsSeed) {
  EXPECT_TRUE(sample_case({}, 5) == sample_case({}, 5));
  EXPECT_FALSE(sample_case({}, 5) == sample_case({}, 6));
}

TEST(SampleCase, IsValid) {
  for (const auto& one : drawn()) ASSERT_NO_THROW(one.validate());
}

/// One vector each, so that draws are independent.
std::vector<double> tops() {
  std::vector<double> all;
  RandomBits random(1);
  for (int t = 0; t < 60000; ++t) {
    double top = 0;
    for (const double x : sample_vector<double>(3, false, random)) top = std::abs(x) > top ? std::abs(x) : top;
    all.push_back(top);
  }
  return all;
}

bool is_of(ExponentClass kind, double x) {
  const int e = x == 0 ? 0 : std::ilogb(x);
  switch (kind) {
    case ExponentClass::near_one: return x != 0 && std::abs(e) <= 8;
    case ExponentClass::moderate: return x != 0 && std::abs(e) <= 63;
    case ExponentClass::wide: return x != 0 && e >= -1022;
    case ExponentClass::largest: return e >= 1022;
    case ExponentClass::tiny: return e >= -1022 && e <= -962;
    case ExponentClass::boundary: return e >= -1024 && e <= -1021;
    case ExponentClass::subnormal: return x != 0 && e < -1022;
    case ExponentClass::least: return x != 0 && e <= -1072;
    case ExponentClass::zero: return x == 0;
  }
  return false;
}

TEST(SampleCase, LargestMagnitudesAreOfEveryExponentClass) {
  const auto all = tops();
  // A vector whose members are of any class by itself has another largest member: its weight promises nothing.
  const auto promised = static_cast<double>(total_weight(row_weights) - 3) / total_weight(row_weights);
  static_assert(row_weights[3].value == RowClass::any && row_weights[3].weight == 3);
  for (const auto& [kind, weight] : exponent_weights)
    expect_share<double>(
        all, [kind = kind](double x) { return is_of(kind, x); }, weight * promised, total_weight(exponent_weights),
        "exponent class " + std::to_string(static_cast<int>(kind)));
}

bool is_of(SignificandClass kind, std::uint64_t significand) {
  const auto top = std::uint64_t{1} << 52;
  switch (kind) {
    case SignificandClass::one: return significand == top;
    case SignificandClass::above_one: return significand == (top | 1);
    case SignificandClass::below_two: return significand == 2 * top - 1;
    case SignificandClass::balanced_limit: return (significand + 1) - (std::uint64_t{0x1FD} << 44) <= 2;
    case SignificandClass::short_bits: return (significand & ((std::uint64_t{1} << 44) - 1)) == 0;
    case SignificandClass::sparse: return __builtin_popcountll(significand) <= 3;
    case SignificandClass::runs: return __builtin_popcountll(significand ^ (significand >> 1)) <= 5;
    case SignificandClass::bytes:
      for (int low = 0; low < 48; low += 8) {
        const auto byte = significand >> low & 0xff;
        if (byte != 0 && byte != 0x7f && byte != 0x80 && byte != 0x81 && byte != 0xfe && byte != 0xff) return false;
      }
      return true;
    case SignificandClass::uniform: return true;
  }
  return false;
}

TEST(SampleCase, SignificandsAreOfEveryClass) {
  std::vector<std::uint64_t> all;
  RandomBits random(2);
  for (int t = 0; t < 20000; ++t) all.push_back(sample_significand(random.pick(significand_weights), 53, random));
  for (const auto& [kind, weight] : significand_weights)
    expect_share<std::uint64_t>(
        all, [kind = kind](std::uint64_t x) { return is_of(kind, x); }, weight, total_weight(significand_weights),
        "significand class " + std::to_string(static_cast<int>(kind)));
}

TEST(SampleCase, VectorsOfLargestDigitsOccur) {
  std::vector<std::vector<double>> all;
  RandomBits random(3);
  for (int t = 0; t < 20000; ++t) all.push_back(sample_vector<double>(4, true, random));
  const auto maximal = [](const std::vector<double>& x) {
    const auto fraction = bits_of(x[0]) & 0xfffffffffffff;
    const bool listed =
        fraction == maximal_fractions[0] || fraction == maximal_fractions[1] || fraction == maximal_fractions[2];
    return listed && x[0] == x[1] && x[1] == x[2] && x[2] == x[3];
  };
  static_assert(row_weights[4].value == RowClass::maximal);
  const double nonzero = 15.0 / 16;  // of vectors near 1
  expect_share<std::vector<double>>(all, maximal, row_weights[4].weight * nonzero, total_weight(row_weights), "maximal");
}

bool is_of(ShapeClass kind, const GemmCase& one) {
  const Index m = one.m(), n = one.n(), k = one.k();
  switch (kind) {
    case ShapeClass::scalar: return m == 1 && n == 1 && k == 1;
    case ShapeClass::empty: return m == 0 || n == 0 || k == 0;
    case ShapeClass::row: return m == 1;
    case ShapeClass::column: return n == 1;
    case ShapeClass::inner: return k == 1;
    case ShapeClass::skinny: return m <= 2 && n <= 2;
    case ShapeClass::odd: return m % 2 == 1 && n % 2 == 1 && k % 2 == 1;
    case ShapeClass::any: return true;
  }
  return false;
}

TEST(SampleCase, ShapesAreOfEveryClass) {
  for (const auto& [kind, weight] : shape_weights)
    expect_share<GemmCase>(
        drawn(), [kind = kind](const GemmCase& one) { return is_of(kind, one); }, weight, total_weight(shape_weights),
        "shape class " + std::to_string(static_cast<int>(kind)));
}

TEST(SampleCase, PlansAreOfEveryClass) {
  const auto share = [](const std::function<bool(const SplitPlan&)>& holds, int weight, int total, const std::string& what) {
    expect_share<GemmCase>(
        drawn(), [&](const GemmCase& one) { return holds(one.plan); }, weight, total, what);
  };
  using Kind = Encoding::Kind;
  const int encodings = total_weight(encoding_weights), cuts = total_weight(cut_weights);
  static_assert(encoding_weights[0].value == EncodingClass::balanced && cut_weights[0].value == CutClass::full);
  share([](const SplitPlan& p) { return p.a.encoding.kind == Kind::balanced; }, encoding_weights[0].weight, encodings,
        "balanced");
  share([](const SplitPlan& p) { return p.a.encoding == Encoding::truncated(7); }, encoding_weights[1].weight, encodings,
        "truncated7");
  share([](const SplitPlan& p) { return p.a.encoding == Encoding::nearest(7); }, encoding_weights[2].weight, encodings,
        "nearest7");
  share([](const SplitPlan& p) { return p.a.encoding == Encoding::ozimmu(7); }, encoding_weights[3].weight, encodings,
        "ozimmu7");
  const auto is_short = [](Kind kind) {
    return [kind](const SplitPlan& p) { return p.a.encoding.kind == kind && p.a.encoding.beta < 7; };
  };
  share(is_short(Kind::truncated), encoding_weights[4].weight, encodings, "short truncated");
  share(is_short(Kind::nearest), encoding_weights[5].weight, encodings, "short nearest");
  share(is_short(Kind::ozimmu), encoding_weights[6].weight, encodings, "short ozimmu");
  share([](const SplitPlan& p) { return p.cut == p.a.slices + p.b.slices; }, cut_weights[0].weight, cuts, "full cut");
  share([](const SplitPlan& p) { return p.cut == std::max(p.a.slices, p.b.slices) + 1; }, cut_weights[1].weight, cuts,
        "triangle");
  share([](const SplitPlan& p) { return p.cut == 2; }, cut_weights[2].weight, cuts, "one product");
  for (const auto& weighted : accumulation_weights)
    share([&](const SplitPlan& p) { return p.accumulation == weighted.value; }, weighted.weight,
          total_weight(accumulation_weights), to_string(weighted.value));
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
}  // namespace ozbound
