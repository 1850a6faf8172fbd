// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/problem.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "inverse.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/random_stream.hpp"

namespace ozbound {
namespace {

constexpr std::array<std::pair<Family, std::string_view>, 15> names{{
    {Family::uniform, "uniform"},
    {Family::uniform_positive, "uniform-positive"},
    {Family::wide_exponents, "wide-exponents"},
    {Family::powers_of_two, "powers-of-two"},
    {Family::cancellation, "cancellation"},
    {Family::maximal_digits, "maximal-digits"},
    {Family::maximal_digits_positive, "maximal-digits-positive"},
    {Family::graded_rows, "graded-rows"},
    {Family::graded_columns, "graded-columns"},
    {Family::graded_inner, "graded-inner"},
    {Family::subnormal, "subnormal"},
    {Family::full_range, "full-range"},
    {Family::integers, "integers"},
    {Family::sparse, "sparse"},
    {Family::fem, "fem"},
}};

/// A matrix of element(i, j), called row by row.
template <class Element>
Matrix<double> filled(Index rows, Index cols, Element element) {
  Matrix<double> matrix(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) matrix(i, j) = element(i, j);
  return matrix;
}

/// A and B from one rule for the elements that ignores their place.
template <class Element>
Problem alike(const Recipe& r, Element element) {
  const auto anywhere = [&element](Index, Index) { return element(); };
  auto a = filled(r.m, r.k, anywhere);
  return {r, std::move(a), filled(r.k, r.n, anywhere)};
}

// Every draw is a statement of its own, because compilers choose the order of operands and arguments.

double wide(RandomStream& random, double phi) {
  const double x = 0.5 * random.signed_unit();
  return x * portable_exp(phi * random.normal());
}

double with_random_sign(RandomStream& random, double x) { return (random.bits() & 1) != 0 ? -x : x; }

double near_power_of_two(RandomStream& random, double phi) {
  const auto reach = static_cast<std::int64_t>(std::min(1 + 8 * phi, 500.0));
  constexpr std::array<double, 3> significands{1, 0x1.fffffffffffffp-1, 0x1.0000000000001p0};
  const double significand = significands[random.below(3)];
  const auto exponent = static_cast<int>(random.integer(-reach, reach));
  return with_random_sign(random, std::ldexp(significand, exponent));
}

/// x with its last bits changed.
double nudged(RandomStream& random, double x) {
  const auto offset = static_cast<std::uint64_t>(random.integer(-2, 2));
  return x == 0 ? x : std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) + offset);
}

Problem cancellation(const Recipe& r, RandomStream& random) {
  const auto element = [&](Index, Index) { return wide(random, r.phi); };
  auto a = filled(r.m, r.k, element);
  if (r.m == r.k && r.n == r.k) {
    auto inverse = gauss_jordan_inverse(a);
    return {r, std::move(a), std::move(inverse)};
  }
  auto b = filled(r.k, r.n, element);
  const Index half = r.k / 2;
  for (Index l = 0; l < half; ++l) {
    for (Index i = 0; i < r.m; ++i) a(i, half + l) = nudged(random, a(i, l));
    for (Index j = 0; j < r.n; ++j) b(half + l, j) = -nudged(random, b(l, j));
  }
  if (r.k % 2 != 0)
    for (Index i = 0; i < r.m; ++i) a(i, r.k - 1) *= 0x1p-60;
  return {r, std::move(a), std::move(b)};
}

/// rows x cols elements of maximal digits, with one significand and exponent for each row.
Matrix<double> maximal_rows(const Recipe& r, RandomStream& random, Index rows, Index cols) {
  constexpr std::array<double, 3> significands{0x1.fffffffffffffp0, 0x1.fdfdfdfdfdfdfp0, -0x1.0101010101010p0};
  const auto reach = static_cast<std::int64_t>(std::min(4 * r.phi, 500.0));
  Matrix<double> matrix(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    const double x = std::ldexp(significands[static_cast<std::size_t>(i % 3)], static_cast<int>(random.integer(-reach, reach)));
    for (Index j = 0; j < cols; ++j) matrix(i, j) = r.family == Family::maximal_digits ? with_random_sign(random, x) : x;
  }
  return matrix;
}

Problem maximal_digits(const Recipe& r, RandomStream& random) {
  auto a = maximal_rows(r, random, r.m, r.k);
  const auto b_transposed = maximal_rows(r, random, r.n, r.k);
  return {r, std::move(a), filled(r.k, r.n, [&](Index l, Index j) { return b_transposed(j, l); })};
}

/// The exponent at place t of `count`, falling evenly from `first` to `last`.
int grade(Index t, Index count, double first, double last) {
  const double share = count > 1 ? static_cast<double>(t) / static_cast<double>(count - 1) : 0;
  return static_cast<int>(std::floor(first + share * (last - first) + 0.5));
}

