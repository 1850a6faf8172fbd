#include "native_bound.hpp"

#include <algorithm>
#include <limits>

#include "allowance.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {
namespace {

/// Exponents of the smallest and the largest non-zero finite magnitude.
struct Range {
  int least = std::numeric_limits<int>::max();
  int top = std::numeric_limits<int>::min();

  explicit Range(InputView operand) {
    for (Index i = 0; i < operand.rows(); ++i)
      for (Index j = 0; j < operand.cols(); ++j) add(operand.bits(i, j));
  }
  explicit Range(double x) { add(bits_of(x)); }

  [[nodiscard]] bool empty() const { return top < least; }

 private:
  void add(std::uint64_t bits) {
    if (!is_finite(bits, binary64)) return;
    const auto x = to_dyadic(bits, binary64);
    if (x.magnitude == 0) return;
    least = std::min(least, x.top_exponent());
    top = std::max(top, x.top_exponent());
  }
};

bool plus_minus_one(double x) { return x == 1 || x == -1; }

}  // namespace

NativeGuarantee native_guarantee(InputView a, InputView b, const DecideOptions& options) {
  NativeGuarantee guarantee;
  const Index k = a.cols();
  const bool plain = plus_minus_one(options.alpha) && options.beta == 0;
  const double roundings = to_double_upper(static_cast<std::uint64_t>(plain ? k : k + 3)) * 0x1p-53;
  guarantee.factor = plain ? roundings : divide_upper(roundings, subtract_lower(1, roundings));
  if (!a.is_double() || !b.is_double() || options.format.precision != binary64.precision)
    guarantee.obstacle = "native DGEMM takes binary64 operands";
  if (!is_finite(bits_of(options.alpha), binary64) || !is_finite(bits_of(options.beta), binary64))
    guarantee.obstacle = "alpha or beta is not finite";
  const Range x(a), y(b), scalar(options.alpha);
  if (x.empty() || y.empty() || scalar.empty()) return guarantee;
  const int sum_top = x.top + y.top + 2 + bit_length(static_cast<std::uint64_t>(k));
  const Range c0 = options.beta == 0 ? Range(0.0) : Range(options.c0);
  const int c0_top = c0.empty() ? -2000 : c0.top + std::max(Range(options.beta).top, 0) + 2;
  if (std::max({sum_top, sum_top + scalar.top + 1, c0_top}) > 1020)
    guarantee.obstacle = "an intermediate result of native DGEMM may overflow";
  const bool scaling_exact = plus_minus_one(options.alpha) && (options.beta == 0 || plus_minus_one(options.beta));
  if (x.least + y.least < -1022 || !scaling_exact) {
    // k products and as many scalings, each at most eta/2 off; the products' share is scaled by alpha.
    const double half_eta_terms = to_double_upper(static_cast<std::uint64_t>(k + 1));
    const double magnitude = double_from_bits(bits_of(options.alpha) & ~binary64.sign);
    guarantee.underflow = multiply_upper(multiply_upper(half_eta_terms, add_upper(magnitude, 1)), 0x1p-1074);
  }
  return guarantee;
}

bool native_certifies(const NativeGuarantee& guarantee, const Target& target, Index k, const DecideOptions& options) {
  using Kind = Target::Kind;
  if (!guarantee.obstacle.empty() || target.kind == Kind::correctly_rounded || target.kind == Kind::relative) return false;
  // `dgemm` allows k eta/2 of underflow, which is what the k products of +-AB may lose.
  const bool plain = plus_minus_one(options.alpha) && options.beta == 0;
  if (guarantee.underflow > 0 && !(target.kind == Kind::dgemm && plain)) return false;
  return guarantee.factor <= target_tau(target, k, options.format);
}

ErrorBound native_error_bound(InputView a, InputView b, const NativeGuarantee& guarantee, const DecideOptions& options,
                              const Engine& engine) {
  const Slicing one{Encoding::balanced(), 1};
  const auto rows = engine.measure(a, Side::rows_of_a, one).vectors;
  const auto columns = engine.measure(b, Side::columns_of_b, one).vectors;
  const bool with_c0 = options.beta != 0;
  ErrorBound bound;
  bound.source = with_c0 ? "gamma_{k+3} (|alpha||A||B| + |beta||C0|), |beta||C0| <= |C| + |alpha||A||B|" : "k u |A||B| (Jeannerod, Rump)";
  bound.assumptions = {"the native DGEMM sums conventionally: each entry is a sum of k rounded products, in some order"};
  const double share = divide_upper(guarantee.factor, subtract_lower(1, guarantee.factor));
  bound.product = summation_upper(rows, columns, with_c0 ? 2 * share : guarantee.factor);
  for (const auto& facts : rows) bound.row_exponents.push_back(facts.scale.exponent);
  for (const auto& facts : columns) bound.column_exponents.push_back(facts.scale.exponent);
  bound.alpha = options.alpha;
  bound.result_factor = with_c0 ? share : 0;
  // A bound on |C^ - C| that holds |C^| in place of |C|: the underflow grows by the same share.
  bound.underflow = with_c0 ? 2 * guarantee.underflow : guarantee.underflow;
  bound.rounded_once = false;
  return bound;
}

}  // namespace ozbound
