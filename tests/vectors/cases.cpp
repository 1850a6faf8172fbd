// SPDX-License-Identifier: BSD-3-Clause
// The inputs of the conformance vectors. Their spelling defines the values exactly; no value is computed with rounding.

#include "vectors/cases.hpp"

#include <complex>
#include <limits>

namespace ozbound::vectors {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double eta = 0x1p-1074;
constexpr double largest = 0x1.fffffffffffffp1023;

/// Significands at which digits change their length, their sign or their scale.
constexpr double all_ones = 0x1.fffffffffffffp0;
constexpr double below_boundary = 0x1.fcfffffffffffp0;
constexpr double boundary = 0x1.fdp0;
constexpr double above_boundary = 0x1.fd00000000001p0;

using Rows = std::vector<std::vector<double>>;

Matrix<double> matrix(const Rows& rows) {
  Matrix<double> result(static_cast<Index>(rows.size()), rows.empty() ? 0 : static_cast<Index>(rows[0].size()));
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.cols(); ++j) result(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  return result;
}

Matrix<double> column(const std::vector<double>& values) {
  Matrix<double> result(static_cast<Index>(values.size()), 1);
  for (Index i = 0; i < result.rows(); ++i) result(i, 0) = values[static_cast<std::size_t>(i)];
  return result;
}

/// Every encoding, and a second plan with more digits than a double has.
const std::vector<std::string> coarse = {"balanced:2x3:cut=4:exact", "truncated7:3x2:cut=4:exact", "nearest7:3x3:cut=4:exact",
                                         "truncated3,nearest3:4x5:cut=6:exact", "ozimmu7:2x3:cut=4:exact"};
const std::vector<std::string> fine = {"balanced:7x7:cut=8:exact", "truncated7:9x9:full:exact",
                                       "nearest5:8x9:cut=12:per_diagonal"};
/// Plans that hold all digits of operands within 2^100 of their largest element.
const std::vector<std::string> whole = {"balanced:20x20:full:exact"};

std::vector<std::string> joined(std::vector<std::string> x, const std::vector<std::string>& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

/// Adds one case for each plan.
void add(CaseFile& file, const Case& inputs, const std::vector<std::string>& plans) {
  for (const auto& plan : plans) {
    file.cases.push_back(inputs);
    file.cases.back().plan = plan;
  }
}

CaseFile encodings() {
  CaseFile file{"encodings", "every encoding, every pair of encodings of one radix, every accumulation, cut and full", {}};
  constexpr const char* rests[] = {":3x4:cut=5:exact", ":4x3:full:per_product", ":3x3:cut=4:per_diagonal"};
  std::vector<std::string> pairs = {"balanced"};
  for (int beta = 1; beta <= 7; ++beta) {
    const auto truncated = "truncated" + std::to_string(beta);
    const auto nearest = "nearest" + std::to_string(beta);
    const auto ozimmu = "ozimmu" + std::to_string(beta);
    for (const auto& a : {truncated, nearest, ozimmu})
      for (const auto& b : {truncated, nearest, ozimmu}) pairs.push_back(a == b ? a : a + "," + b);
  }
  for (const auto* const more : {"unsigned8", "unsigned8,balanced", "balanced,unsigned8"}) pairs.emplace_back(more);
  const auto problem = generate({.family = Family::wide_exponents, .m = 2, .n = 2, .k = 3, .phi = 1, .seed = 11});
  for (const auto& pair : pairs)
    for (const auto* const rest : rests)
      file.cases.push_back({"encoding", "random numbers of different exponents", problem.a, problem.b, pair + rest});
  for (const auto* const pair : {"nearest_adaptive1", "nearest_adaptive4", "nearest_adaptive7", "nearest_adaptive7,truncated7",
                                 "ozimmu5,nearest_adaptive5", "nearest_adaptive2,nearest2"})
    for (const auto* const rest : {":3x4:cut=5:per_product", ":4x3:full:per_product"})
      file.cases.push_back(
          {"encoding", "random numbers of different exponents", problem.a, problem.b, std::string(pair) + rest});
  return file;
}

CaseFile digits() {
  CaseFile file{"digits", "rows and columns whose digits or scales are at an edge of their definition", {}};
  const auto plans = joined(coarse, fine);
  add(file,
      {.name = "powers-of-two",
       .why = "the scale changes between a power of two and its neighbours",
       .a = column({1, 0x1.fffffffffffffp-1, 0x1.0000000000001p0, -2, -0x1p-1022, 0x1p1023}),
       .b = matrix({{1, -0x1.8p0}}),
       .plan = {}},
      plans);
  add(file,
      {.name = "balanced-scale-boundary",
       .why = "from the significand 0x1.FDp0 on the balanced scale is 4 ufp",
       .a = column({below_boundary, boundary, above_boundary, -below_boundary, -boundary, -above_boundary}),
       .b = matrix({{boundary, below_boundary}}),
       .plan = {}},
      joined(plans, {"balanced:1x1:full:exact", "balanced:8x2:cut=9:exact"}));
  add(file,
      {.name = "largest-digits",
       .why = "all bits set; balanced digits 127 throughout, and -128",
       .a = matrix(
           {{all_ones, all_ones}, {0x1.fdfdfdfdfdfdfp0, 0x1.fdfdfdfdfdfdfp0}, {-0x1.0101010101010p0, -0x1.0101010101010p0}}),
       .b = matrix({{all_ones, -0x1.0101010101010p0}, {-all_ones, -0x1.0101010101010p0}}),
       .plan = {}},
      plans);
  add(file,
      {.name = "ties-of-digits",
       .why = "digits that lie half-way between two: to even",
       .a = matrix({{0x1.02p0, 0x1.06p0, -0x1.02p0, -0x1.06p0}, {0x1.0002p0, 0x1.0006p0, -0x1.0102p0, 0x1.00810101p0}}),
       .b = matrix({{1}, {0x1.01p0}, {0x1.03p0}, {-0x1.81p-7}}),
       .plan = {}},
      joined(plans, {"nearest7:1x1:full:exact", "nearest6:2x2:full:exact", "balanced:1x2:full:exact"}));
  add(file,
      {.name = "rippling-carries",
       .why = "bytes 7f, 80 and ff: a carry runs through all digits",
       .a = matrix({{0x1.7f7f7f7f7f7f8p0, -0x1.7f7f7f7f7f7f8p0}, {0x1.808080808080p0, 0x1.ffffffffff7f8p-1}}),
       .b = matrix({{0x1.7f80p0, 1}, {0x1.007fff8p0, -0x1.fep-1}}),
       .plan = {}},
      plans);
  add(file,
      {.name = "vanishing-residuals",
       .why = "short numbers: the truncation error is exactly 0",
       .a = matrix({{3, -5, 0x1.8p-3}, {0, 0, 0}}),
       .b = matrix({{7, 0}, {-0x1p-4, 0}, {6, 0}}),
       .plan = {}},
      plans);
  add(file,
      {.name = "far-below-the-scale",
       .why = "elements with no digit at all, and some whose digits begin late",
       .a = matrix({{1, 0x1.fp-9, -0x1.234p-30, 0x1p-300}}),
       .b = matrix({{0x1.1p0}, {-0x1p-17}, {0x1.8p-61}, {0x1p-2}}),
       .plan = {}},
      plans);
  add(file,
      {.name = "rounded-down",
       .why = "digits of a number rounded down: all bits set, a tiny negative number, multiples of a weight, mixed signs",
       .a = matrix(
           {{all_ones, -all_ones, -eta, -1, 0x1p-60}, {-0x1.01p0, 0x1.01p0, -0x1p-7, -0x1.8p-14, -0x1.fffffffffffffp-9}}),
       .b = matrix({{1, all_ones}, {-0x1p-30, -all_ones}, {0x1.fffcp0, -0x1p-1060}, {-0x1.fep-1, 0x1p-15}, {0, -0x1.8p0}}),
       .plan = {}},
      {"unsigned8:2x3:cut=4:exact", "unsigned8:8x8:full:exact", "unsigned8,balanced:3x3:cut=4:per_diagonal",
       "balanced,unsigned8:2x2:full:per_product"});
  add(file,
      {.name = "scale-found-anew",
       .why = "gaps between slices, tails that vanish, and products of slices that are subnormal or nothing over the scales",
       .a = matrix({{1, 0x1.8p-30, -0x1.4p-530}, {0x1.8p-540, 1, eta}, {3, -5, 7}, {0, 0, 0}}),
       .b = matrix({{1, 0x1.8p-600}, {-0x1.fp-560, 1}, {0x1p-1060, -0x1.2345678p-590}}),
       .plan = {}},
      {"nearest_adaptive7:4x4:full:per_product", "nearest_adaptive3:6x5:cut=8:per_product",
       "nearest7,nearest_adaptive7:3x4:cut=5:per_product"});
  return file;
}

CaseFile limits() {
  CaseFile file{
      "limits", "integer sums at and just beyond 2^31: an INT32 sum of so many terms is exact, of one more it is not", {}};
  const auto one = [&file](const char* name, double x, const char* plan, Index repeat) {
    file.cases.push_back({.name = name,
                          .why = "k = " + std::to_string(repeat) + ", every digit as large as can be",
                          .a = column({x}),
                          .b = column({x}),
                          .plan = plan,
                          .inner_repeat = repeat});
  };
  for (const Index k : {131071, 131072}) one("balanced-one-pair", -0x1.02p0, "balanced:2x2:full:exact", k);
  for (const Index k : {65535, 65536}) one("balanced-two-pairs", -0x1.0202p0, "balanced:3x3:full:exact", k);
  for (const Index k : {133144, 133145}) one("truncated-one-pair", 0x1.fcp0, "truncated7:1x1:full:exact", k);
  for (const Index k : {16643, 16644}) one("truncated-eight-pairs", all_ones, "truncated7:8x8:cut=9:exact", k);
  for (const Index k : {133144, 133145}) one("ozimmu-one-pair", 0x1.fffp0, "ozimmu7:2x2:full:exact", k);
  for (const Index k : {524287, 524288}) one("nearest-one-pair", 1, "nearest7:1x1:full:exact", k);
  one("per-product", -0x1.0202p0, "balanced:3x3:full:per_product", 131072);
  one("per-diagonal", all_ones, "truncated7:4x4:full:per_diagonal", 131072);
  for (const Index k : {16643, 16644}) one("per-diagonal-eight-pairs", all_ones, "truncated7:8x8:cut=9:per_diagonal", k);
  for (const Index k : {66572, 66573}) one("per-diagonal-two-pairs", all_ones, "truncated7:8x8:full:per_diagonal", k);
  for (const Index k : {131071, 131072}) one("per-diagonal-one-pair", -0x1.0202p0, "balanced:3x3:full:per_diagonal", k);
  for (const Index k : {33025, 33026}) one("unsigned8-one-pair", 0x1.fffcp0, "unsigned8:2x2:full:exact", k);
  return file;
}

CaseFile ranges() {
  CaseFile file{"ranges", "the ends of the exponent range: no scale is a double, no intermediate overflows", {}};
  const auto plans = joined(coarse, fine);
  add(file,
      {.name = "subnormal-rows",
       .why = "rows of subnormal numbers alone, and mixed with small normal ones",
       .a = matrix({{eta, 3 * eta, -0x0.8p-1022}, {0x1.8p-1022, -5 * eta, 0x0.fffffffffffffp-1022}}),
       .b = matrix({{0x1p1000, 1}, {-0x1.8p1010, 0x1.8p-1}, {0x1.1p1023, 0x1p-1}}),
       .plan = {}},
      plans);
  add(file,
      {.name = "full-range",
       .why = "from the least to the largest number within one row",
       .a = matrix({{largest, eta, -0x1.8p0}, {eta, -largest, 0x1p-500}}),
       .b = matrix({{eta, 0x1p-1000}, {largest, 1}, {-0x1p600, 0x1.8p-1060}}),
       .plan = {}},
      joined(plans, whole));
  add(file,
      {.name = "scales-beyond-a-double",
       .why = "1.5 * 2^1023 times 2^-1000, and 2^512 times 2^511: the product is finite, rho sigma is not",
       .a = column({0x1.8p1023, 0x1p512}),
       .b = matrix({{0x1p-1000, 0x1p511}}),
       .plan = {}},
      plans);
  add(file,
      {.name = "underflowing-products",
       .why = "products far below the least number, which together are none",
       .a = matrix({{0x1.8p-540, 0x1.8p-540, eta}}),
       .b = matrix({{0x1p-540}, {-0x1p-536}, {eta}}),
       .plan = {}},
      plans);
  return file;
}

CaseFile roundings() {
  CaseFile file{
      "roundings", "the one rounding at the end: ties, sticky bits, subnormal results, overflow, in both formats", {}};
  const auto plans = joined(whole, {"balanced:8x8:full:exact", "truncated7:9x9:full:exact"});
  const auto scalar = [&](const char* name, const char* why, double a, double b, double alpha = 1, double beta = 0,
                          double c0 = 0) {
    Case inputs{.name = name, .why = why, .a = column({a}), .b = column({b}), .plan = {}, .alpha = alpha, .beta = beta};
    if (beta != 0) inputs.c0 = column({c0});
    add(file, inputs, plans);
  };
  add(file,
      {.name = "exact-zero",
       .why = "cancellation to nothing is +0",
       .a = matrix({{0x1.23456789abcdfp3, 0x1.23456789abcdfp3}}),
       .b = matrix({{1, -0x1p-70}, {-1, 0x1p-70}}),
       .plan = {}},
      plans);
  add(file,
      {.name = "deep-cancellation",
       .why = "what is left stands 100 bits below the terms",
       .a = matrix({{0x1.0000000000001p0, -0x1.0000000000001p0, 0x1p-50}}),
       .b = matrix({{0x1.0000000000001p0}, {0x1.0000000000001p0}, {0x1.8p-60}}),
       .plan = {}},
      plans);
  scalar("tie-to-even-down", "1 + 2^-53: half-way, the even neighbour is below", 1, 1, 1, 1, 0x1p-53);
  scalar("tie-to-even-up", "1 + 3 * 2^-53: half-way, the even neighbour is above", 1, 1, 1, 1, 0x1.8p-52);
  scalar("tie-binary32", "1 + 2^-24", 0x1.000001p0, 1);
  scalar("tie-binary32-up", "1 + 3 * 2^-24", 0x1.000003p0, 1);
  scalar("sticky-above", "a tie and one more bit a thousand binades below", 0x1.8p0, 0x1.5555555555555p0, 1, 1, eta);
  scalar("sticky-below", "a tie less one bit a thousand binades below", 0x1.8p0, 0x1.5555555555555p0, 1, -1, eta);
  scalar("sticky-of-the-product", "C0 makes the tie, the product breaks it", 0x1p-300, -0x1.8p-300, 0x1p-400, 1,
         0x1.0000000000001p0);
  scalar("tie-of-both", "the tie lies between the product's last bit and C0's", 0x1.0000000000001p0, 0x1.8p0, 1, -1, 0x1p-53);
  scalar("double-rounding", "(2^60 + 2^52 + 1) 2^-1127: rounding to 53 bits first goes wrong", 0x1.01p0, 1, 0x1p-1067, 0x1p-127,
         0x1p-1000);
  scalar("half-eta", "eta/2 is a tie: +0", 0x1p-600, 0x1p-475);
  scalar("minus-half-eta", "-eta/2 is a tie: -0", -0x1p-600, 0x1p-475);
  scalar("above-half-eta", "the least number that does not vanish", 0x1.0000000000001p-600, 0x1p-475);
  scalar("subnormal-tie", "1.5 eta is a tie: 2 eta", 0x1.8p-600, 0x1p-474);
  scalar("into-the-normals", "rounds up to the least normal number", 0x1.fffffffffffffp-600, 0x1p-423);
  scalar("binary32-subnormal", "3/2 of binary32's eta is a tie", 0x1.8p-100, 0x1p-49);
  scalar("binary32-half-eta", "half of binary32's eta, negative: -0 there", -0x1p-100, 0x1p-50);
  scalar("overflow", "2^1024 - 2^970 is the threshold: Inf", largest, 1, 1, 1, 0x1p970);
  scalar("no-overflow", "just below the threshold", largest, 1, 1, 1, 0x1.fffffffffffffp969);
  scalar("negative-overflow", "-Inf", -0x1p1023, 0x1p2);
  scalar("overflow-taken-back", "alpha AB is beyond the range, C0 brings it back", 0x1p1023, 2, 1, -1, 0x1p1023);
  scalar("binary32-overflow", "2^128 - 2^103 is binary32's threshold", 0x1.ffffffp127, 1);
  scalar("binary32-no-overflow", "just below it", 0x1.fffffefffffffp127, 1);
  return file;
}

CaseFile specials() {
  CaseFile file{"specials", "NaN, infinities and zeros are functions of the inputs alone, term by term", {}};
  const std::vector<std::string> plans = {"balanced:3x3:cut=4:exact", "nearest7:2x2:full:per_diagonal"};
  add(file,
      {.name = "nan-and-infinities",
       .why = "NaN, 0 * Inf and Inf - Inf in single rows and columns; their neighbours keep their bits",
       .a = matrix({{1, nan}, {inf, 2}, {inf, -inf}, {3, 4}}),
       .b = matrix({{1, 0, inf}, {2, 3, 1}}),
       .plan = {}},
      plans);
  add(file,
      {.name = "signed-zeros",
       .why = "an exact sum of zero is +0, whatever the signs of its terms",
       .a = matrix({{-0.0, 0.0}, {-0.0, -0.0}}),
       .b = matrix({{1, -0.0}, {-1, 0.0}}),
       .plan = {},
       .alpha = -1,
       .beta = -1,
       .c0 = matrix({{0.0, -0.0}, {-0.0, 0.0}})},
      plans);
  add(file,
      {.name = "infinite-alpha",
       .why = "alpha is a factor of every term: terms of both signs are NaN",
       .a = matrix({{1, 2}, {1, -2}, {1, 0}}),
       .b = matrix({{1}, {1}}),
       .plan = {},
       .alpha = -inf},
      plans);
  add(file, {.name = "nan-alpha", .why = "everything is NaN", .a = column({1}), .b = column({2}), .plan = {}, .alpha = nan},
      plans);
  add(file,
      {.name = "zero-alpha",
       .why = "alpha = 0 reads neither A nor B",
       .a = column({nan}),
       .b = column({inf}),
       .plan = {},
       .alpha = 0,
       .beta = 0.5,
       .c0 = column({3})},
      plans);
  add(file,
      {.name = "special-c0",
       .why = "C0 joins as a term",
       .a = matrix({{1, 2}, {inf, 1}}),
       .b = matrix({{1, 1}, {1, 1}}),
       .plan = {},
       .alpha = 1,
       .beta = -1,
       .c0 = matrix({{nan, inf}, {inf, -inf}})},
      plans);
  add(file,
      {.name = "infinite-beta",
       .why = "beta * 0 is NaN",
       .a = column({1}),
       .b = matrix({{1, 1}}),
       .plan = {},
       .alpha = 1,
       .beta = inf,
       .c0 = matrix({{0, -2}})},
      plans);
  add(file,
      {.name = "empty-inner-dimension",
       .why = "no terms: beta C0 alone, whatever alpha is",
       .a = Matrix<double>(2, 0),
       .b = Matrix<double>(0, 2),
       .plan = {},
       .alpha = nan,
       .beta = -0.5,
       .c0 = matrix({{3, -0.0}, {eta, -eta}})},
      plans);
  add(file, {.name = "nothing", .why = "C is empty", .a = Matrix<double>(0, 2), .b = matrix({{1}, {2}}), .plan = {}}, plans);
  return file;
}

CaseFile scalars() {
  CaseFile file{"scalars", "alpha S + beta C0 is one exact sum, rounded once", {}};
  const auto problem = generate({.family = Family::wide_exponents, .m = 2, .n = 2, .k = 4, .phi = 0.5, .seed = 12});
  const auto plans = std::vector<std::string>{"balanced:6x6:cut=7:exact", "truncated7:7x8:cut=9:per_product",
                                              "nearest6:6x6:full:per_diagonal"};
  const Matrix<double> c0 = matrix({{0x1.123456789abcdp0, -0x1p-1074}, {0x1.fffffffffffffp1023, -0x1.8p-30}});
  const auto with = [&](const char* name, const char* why, double alpha, double beta) {
    Case inputs{.name = name, .why = why, .a = problem.a, .b = problem.b, .plan = {}, .alpha = alpha, .beta = beta};
    if (beta != 0) inputs.c0 = c0;
    add(file, inputs, plans);
  };
  with("ordinary", "both scalars round", -0x1.8p-10, 0x1.5555555555555p0);
  with("minus-one", "C = C0 - A B", -1, 1);
  with("least-alpha", "alpha is the least subnormal number", eta, 0);
  with("largest-alpha", "alpha is the largest number", -largest, 0);
  with("alpha-against-beta", "the two terms lie two thousand binades apart", 0x1p-1000, 0x1p1000);
  with("beta-against-alpha", "and the other way round", 0x1p1000, -eta);
  file.cases.push_back({.name = "alpha-saves-the-product",
                        .why = "2^512 * 2^512 with alpha = 2^-10: alpha S first, scaled later, overflows",
                        .a = column({0x1p512}),
                        .b = column({0x1p512}),
                        .plan = "balanced:7x7:cut=8:exact",
                        .alpha = 0x1p-10});
  return file;
}

using Number = std::complex<double>;
using ComplexRows = std::vector<std::vector<Number>>;

/// The block (a_r, -a_i; a_i, a_r) for each element.
Matrix<double> left_factor(const ComplexRows& a) {
  Matrix<double> result(2 * static_cast<Index>(a.size()), a.empty() ? 0 : 2 * static_cast<Index>(a[0].size()));
  for (Index i = 0; i < result.rows(); ++i)
    for (Index l = 0; l < result.cols(); ++l) {
      const auto x = a[static_cast<std::size_t>(i / 2)][static_cast<std::size_t>(l / 2)];
      result(i, l) = i % 2 == l % 2 ? x.real() : i % 2 == 0 ? -x.imag() : x.imag();
    }
  return result;
}

/// Real and imaginary parts of each row, one above the other.
Matrix<double> stacked_parts(const ComplexRows& b) {
  Matrix<double> result(2 * static_cast<Index>(b.size()), b.empty() ? 0 : static_cast<Index>(b[0].size()));
  for (Index l = 0; l < result.rows(); ++l)
    for (Index j = 0; j < result.cols(); ++j) {
      const auto x = b[static_cast<std::size_t>(l / 2)][static_cast<std::size_t>(j)];
      result(l, j) = l % 2 == 0 ? x.real() : x.imag();
    }
  return result;
}

CaseFile complex_products() {
  CaseFile file{
      "complex", "a complex product is a real one of a and b as they stand here, and alpha and beta may be complex", {}};
  const std::vector<std::string> plans = {"balanced:2x3:cut=4:exact", "truncated7:3x2:full:exact",
                                          "nearest7:3x3:cut=4:per_diagonal"};
  const auto with = [&](const char* name, const char* why, const ComplexRows& a, const ComplexRows& b, Number alpha = 1,
                        Number beta = 0, const ComplexRows& c0 = {}, const std::vector<std::string>& more = {}) {
    Case inputs{.name = name, .why = why, .a = left_factor(a), .b = stacked_parts(b), .plan = {}};
    inputs.complex = true, inputs.alpha = alpha.real(), inputs.beta = beta.real();
    inputs.imaginary_alpha = alpha.imag(), inputs.imaginary_beta = beta.imag();
    if (beta != Number(0)) inputs.c0 = stacked_parts(c0);
    add(file, inputs, joined(plans, more));
  };
  const ComplexRows a = {{{1, 2}, {-3, 0x1.8p-7}}, {{0x1.ffp0, -0x1.ffp0}, {0x1p-20, 0x1p20}}};
  const ComplexRows b = {{{3, 4}, {0.3, -0.7}}, {{-5, 0x1p-9}, {0x1.01p3, 11}}};
  const ComplexRows c0 = {{{1, -2}, {0.5, 0x1p-60}}, {{0, 7}, {-0x1.8p30, 3}}};
  with("ordinary", "both parts of a row of A, and of a column of B, have one scale", a, b, 1, 0, {}, whole);
  with("imaginary-alpha", "the real part of C is an imaginary part of A B", a, b, {0, 1});
  with("complex-scalars", "four terms, one rounding", a, b, {0x1.5p0, -0x1.1p-3}, {-0.3, 0.7}, c0, whole);
  with("imaginary-beta", "the real part of C takes the imaginary part of C0 before that is written", a, b, 1, {0, -1}, c0);
  with("negated-digits", "the digits of -x are not those of x: -128 is a digit",
       {{{0x1.008p0, 0x1.008p0}, {-0x1.008p0, 0x1.8p-8}}}, {{{0x1.008p0, -0x1.008p0}}, {{1, 0x1.fep-9}}});
  with("parts-far-apart", "the smaller part has no digits", {{{1, 0x1p-200}}}, {{{0x1p-300, 1}}});
  with("cancellation", "the products of real and of imaginary parts differ in the last bit", {{{all_ones, all_ones}}},
       {{{all_ones, 0x1.ffffffffffffep0}}}, 1, 0, {}, whole);
  with("ties", "a term far below decides", {{{1, 1}}}, {{{1, 0}}}, {1, -0x1p-53}, {0, 1}, {{{0, -eta}}}, whole);
  with("ends-of-the-range", "alpha is the largest and the least number", {{{eta, 0x1p-1000}}}, {{{largest, 1}}}, {largest, eta},
       {1, -1}, {{{largest, -largest}}}, whole);
  with("specials", "by component and by term: 0 * Inf where a part is zero",
       {{{inf, 0}, {1, 1}}, {{nan, 1}, {2, 3}}, {{4, 5}, {6, 7}}}, {{{1, 0}, {2, 3}}, {{1, -1}, {0, 1}}}, {1, 2}, {0, 1},
       {{{1, 2}, {3, inf}}, {{1, 1}, {1, 1}}, {{-inf, 2}, {nan, 0}}});
  with("infinite-alpha", "an infinite part meets both parts of A B", {{{1, 0}}}, {{{1, 2}}}, {0, inf});
  with("no-terms", "k = 0: an alpha that is not finite meets nothing", {{}, {}}, {}, {nan, 1}, {0.5, 2}, {{{3, 4}}, {{5, 6}}});
  for (auto& inputs : file.cases)
    if (inputs.name == "no-terms") inputs.b = Matrix<double>(0, 1);
  return file;
}

CaseFile orders() {
  CaseFile file{"orders", "the published orders of FP64 additions: each is rounded, and another order has other bits", {}};
  const auto problem = generate({.family = Family::uniform, .m = 2, .n = 2, .k = 5, .seed = 13});
  for (const auto* const encoding : {"truncated7", "nearest7", "balanced", "truncated5,nearest5", "ozimmu7", "unsigned8"})
    for (const auto* const rest :
         {":8x7:cut=9:per_product", ":7x9:full:per_product", ":8x8:cut=9:per_diagonal", ":9x8:full:per_diagonal"})
      file.cases.push_back({"order", "more terms than a double holds", problem.a, problem.b, std::string(encoding) + rest});
  return file;
}

std::string residues(int moduli, int bits_a, int bits_b) {
  return "residues:" + std::to_string(moduli) + ":" + std::to_string(bits_a) + "x" + std::to_string(bits_b);
}

/// floor(log2 P) of the first N moduli.
int bits_of_product(int moduli) {
  constexpr int bits[] = {0, 8, 15, 23, 31, 39, 47, 55, 63, 71, 79, 87, 94, 102, 110, 118, 125, 133, 140, 148, 155};
  return bits[moduli];
}

/// H, half the product of the moduli, divided by 2^(bits_of_product - 10) and rounded down. For up to five moduli, three
/// quarters of that, since norms of fewer than 16 bits do not guarantee more.
Index most_terms(int moduli) {
  constexpr Index terms[] = {0,   0,   758, 744, 724, 698, 876, 818, 751, 683, 611,
                             542, 944, 800, 660, 513, 789, 595, 888, 628, 878};
  return terms[moduli];
}

/// Adds the inputs of another file: difficult digits, exponents, roundings and specials are difficult for integers too.
void add_inputs_of(CaseFile& file, const CaseFile& other, const std::vector<std::string>& plans) {
  const Case* before = nullptr;
  for (const auto& inputs : other.cases) {
    const bool again = before != nullptr && before->name == inputs.name && before->why == inputs.why;
    if (!again) add(file, inputs, plans);
    before = &inputs;
  }
}

CaseFile residue_products() {
  CaseFile file{
      "residues", "products by residues: every number of moduli, the limits of integers and of sums, and hard inputs", {}};
  const auto problem = generate({.family = Family::wide_exponents, .m = 2, .n = 2, .k = 3, .phi = 1, .seed = 14});
  for (int moduli = 2; moduli <= 20; ++moduli) {
    const int bits = bits_of_product(moduli) - 4;  // |a' b'| summed over three stays below P / 4
    file.cases.push_back(
        {"moduli", "as many bits as they hold", problem.a, problem.b, residues(moduli, bits / 2, bits - bits / 2)});
    // Every a' b' is 2^(bits_a + bits_b - 2).
    const int bits_both = bits_of_product(moduli) - 8;
    file.cases.push_back({.name = "near-half",
                          .why = "|C'| is near half the product of the moduli, of either sign",
                          .a = column({1, -1}),
                          .b = column({1}),
                          .plan = residues(moduli, bits_both - bits_both / 2, bits_both / 2),
                          .inner_repeat = most_terms(moduli)});
  }
  for (const Index k : {131071, 131072})
    file.cases.push_back({.name = "int32",
                          .why = "every residue modulo 256 is -128: INT32 holds 131071 products",
                          .a = column({1}),
                          .b = column({-1}),
                          .plan = "residues:5:8x8",
                          .inner_repeat = k});
  for (const Index k : {135266, 135267, 137216})
    file.cases.push_back({.name = "int32-of-odd-moduli",
                          .why = "every residue modulo 253 is 126: INT32 holds 135266 products",
                          .a = column({0x1.f8p0}),
                          .b = column({-0x1.f8p0}),
                          .plan = "residues:5:7x7",
                          .inner_repeat = k});
  add(file,
      {.name = "ties-of-integers",
       .why = "half-way between two integers: to even; and up to a power of two",
       .a = matrix(
           {{0x1.2p0, 0x1.6p0, 0x1.ap0, 0x1.ep0, -0x1.2p0, -0x1.6p0}, {all_ones, -all_ones, 1, 0x1p-3, 0x1.8p-3, -0x1p-4}}),
       .b = matrix({{1, 0x1.2p0}, {1, 0x1.6p0}, {1, -0x1.ap0}, {-1, 0x1.ep0}, {1, eta}, {1, 0}}),
       .plan = {}},
      {"residues:2:3x2", "residues:4:3x3", "residues:8:30x4", "residues:20:1x120", "residues:20:120x3"});
  add(file,
      {.name = "bits-of-a-double",
       .why = "integers of 51 to 54 bits: where doubles no longer hold halves, and then the integers themselves",
       .a = matrix({{all_ones, -0x1.0000000000001p0, 0x1.8p-52}, {0x1.5555555555555p0, 0x1.ffffffffffffep-1, -0x1.8p-53}}),
       .b = matrix({{0x1.0000000000003p0}, {-all_ones}, {0x1.4p-51}}),
       .plan = {}},
      {"residues:15:50x51", "residues:15:51x52", "residues:16:53x54", "residues:17:62x63", "residues:18:67x68"});
  const std::vector<std::string> plans = {"residues:8:24x25", "residues:20:68x70"};
  for (const auto& other : {digits(), ranges(), roundings(), scalars()}) add_inputs_of(file, other, plans);
  for (const auto& other : {specials(), complex_products()}) add_inputs_of(file, other, {"residues:7:20x21"});
  return file;
}

}  // namespace

std::vector<CaseFile> case_files() {
  std::vector<CaseFile> files;
  for (auto&& file : {encodings(), digits(), limits(), ranges(), roundings(), specials(), scalars(), orders(),
                      complex_products(), residue_products()}) {
    files.push_back(file);
    for (std::size_t t = 0; t < file.cases.size(); ++t) files.back().cases[t].name += "-" + std::to_string(t);
  }
  return files;
}

std::vector<FamilyCase> family_cases() {
  std::vector<FamilyCase> cases;
  for (const auto family : all_families())
    for (const auto* const plan :
         {"balanced:7x7:cut=8:exact", "balanced:3x9:cut=10:exact", "balanced:20x20:full:exact",
          "truncated7:8x8:cut=9:per_product", "truncated4:5x6:full:exact", "nearest7:8x7:cut=9:per_diagonal",
          "truncated7,nearest7:8x9:full:exact", "nearest3:4x4:cut=6:per_product", "ozimmu7:9x8:cut=10:per_product",
          "unsigned8:7x7:cut=8:per_diagonal", "nearest_adaptive7:8x8:cut=9:per_product"})
      for (const bool scaled : {false, true}) {
        FamilyCase one{{.family = family, .m = 13, .n = 13, .k = 13, .phi = 2, .seed = 20}, plan};
        if (scaled) one.alpha = -0x1.8p-10, one.beta = 0x1.5555555555555p0;
        cases.push_back(one);
      }
  return cases;
}

Matrix<double> wrapped(const Matrix<double>& a, Index columns) {
  Matrix<double> result(a.rows(), columns);
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < columns; ++j) result(i, j) = a(i, j % a.cols());
  return result;
}

}  // namespace ozbound::vectors