Problem graded(const Recipe& r, RandomStream& random) {
  const double span = std::min(32 * r.phi, 900.0);
  const auto scaled = [&random](int exponent) { return std::ldexp(random.signed_unit(), exponent); };
  auto a = filled(r.m, r.k, [&](Index i, Index l) {
    if (r.family == Family::graded_inner) return scaled(grade(l, r.k, span / 2, -span / 2));
    return scaled(r.family == Family::graded_rows ? grade(i, r.m, 0, -span) : 0);
  });
  auto b = filled(r.k, r.n, [&](Index l, Index j) {
    if (r.family == Family::graded_inner) return scaled(-grade(l, r.k, span / 2, -span / 2));
    return scaled(r.family == Family::graded_columns ? grade(j, r.n, 0, -span) : 0);
  });
  return {r, std::move(a), std::move(b)};
}

/// A double with this biased exponent field (0: subnormal or zero) and random other bits.
double with_exponent_field(RandomStream& random, std::uint64_t field) {
  return std::bit_cast<double>((random.bits() & 0x800fffffffffffffU) | (field << 52));
}

/// A subnormal with `length` significant bits, 1 to 52.
double subnormal_of_length(RandomStream& random, std::uint64_t length) {
  const auto fraction = (random.bits() >> (64 - length)) | (std::uint64_t{1} << (length - 1));
  return with_random_sign(random, std::bit_cast<double>(fraction));
}

/// A subnormal of random length, never zero.
double subnormal_element(RandomStream& random) {
  const auto length = random.below(52) + 1;
  return subnormal_of_length(random, length);
}

double mixed_element(RandomStream& random) {
  return random.below(2) == 0 ? subnormal_element(random) : with_exponent_field(random, 1 + random.below(12));
}

Problem subnormal(const Recipe& r, RandomStream& random) {
  auto a = filled(r.m, r.k, [&](Index i, Index) {
    return i % 3 == 0 ? subnormal_element(random) : i % 3 == 1 ? mixed_element(random) : random.signed_unit();
  });
  auto b = filled(r.k, r.n, [&](Index, Index j) {
    if (j % 4 == 1) return subnormal_element(random);
    if (j % 4 == 2) return mixed_element(random);
    return random.signed_unit() * (j % 4 == 0 ? 1 : 0x1p1000);
  });
  return {r, std::move(a), std::move(b)};
}

/// An exponent drawn uniformly from the exponents of all subnormals and of normals below 2^(last_field - 1022).
double any_exponent(RandomStream& random, std::int64_t last_field) {
  const auto field = random.integer(-51, last_field);
  if (field > 0) return with_exponent_field(random, static_cast<std::uint64_t>(field));
  return subnormal_of_length(random, static_cast<std::uint64_t>(field + 52));
}

Problem full_range(const Recipe& r, RandomStream& random) {
  // |b| < 2^(-1 - bits of k): k products with |a| < 2^1024 stay below 2^1023.
  const auto harmless_field = 1021 - static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(r.k)));
  auto a = filled(r.m, r.k, [&](Index, Index) { return any_exponent(random, 2046); });
  auto b = filled(r.k, r.n, [&](Index, Index j) { return any_exponent(random, j % 2 == 0 ? 2046 : harmless_field); });
  return {r, std::move(a), std::move(b)};
}

Problem integers(const Recipe& r, RandomStream& random) {
  auto a = filled(r.m, r.k, [&](Index, Index) { return static_cast<double>(random.integer(-15, 15)); });
  auto b = filled(r.k, r.n, [&](Index, Index) {
    const auto length = random.below(53) + 1;
    return with_random_sign(random, static_cast<double>(random.bits() >> (64 - length)));
  });
  return {r, std::move(a), std::move(b)};
}

/// True if the pattern (seed mod 4) of `sparse` has an element at (i, j).
bool in_pattern(std::uint64_t pattern, RandomStream& random, Index i, Index j) {
  switch (pattern) {
    case 0: return random.below(10) == 0;
    case 1: return i == 0 || j == 0 || i == j;
    case 2: return std::abs(i - j) <= 2;
    default: return i % 3 != 1 && j % 3 != 1;
  }
}

Problem sparse(const Recipe& r, RandomStream& random) {
  const auto element = [&](Index i, Index j) { return in_pattern(r.seed % 4, random, i, j) ? wide(random, r.phi) : 0.0; };
  auto a = filled(r.m, r.k, element);
  return {r, std::move(a), filled(r.k, r.n, element)};
}

