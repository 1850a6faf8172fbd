#include "ozbound/bounds/enclosure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ozbound/bounds/scaled.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {
namespace {

/// |x| of every element; vectors with specials become zero.
Matrix<double> magnitudes(InputView operand, Side side, const std::vector<VectorScale>& scales) {
  Matrix<double> result(operand.rows(), operand.cols());
  for (Index i = 0; i < operand.rows(); ++i)
    for (Index j = 0; j < operand.cols(); ++j)
      if (!scales[static_cast<std::size_t>(side == Side::rows_of_a ? i : j)].special)
        result(i, j) = double_from_bits(operand.bits(i, j) & ~binary64.sign);
  return result;
}

/// x * 2^-scale rounded towards zero to binary32, for 0 <= x < 2^scale; what is below 2^-126 becomes 0.
float to_float_lower(Dyadic x, int scale) {
  if (x.magnitude == 0) return 0;
  const int length = bit_length(x.magnitude);
  const int top = x.top_exponent() - scale;
  if (top < -126) return 0;
  const auto significand = length > 24 ? x.magnitude >> (length - 24) : x.magnitude << (24 - length);
  return float_from_bits((static_cast<std::uint64_t>(top + 126) << 23) + significand);
}

/// All vectors of an operand, contiguous, scaled to magnitudes below 1 and rounded towards zero.
std::vector<float> scaled_vectors(InputView magnitude, Side side, const std::vector<std::int32_t>& exponents) {
  const auto vectors = vectors_of(magnitude, side);
  std::vector<float> result(static_cast<std::size_t>(vectors.rows() * vectors.cols()));
  auto* out = result.data();
  for (Index i = 0; i < vectors.rows(); ++i)
    for (Index l = 0; l < vectors.cols(); ++l)
      *out++ = to_float_lower(vectors.element(i, l), exponents[static_cast<std::size_t>(i)]);
  return result;
}

/// sum_l x_l y_l in FP32, blocks of 1024 summed in FP64; every sum in a fixed order, whatever the vector length.
double float_dot(const float* x, const float* y, Index length) {
  constexpr Index block = 1024;
  constexpr std::size_t lanes = 16;
  double total = 0;
  for (Index start = 0; start < length; start += block) {
    const Index end = std::min(length, start + block);
    std::array<float, lanes> sums{};
    Index l = start;
    for (; l + static_cast<Index>(lanes) <= end; l += static_cast<Index>(lanes))
      for (std::size_t lane = 0; lane < lanes; ++lane)
        sums[lane] += x[l + static_cast<Index>(lane)] * y[l + static_cast<Index>(lane)];
    for (; l < end; ++l) sums[0] += x[l] * y[l];
    float sum = 0;
    for (const float lane : sums) sum += lane;
    total += static_cast<double>(sum);
  }
  return total;
}

// Each term of float_dot meets at most 1024 roundings of 2^-24 and k / 1024 + 1 of 2^-53, together below 1 + 2^-13 for
// k < 2^40; its product underflows by at most 2^-149. (docs/derivations/enclosure.md)
constexpr double dot_error = 0x1p-13;

double level_two_lower(double dot, Index k) {
  const double sum = subtract_lower(dot, multiply_upper(static_cast<double>(k), 0x1p-149));
  return divide_lower(sum, 1 + dot_error);
}

/// Operands rounded towards zero lose a factor 1 + 2^-23 each, and up to 2^-126 where they became 0.
double level_two_upper(double dot, Index k) {
  const double sum = add_upper(dot, multiply_upper(static_cast<double>(k), 0x1p-149));
  return add_upper(multiply_upper(sum, 1 + 2 * dot_error), multiply_upper(static_cast<double>(k), 0x1p-124));
}

std::vector<std::int32_t> exponents_of(const std::vector<VectorScale>& scales) {
  std::vector<std::int32_t> exponents;
  for (const auto& scale : scales) exponents.push_back(scale.exponent);
  return exponents;
}

class Builder {
 public:
  Builder(InputView a, InputView b, const Engine& engine)
      : engine_(engine),
        a_scales_(vector_scales(a, Side::rows_of_a, first_slice.encoding, engine.threads())),
        b_scales_(vector_scales(b, Side::columns_of_b, first_slice.encoding, engine.threads())),
        a_(magnitudes(a, Side::rows_of_a, a_scales_)),
        b_(magnitudes(b, Side::columns_of_b, b_scales_)),
        result_{Matrix<double>(a.rows(), b.cols()), Matrix<double>(a.rows(), b.cols()), exponents_of(a_scales_),
                exponents_of(b_scales_)} {}

  Enclosure build() {
    level_one();
    if (loose()) level_two();
    settle_zeros();
    return std::move(result_);
  }

 private:
  static constexpr Slicing first_slice{{Encoding::Kind::truncated, 7}, 1};

  [[nodiscard]] Index k() const { return a_.cols(); }

