// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/reference_product.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <stdexcept>

#include "../plain_environment.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "plan_arithmetic.hpp"

namespace ozbound::reference {
namespace {

/// e of the scale 2^e of a vector whose largest element is `top`. @pre top is not 0.
std::int64_t scale_exponent(const ExactNumber& top, Digits digits) {
  const auto leading = leading_exponent(top);
  const cpp_int number = abs(top.number);
  const bool power = msb(number) == lsb(number);
  const bool large = number * 256 >= (cpp_int(0x1FD) << msb(number));  // the significand is at least 0x1.FDp0
  switch (digits) {
    case Digits::truncated:
    case Digits::ozimmu:
    case Digits::unsigned8: return leading + 1;
    case Digits::nearest:
    case Digits::nearest_adaptive: return power ? leading : leading + 1;
    case Digits::balanced: return large ? leading + 2 : leading + 1;
  }
  throw std::invalid_argument("digits are of no known kind");
}

using AllDigits = std::array<int, 20>;

/// |x| over 2^exponent, rounded away from zero.
cpp_int whole_multiple_above(const ExactNumber& x, std::int64_t exponent) {
  const auto whole = whole_multiple(x, exponent);
  const auto rest = ExactNumber{abs(x.number), x.exponent} + ExactNumber{-whole, exponent};
  return rest.number == 0 ? whole : cpp_int(whole + 1);
}

/// ceil(log2 |x|).
std::int64_t ceiling_exponent(const ExactNumber& x) { return scale_exponent({abs(x.number), x.exponent}, Digits::nearest); }

/// The weights of a vector over its scale. For nearest_adaptive, each digit's weight is 2^(1 - beta) times the least power of
/// two that the rests do not exceed. If all rests are 0, it is 2^-beta times the previous weight.
std::vector<int> vector_weights(std::vector<ExactNumber> rest, const Slicing& slicing, int scale) {
  std::vector<int> weights;
  for (int p = 1; p <= slicing.slices; ++p) {
    int weight = slicing.weight(p);
    if (slicing.digits == Digits::nearest_adaptive) {
      bool any = false;
      if (p > 1) weight = weights.back() - slicing.radix_bits;
      for (const auto& x : rest) {
        if (x.number == 0) continue;
        const auto own = static_cast<int>(ceiling_exponent(x)) - scale + 1 - slicing.radix_bits;
        weight = any ? std::max(weight, own) : own;
        any = true;
      }
      for (auto& x : rest) {
        const auto digit = nearest_multiple(x, scale + weight);
        x = x + ExactNumber{x.number < 0 ? digit : cpp_int(-digit), scale + weight};
      }
    }
    weights.push_back(weight);
  }
  return weights;
}

/// Each digit is the rest divided by the digit's weight and rounded: towards zero, to nearest, or down.
AllDigits digits_one_by_one(ExactNumber rest, const Slicing& slicing, int scale, const int* weights) {
  AllDigits digits{};
  for (int p = 1; p <= slicing.slices && rest.number != 0; ++p) {
    const std::int64_t weight = scale + weights[p - 1];
    const bool away = slicing.digits == Digits::unsigned8 && rest.number < 0;
    const bool to_nearest = slicing.digits == Digits::nearest || slicing.digits == Digits::nearest_adaptive;
    const auto magnitude = to_nearest ? nearest_multiple(rest, weight)
                           : away     ? whole_multiple_above(rest, weight)
                                      : whole_multiple(rest, weight);
    const auto digit = static_cast<int>(rest.number < 0 ? cpp_int(-magnitude) : magnitude);
    digits[static_cast<std::size_t>(p - 1)] = digit;
    rest = rest + ExactNumber{-digit, weight};
  }
  return digits;
}

/// Digits from -128 to 127 of `rest` in radix 256, the last digit first. The first digit is the remaining quotient.
template <class Integer>
AllDigits radix_256(Integer rest, int slices) {
  AllDigits digits{};
  for (int p = slices; p > 1; --p) {
    const Integer shifted = rest + 128;
    auto byte = static_cast<int>(shifted % 256);
    if (byte < 0) byte += 256;
    digits[static_cast<std::size_t>(p - 1)] = byte - 128;
    rest = (rest - (byte - 128)) / 256;
  }
  digits[0] = static_cast<int>(rest);
  return digits;
}

/// The number in units of the last digit, rounded to nearest, in radix 256.
AllDigits balanced_digits(const ExactNumber& x, const Slicing& slicing, int scale) {
  if (x.number == 0) return {};
  cpp_int rest = nearest_multiple(x, scale + slicing.weight(slicing.slices));
  if (x.number < 0) rest = -rest;
  if (slicing.slices <= 7) return radix_256(static_cast<std::int64_t>(rest), slicing.slices);  // below 2^57
  return radix_256(std::move(rest), slicing.slices);
}

/// a_p of G2: the largest |slice p| over rho.
ExactNumber slice_magnitude(const Slicing& slicing, int p) {
  const int top = -slicing.radix_bits * (p - 1), last = -slicing.radix_bits * p;
  switch (slicing.digits) {
    case Digits::truncated: return power_of_two(top) + -power_of_two(last);
    case Digits::ozimmu: return power_of_two(p == 1 ? 0 : top + 1) + -power_of_two(last + 1);
    case Digits::unsigned8: return p == 1 ? power_of_two(0) : power_of_two(top + 1) + -power_of_two(last + 1);
    case Digits::nearest:
    case Digits::nearest_adaptive:
    case Digits::balanced: return power_of_two(top);
  }
  throw std::invalid_argument("digits are of no known kind");
}

/// t_p of G2: the largest |tail after p slices| over rho. (256/255)(2^-8p - 2^-8s) = 256 * 2^-8s (256^(s-p) - 1) / 255, an
/// integer times a power of two.
ExactNumber tail_magnitude(const Slicing& slicing, int p) {
  if (p == 0) return power_of_two(0);
  if (slicing.digits == Digits::ozimmu || slicing.digits == Digits::unsigned8) return power_of_two(1 - slicing.radix_bits * p);
  if (slicing.digits != Digits::balanced) return power_of_two(-slicing.radix_bits * p);
  const int below = slicing.slices - p;
  const cpp_int ones = ((cpp_int(1) << static_cast<unsigned>(8 * below)) - 1) / 255;
  return {ones * 256 + 1, -8 * slicing.slices};
}

bool is_finite_vector(MatrixView<const double> vectors, Index i) {
  for (Index l = 0; l < vectors.cols(); ++l)
    if (!std::isfinite(vectors(i, l))) return false;
  return true;
}

/// The element of largest magnitude: the one with the largest bit pattern without its sign.
ExactNumber largest_element(MatrixView<const double> vectors, Index i) {
  std::uint64_t top = 0;
  for (Index l = 0; l < vectors.cols(); ++l) top = std::max(top, std::bit_cast<std::uint64_t>(vectors(i, l)) << 1 >> 1);
  return exact(std::bit_cast<double>(top));
}

void check_shapes(const Operands& operands, Index inner_repeat) {
  if (operands.a.cols() != operands.b.rows()) throw std::invalid_argument("b must have as many rows as a has columns");
  if (inner_repeat < 1) throw std::invalid_argument("inner_repeat must be at least 1: " + std::to_string(inner_repeat));
  constexpr Index longest = std::numeric_limits<Index>::max() >> 21;  // products below 2^16 each, 20 pairs on a diagonal
  if (operands.a.cols() > longest / inner_repeat) throw std::invalid_argument("the inner dimension is too long");
}

const SlicePlan& of_one_radix(const SlicePlan& plan) {
  if (plan.a.radix_bits != plan.b.radix_bits) throw std::invalid_argument("plan: the encodings have different radix");
  return plan;
}

/// x + y as a double, to nearest even, including subnormal results. @pre the sum does not overflow.
ExactNumber rounded_sum(const ExactNumber& x, const ExactNumber& y) {
  const auto sum = x + y;
  if (sum.number == 0) return {};
  const auto quantum = std::max<std::int64_t>(leading_exponent(sum) - 52, -1074);
  if (quantum <= sum.exponent) return sum;
  const auto magnitude = nearest_multiple(sum, quantum);
  return {sum.number < 0 ? cpp_int(-magnitude) : magnitude, quantum};
}

}  // namespace

std::string exact_text(const ExactNumber& x) {
  if (x.number == 0) return "0x0p+0";
  const cpp_int number = abs(x.number);
  const auto zeros = lsb(number);
  const auto exponent = x.exponent + static_cast<std::int64_t>(zeros);
  const cpp_int odd = number >> static_cast<unsigned>(zeros);
  return fmt::format("{}0x{}p{:+}", x.number < 0 ? "-" : "", odd.str(0, std::ios_base::hex), exponent);
}

int last_b(const SlicePlan& plan, int p) { return std::clamp(plan.cut - p, 0, plan.b.slices); }

SlicedVectors::SlicedVectors(MatrixView<const double> vectors, const Slicing& slicing)
    : slicing_(slicing),
      inner_(vectors.cols()),
      finite_(static_cast<std::size_t>(vectors.rows())),
      exponents_(static_cast<std::size_t>(vectors.rows())),
      weights_(static_cast<std::size_t>(vectors.rows() * slicing.slices)),
      digits_(static_cast<std::size_t>(vectors.rows() * slicing.slices * vectors.cols())) {
  for (Index i = 0; i < count(); ++i) finite_[static_cast<std::size_t>(i)] = is_finite_vector(vectors, i);
  [[maybe_unused]] const bool large = digits_.size() > 10000;  // threads pay off
  FirstException failure;
#pragma omp parallel for schedule(static) if (large)
  for (Index i = 0; i < count(); ++i)
    failure.run([&] {
      auto* const weights = weights_.data() + i * slicing_.slices;
      for (int p = 1; p <= slicing.slices; ++p) weights[p - 1] = slicing.weight(p);
      if (!finite(i)) return;
      const auto top = largest_element(vectors, i);
      if (top.number == 0) return;
      const int scale = static_cast<int>(scale_exponent(top, slicing.digits));
      exponents_[static_cast<std::size_t>(i)] = scale;
      std::vector<ExactNumber> elements;
      for (Index l = 0; l < inner_; ++l) elements.push_back(exact(vectors(i, l)));
      std::ranges::copy(vector_weights(elements, slicing, scale), weights);
      for (Index l = 0; l < inner_; ++l) {
        if (l % 1024 == 0) poll_cancelled();
        const auto& x = elements[static_cast<std::size_t>(l)];
        const auto digits = slicing.digits == Digits::balanced ? balanced_digits(x, slicing, scale)
                                                               : digits_one_by_one(x, slicing, scale, weights);
        for (int p = 0; p < slicing.slices; ++p)
          digits_[static_cast<std::size_t>((i * slicing.slices + p) * inner_ + l)] =
              static_cast<std::int16_t>(digits[static_cast<std::size_t>(p)]);
      }
    });
  failure.rethrow();
}

namespace {

/// sum_l x_l y_l, in blocks that an INT32 sum can hold, since no digit exceeds 2^8 in magnitude.
std::int64_t digit_sum(const std::int16_t* x, const std::int16_t* y, Index length) {
  constexpr Index block = 1 << 14;
  std::int64_t total = 0;
  for (Index start = 0; start < length; start += block) {
    std::int32_t sum = 0;
    for (Index l = start; l < std::min(length, start + block); ++l) sum += x[l] * y[l];
    total += sum;
  }
  return total;
}

}  // namespace

std::vector<std::int64_t> sums_of(const std::vector<Pairs>& groups, const SlicedVectors& a, const SlicedVectors& b, Index i,
                                  Index j) {
  std::vector<std::int64_t> sums;
  for (const auto& pairs : groups) {
    std::int64_t sum = 0;
    for (const auto& [p, q] : pairs) sum += digit_sum(a.slice(i, p), b.slice(j, q), a.inner());
    sums.push_back(sum);
  }
  return sums;
}

std::vector<int> weights_of(const std::vector<Pairs>& groups, const SlicedVectors& a, const SlicedVectors& b, Index i,
                            Index j) {
  std::vector<int> weights;
  for (const auto& pairs : groups) weights.push_back(a.weight(i, pairs[0].first) + b.weight(j, pairs[0].second));
  return weights;
}

ExactNumber accumulated(Accumulation accumulation, const std::vector<int>& weights, const std::vector<std::int64_t>& sums) {
  ExactNumber total;
  for (std::size_t t = 0; t < sums.size(); ++t) {
    const ExactNumber term{sums[t], weights[t]};
    total = accumulation == Accumulation::exact ? total + term : rounded_sum(total, rounded_sum(term, {}));
  }
  return total;
}

ExactNumber sum_with_scalars(const Operands& operands, Index i, Index j, const ExactNumber& product) {
  const checking::PlainEnvironment environment;
  ExactNumber sum;
  if (operands.alpha != 0 && product.number != 0) sum = exact(operands.alpha) * product;
  if (operands.beta != 0) sum = sum + exact(operands.beta) * exact(operands.c0(i, j));
  return sum;
}

SlicedProduct::SlicedProduct(const Operands& operands, const SlicePlan& plan, Index inner_repeat)
    : plan_((check_shapes(operands, inner_repeat), of_one_radix(plan))),
      inner_repeat_(inner_repeat),
      groups_(plan.groups(inner_repeat * operands.a.cols())),
      a_(operands.a, plan.a),
      b_(operands.b.transposed(), plan.b) {}

std::vector<int> SlicedProduct::weights(Index i, Index j) const { return weights_of(groups_, a_, b_, i, j); }

std::vector<std::int64_t> SlicedProduct::group_sums(Index i, Index j) const {
  auto sums = sums_of(groups_, a_, b_, i, j);
  for (auto& sum : sums) sum *= inner_repeat_;
  return sums;
}

ExactNumber SlicedProduct::sum(Index i, Index j) const {
  auto sum = accumulated(plan_.accumulation, weights(i, j), group_sums(i, j));
  sum.exponent += a_.exponent(i) + b_.exponent(j);
  return sum;
}

ExactNumber SlicedProduct::exact_sum(Index i, Index j) const {
  auto sum = accumulated(Accumulation::exact, weights(i, j), group_sums(i, j));
  sum.exponent += a_.exponent(i) + b_.exponent(j);
  return sum;
}

namespace {

std::variant<SlicedProduct, ResidueProduct> made(const Operands& operands, const Plan& plan, Index inner_repeat) {
  if (const auto* const slices = std::get_if<SlicePlan>(&plan)) return SlicedProduct(operands, *slices, inner_repeat);
  return ResidueProduct(operands, std::get<ResiduePlan>(plan), inner_repeat);
}

}  // namespace

Product::Product(const Operands& operands, const Plan& plan, Index inner_repeat)
    : operands_((check_shapes(operands, inner_repeat), operands)),
      inner_repeat_(inner_repeat),
      made_(made(operands, plan, inner_repeat)) {}

bool Product::finite(Index i, Index j) const {
  return std::visit([&](const auto& of) { return of.a().finite(i) && of.b().finite(j); }, made_);
}

/// True if NaN or infinities of the inputs decide the entry.
bool Product::decided_by_specials(Index i, Index j) const {
  for (const auto& [factor, row] : product_terms(operands_, i))
    if (!std::isfinite(factor) || !finite(row, j)) return true;
  for (const auto& [factor, row] : c0_terms(operands_, i))
    if (!std::isfinite(factor) || !std::isfinite(operands_.c0(row, j))) return true;
  return false;
}

double Product::entry(Index i, Index j, ResultFormat format) const {
  const checking::PlainEnvironment environment;
  if (decided_by_specials(i, j)) {
    const auto special = ExactOracle(operands_).evaluate(i, j, 0, format);
    if (special.kind != OracleEntry::Kind::finite) return special.rounded;
  }
  ExactNumber total;
  for (const auto& [factor, row] : product_terms(operands_, i))
    if (operands_.a.cols() > 0)
      total = total + exact(factor) * std::visit([&, row = row](const auto& of) { return of.sum(row, j); }, made_);
  for (const auto& [factor, row] : c0_terms(operands_, i)) total = total + exact(factor) * exact(operands_.c0(row, j));
  return rounded_to(total, format);
}

std::string Product::truncation_error(Index i, Index j) const {
  ExactNumber error;
  for (Index l = 0; l < operands_.a.cols(); ++l) error = error + exact(operands_.a(i, l)) * exact(operands_.b(l, j));
  error.number *= inner_repeat_;
  const auto* const slices = std::get_if<SlicedProduct>(&made_);
  return exact_text(error + -(slices != nullptr ? slices->exact_sum(i, j) : residues().sum(i, j)));
}

namespace {

ExactNumber truncation_of(const SlicePlan& plan) {
  auto sum = tail_magnitude(plan.a, plan.a.slices);
  for (int p = 1; p <= plan.a.slices; ++p) sum = sum + slice_magnitude(plan.a, p) * tail_magnitude(plan.b, last_b(plan, p));
  return sum;
}

ExactNumber truncation_of(const ResiduePlan& plan) {
  const auto a = power_of_two(-plan.bits_a - 1), b = power_of_two(-plan.bits_b - 1);
  return a + b * (power_of_two(0) + a);
}

}  // namespace

std::string truncation_bound(const Plan& plan, Index k) {
  return exact_text(ExactNumber{k, 0} * std::visit([](const auto& kind) { return truncation_of(kind); }, plan));
}

}  // namespace ozbound::reference