/// Adds the stiffness of element `e` (length h, bending stiffness ei) between nodes e and e + 1; node 0 is clamped.
void add_beam_element(Matrix<double>& stiffness, Index e, double h, double ei) {
  const double f = ei / (h * h * h);
  const double local[4][4] = {{12 * f, 6 * h * f, -12 * f, 6 * h * f},
                              {6 * h * f, 4 * h * h * f, -6 * h * f, 2 * h * h * f},
                              {-12 * f, -6 * h * f, 12 * f, -6 * h * f},
                              {6 * h * f, 2 * h * h * f, -6 * h * f, 4 * h * h * f}};
  const Index first = 2 * (e - 1);  // the element's first degree of freedom; node 0 has none
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j) {
      const bool free = first + std::min(i, j) >= 0 && first + std::max(i, j) < stiffness.rows();
      if (free) stiffness(first + i, first + j) += local[i][j];
    }
}

Problem fem(const Recipe& r, RandomStream& random) {
  const Index size = std::max({r.m, r.n, r.k});
  const Index elements = (size + 1) / 2;
  Matrix<double> stiffness(size, size);
  for (Index e = 0; e < elements; ++e) {
    const double spread = portable_exp(std::clamp(r.phi * random.normal(), -10.0, 10.0));
    add_beam_element(stiffness, e, 1 / static_cast<double>(elements), random.positive_unit() * spread);
  }
  const auto inverse = banded_inverse(stiffness);
  auto a = filled(r.m, r.k, [&](Index i, Index l) { return stiffness(i, l); });
  return {r, std::move(a), filled(r.k, r.n, [&](Index l, Index j) { return inverse(l, j); })};
}

/// The shortest text from which x can be read back exactly.
std::string text_of(double x) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), x).ptr};
}

void check(const Recipe& r) {
  if (r.m < 0) throw std::invalid_argument("m must not be negative: " + std::to_string(r.m));
  if (r.n < 0) throw std::invalid_argument("n must not be negative: " + std::to_string(r.n));
  if (r.k < 0) throw std::invalid_argument("k must not be negative: " + std::to_string(r.k));
  if (!(r.phi >= 0) || !std::isfinite(r.phi))
    throw std::invalid_argument("phi must be finite and not negative: " + text_of(r.phi));
}

}  // namespace

Problem generate(const Recipe& recipe) {
  const FloatEnvironment environment;
  check(recipe);
  RandomStream random(recipe.seed);
  switch (recipe.family) {
    case Family::uniform: return alike(recipe, [&] { return random.signed_unit(); });
    case Family::uniform_positive: return alike(recipe, [&] { return random.positive_unit(); });
    case Family::wide_exponents: return alike(recipe, [&] { return wide(random, recipe.phi); });
    case Family::powers_of_two: return alike(recipe, [&] { return near_power_of_two(random, recipe.phi); });
    case Family::cancellation: return cancellation(recipe, random);
    case Family::maximal_digits:
    case Family::maximal_digits_positive: return maximal_digits(recipe, random);
    case Family::graded_rows:
    case Family::graded_columns:
    case Family::graded_inner: return graded(recipe, random);
    case Family::subnormal: return subnormal(recipe, random);
    case Family::full_range: return full_range(recipe, random);
    case Family::integers: return integers(recipe, random);
    case Family::sparse: return sparse(recipe, random);
    case Family::fem: return fem(recipe, random);
  }
  throw std::invalid_argument("family is out of range");
}

std::span<const Family> all_families() {
  static constexpr auto families = [] {
    std::array<Family, names.size()> listed{};
    for (std::size_t t = 0; t < names.size(); ++t) listed[t] = names[t].first;
    return listed;
  }();
  return families;
}

bool phi_matters(Family family) {
  const FloatEnvironment environment;
  const auto of = [family](double phi) { return generate({family, 8, 8, 8, phi, 1}); };
  const auto narrow = of(0), wide = of(2);
  return !std::equal(narrow.a.data(), narrow.a.data() + 64, wide.a.data()) ||
         !std::equal(narrow.b.data(), narrow.b.data() + 64, wide.b.data());
}

std::string_view name(Family family) {
  for (const auto& [known, text] : names)
    if (known == family) return text;
  throw std::invalid_argument("family is out of range");
}

Family parse_family(std::string_view text) {
  std::string list;
  for (const auto& [family, known] : names) {
    if (known == text) return family;
    list += (list.empty() ? "" : ", ") + std::string(known);
  }
  throw std::invalid_argument("family must be one of " + list + ": '" + std::string(text) + "'");
}

std::string generate_command(const Recipe& r) {
  const FloatEnvironment environment;
  return "ozbound generate " + std::string(name(r.family)) + " --m " + std::to_string(r.m) + " --n " + std::to_string(r.n) +
         " --k " + std::to_string(r.k) + " --phi " + text_of(r.phi) + " --seed " + std::to_string(r.seed);
}

}  // namespace ozbound