  void level_one() {
    const SplitPlan plan{first_slice, first_slice, 2, Accumulation::exact};
    const auto rows = engine_.measure(a_, Side::rows_of_a, first_slice).vectors;
    const auto columns = engine_.measure(b_, Side::columns_of_b, first_slice).vectors;
    const auto products = engine_.group_sums(engine_.slice(a_, Side::rows_of_a, first_slice),
                                             engine_.slice(b_, Side::columns_of_b, first_slice), plan);
    for (Index i = 0; i < result_.lower.rows(); ++i)
      for (Index j = 0; j < result_.lower.cols(); ++j) {
        const auto sum = static_cast<std::uint64_t>(products[0](i, j));
        const auto& row = rows[static_cast<std::size_t>(i)];
        const auto& column = columns[static_cast<std::size_t>(j)];
        const bool zero = row.vector.zero() || column.vector.zero();
        const auto rest = zero ? 0 : row.slices[0].sum + column.slices[0].sum + static_cast<std::uint64_t>(k());
        result_.lower(i, j) = to_double_lower(sum) * 0x1p-14;
        result_.upper(i, j) = to_double_upper(sum + rest) * 0x1p-14;
      }
  }

  [[nodiscard]] bool loose() const {
    const Index count = result_.lower.rows() * result_.lower.cols();
    for (Index t = 0; t < count; ++t)
      if (result_.lower.data()[t] < 0.5 * result_.upper.data()[t]) return true;
    return false;
  }

  void level_two() {
    result_.levels = 2;
    const auto x = scaled_vectors(a_, Side::rows_of_a, result_.row_exponents);
    const auto y = scaled_vectors(b_, Side::columns_of_b, result_.column_exponents);
#pragma omp parallel for schedule(static) num_threads(engine_.threads())
    for (Index i = 0; i < result_.lower.rows(); ++i) {
      const FloatEnvironment environment;
      for (Index j = 0; j < result_.lower.cols(); ++j) {
        const double dot = float_dot(x.data() + i * k(), y.data() + j * k(), k());
        result_.lower(i, j) = std::max(result_.lower(i, j), level_two_lower(dot, k()));
        result_.upper(i, j) = std::min(result_.upper(i, j), level_two_upper(dot, k()));
      }
    }
  }

  /// Entries with no lower bound yet: zero for good, or as large as their largest product's leading bits.
  void settle_zeros() {
    const auto x = tops(a_, Side::rows_of_a);
    const auto y = tops(b_, Side::columns_of_b);
    bool used = false;
#pragma omp parallel for schedule(dynamic, 8) num_threads(engine_.threads()) reduction(|| : used)
    for (Index i = 0; i < result_.lower.rows(); ++i) {
      const FloatEnvironment environment;
      for (Index j = 0; j < result_.lower.cols(); ++j)
        if (result_.lower(i, j) == 0 && result_.upper(i, j) > 0) {
          settle(i, j, x.data() + i * k(), y.data() + j * k());
          used = true;
        }
    }
    if (used) result_.levels = 3;
  }

  void settle(Index i, Index j, const std::int32_t* x, const std::int32_t* y) {
    std::int32_t top = 2 * no_top;
    for (Index l = 0; l < k(); ++l) top = std::max(top, x[l] + y[l]);
    if (top < no_top / 2) {
      result_.upper(i, j) = 0;
      return;
    }
    const Scaled largest{
        1, top - result_.row_exponents[static_cast<std::size_t>(i)] - result_.column_exponents[static_cast<std::size_t>(j)]};
    const Scaled all{to_double_upper(static_cast<std::uint64_t>(k())), largest.exponent + 2};
    result_.lower(i, j) = largest.lower();
    result_.upper(i, j) = std::min(result_.upper(i, j), all.upper());
  }

  static constexpr std::int32_t no_top = -100000;  // of a zero: far below every sum of two real ones

  /// floor(log2 |x|) of every element of every vector, contiguous.
  static std::vector<std::int32_t> tops(InputView magnitude, Side side) {
    const auto vectors = vectors_of(magnitude, side);
    std::vector<std::int32_t> result(static_cast<std::size_t>(vectors.rows() * vectors.cols()));
    auto* out = result.data();
    for (Index i = 0; i < vectors.rows(); ++i)
      for (Index l = 0; l < vectors.cols(); ++l) {
        const auto x = vectors.element(i, l);
        *out++ = x.magnitude == 0 ? no_top : x.top_exponent();
      }
    return result;
  }

  const Engine& engine_;
  std::vector<VectorScale> a_scales_, b_scales_;
  Matrix<double> a_, b_;
  Enclosure result_;
};

}  // namespace

Enclosure enclose_product(InputView a, InputView b, const Engine& engine) {
  const FloatEnvironment environment;
  return Builder(a, b, engine).build();
}

}  // namespace ozbound
