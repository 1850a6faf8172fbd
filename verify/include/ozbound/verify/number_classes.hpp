// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

/// Draws finite numbers, and rows of them, by classes: the place of a number in its format, and the pattern of its bits.
/// Uniformly drawn doubles of full range would miss all places where arithmetic goes wrong.
namespace ozbound::sampling {

template <class T>
struct Weighted {
  T value;
  int weight;  ///< > 0
};

template <class T, std::size_t N>
constexpr int total_weight(const Weighted<T> (&items)[N]) {
  int total = 0;
  for (const auto& item : items) total += item.weight;
  return total;
}

/// SplitMix64. A seed gives the same numbers everywhere, because no standard distribution is involved. (Draw twice in two
/// statements: the compiler chooses the order of operands and arguments.)
class RandomBits {
 public:
  explicit RandomBits(std::uint64_t seed) : state_(seed) {}

  std::uint64_t operator()() {
    state_ += 0x9e3779b97f4a7c15;
    auto z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// Uniform in 0 … count - 1.
  int below(int count) { return static_cast<int>((*this)() % static_cast<std::uint64_t>(count)); }

  /// Uniform in low … high, both included.
  int between(int low, int high) { return low + below(high - low + 1); }

  /// True once in `odds` calls.
  bool once_in(int odds) { return below(odds) == 0; }

  template <class T, std::size_t N>
  const T& pick(const T (&items)[N]) {
    return items[below(static_cast<int>(N))];
  }

  /// An item, drawn with the probability weight / sum of the weights.
  template <class T, std::size_t N>
  const T& pick(const Weighted<T> (&items)[N]) {
    int rest = below(total_weight(items));
    std::size_t t = 0;
    while (rest >= items[t].weight) rest -= items[t++].weight;
    return items[t].value;
  }

 private:
  std::uint64_t state_;
};

/// The place of a number in its format. e is the exponent of its leading bit.
enum class ExponentClass {
  near_one,   ///< |e| <= 8
  moderate,   ///< |e| <= 63 (binary64) or 31 (binary32)
  wide,       ///< every normal exponent
  largest,    ///< the last two binades
  tiny,       ///< the first 60 (binary64) or 30 (binary32) normal binades
  boundary,   ///< the subnormal and the normal numbers around the smallest normal one
  subnormal,  ///< every subnormal binade
  least,      ///< 1 … 4 times the smallest subnormal
  zero,
};
inline constexpr ExponentClass exponent_classes[] = {ExponentClass::near_one,  ExponentClass::moderate, ExponentClass::wide,
                                                     ExponentClass::largest,   ExponentClass::tiny,     ExponentClass::boundary,
                                                     ExponentClass::subnormal, ExponentClass::least,    ExponentClass::zero};

/// The bit pattern of a number, the leading bit first. A subnormal number keeps the leading bits that fit.
enum class SignificandClass {
  one,             ///< a power of two
  above_one,       ///< its neighbour above
  below_two,       ///< all ones: the neighbour below the next power of two
  balanced_limit,  ///< 0x1.FDp0 and its neighbours, where the balanced scale grows
  short_bits,      ///< at most eight bits
  sparse,          ///< two or three bits set
  runs,            ///< long runs of ones and zeros: ties and carries at any place
  bytes,           ///< bytes 00, 7f, 80, 81, fe, ff: the ends of the digits' range and carries that ripple
  uniform,
};
inline constexpr SignificandClass significand_classes[] = {
    SignificandClass::one,        SignificandClass::above_one, SignificandClass::below_two, SignificandClass::balanced_limit,
    SignificandClass::short_bits, SignificandClass::sparse,    SignificandClass::runs,      SignificandClass::bytes,
    SignificandClass::uniform};

/// Weights of the classes of a vector's largest magnitude, and of the significands, in drawn cases (sample_vector).
inline constexpr Weighted<ExponentClass> exponent_weights[] = {
    {ExponentClass::near_one, 4},  {ExponentClass::moderate, 3}, {ExponentClass::wide, 3},
    {ExponentClass::largest, 2},   {ExponentClass::tiny, 2},     {ExponentClass::boundary, 2},
    {ExponentClass::subnormal, 2}, {ExponentClass::least, 1},    {ExponentClass::zero, 1}};
inline constexpr Weighted<SignificandClass> significand_weights[] = {
    {SignificandClass::one, 2},        {SignificandClass::above_one, 1},
    {SignificandClass::below_two, 2},  {SignificandClass::balanced_limit, 3},
    {SignificandClass::short_bits, 2}, {SignificandClass::sparse, 2},
    {SignificandClass::runs, 2},       {SignificandClass::bytes, 3},
    {SignificandClass::uniform, 3}};

/// A significand of `width` bits with the leading bit set.
inline std::uint64_t sample_significand(SignificandClass kind, int width, RandomBits& random) {
  const auto top = std::uint64_t{1} << (width - 1);
  const auto mask = 2 * top - 1;
  switch (kind) {
    case SignificandClass::one: return top;
    case SignificandClass::above_one: return top | 1;
    case SignificandClass::below_two: return mask;
    case SignificandClass::balanced_limit:
      return (std::uint64_t{0x1FD} << (width - 9)) + static_cast<std::uint64_t>(random.between(-1, 1));
    case SignificandClass::short_bits: return top | (((random() & 0xff) << (width - 8)) & mask);
    case SignificandClass::sparse:
      return top | std::uint64_t{1} << random.below(width) | std::uint64_t{1} << random.below(width);
    case SignificandClass::runs: {
      const int a = random.below(width);
      const int b = random.below(width);
      const auto pattern = ((std::uint64_t{1} << a) - 1) ^ ((std::uint64_t{1} << b) - 1);
      return top | ((random.once_in(2) ? ~pattern : pattern) & mask);
    }
    case SignificandClass::bytes: {
      static constexpr std::uint64_t bytes[] = {0x00, 0x7f, 0x80, 0x81, 0xfe, 0xff};
      std::uint64_t result = 0;
      for (int i = 0; i < 8; ++i) result = result << 8 | random.pick(bytes);
      return top | (result & mask);
    }
    case SignificandClass::uniform: break;
  }
  return top | (random() & mask);
}

/// The constants of a floating-point type that the samples need.
template <class T>
struct Anatomy {
  using Limits = std::numeric_limits<T>;
  static constexpr int precision = Limits::digits;
  static constexpr int least = Limits::min_exponent - Limits::digits;  ///< exponent of the smallest subnormal
  static constexpr int least_normal = Limits::min_exponent - 1;
  static constexpr int largest = Limits::max_exponent - 1;
};

/// significand * 2^(exponent - precision + 1). Bits that do not fit a subnormal number are cut off. Uses bit operations only.
/// Exponents beyond the format's last become the last. @pre the leading bit of the significand is set.
template <class T>
T assemble(std::uint64_t significand, int exponent, bool negative) {
  using A = Anatomy<T>;
  if (exponent > A::largest) exponent = A::largest;
  std::uint64_t bits = 0;
  if (exponent >= A::least_normal)
    bits = (static_cast<std::uint64_t>(exponent - A::least_normal) << (A::precision - 1)) + significand;
  else if (A::least_normal - exponent < A::precision)
    bits = significand >> (A::least_normal - exponent);
  if (negative) bits |= std::uint64_t{1} << (8 * sizeof(T) - 1);
  if constexpr (sizeof(T) == sizeof(double))
    return std::bit_cast<T>(bits);
  else
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
}

inline int sample_exponent(ExponentClass kind, int least, int least_normal, int largest, RandomBits& random) {
  switch (kind) {
    case ExponentClass::moderate: {
      const int range = largest > 500 ? 63 : 31;
      return random.between(-range, range);
    }
    case ExponentClass::wide: return random.between(least_normal, largest);
    case ExponentClass::largest: return random.between(largest - 1, largest);
    case ExponentClass::tiny: return random.between(least_normal, least_normal + (largest > 500 ? 60 : 30));
    case ExponentClass::boundary: return random.between(least_normal - 2, least_normal + 1);
    case ExponentClass::subnormal: return random.between(least, least_normal - 1);
    case ExponentClass::least: return random.between(least, least + 2);
    case ExponentClass::near_one:
    case ExponentClass::zero: break;
  }
  return random.between(-8, 8);
}

/// A finite number of the two classes; +-0 for ExponentClass::zero.
template <class T>
T sample(ExponentClass exponent, SignificandClass significand, bool negative, RandomBits& random) {
  using A = Anatomy<T>;
  if (exponent == ExponentClass::zero) return assemble<T>(0, A::least_normal, negative);
  const int e = sample_exponent(exponent, A::least, A::least_normal, A::largest, random);
  return assemble<T>(sample_significand(significand, A::precision, random), e, negative);
}

/// A finite number of any class.
template <class T>
T sample(RandomBits& random) {
  const auto exponent = random.pick(exponent_classes);
  const auto significand = random.pick(significand_classes);
  return sample<T>(exponent, significand, random.once_in(2), random);
}

/// A number of any class: a finite number, an infinity or a NaN (quiet and signalling, any payload).
template <class T>
T sample_with_specials(RandomBits& random) {
  if (!random.once_in(4)) return sample<T>(random);
  constexpr int stored = Anatomy<T>::precision - 1;
  auto bits = ((std::uint64_t{2} << (8 * sizeof(T) - 2 - stored)) - 1) << stored;
  if (random.once_in(2)) bits |= random() & ((std::uint64_t{1} << stored) - 1);
  if (random.once_in(2)) bits |= std::uint64_t{1} << (8 * sizeof(T) - 1);
  if constexpr (sizeof(T) == sizeof(double))
    return std::bit_cast<T>(bits);
  else
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
}

/// A number whose leading bit is 2^(e - depth): an element of a row whose largest magnitude is below 2^(e + 1).
template <class T>
T sample_below(int e, int depth, RandomBits& random) {
  const bool negative = random.once_in(2);
  return assemble<T>(sample_significand(random.pick(significand_classes), Anatomy<T>::precision, random), e - depth, negative);
}

/// The relation of the numbers that share a vector, and with it a scale: a row of A or a column of B.
enum class RowClass {
  alike,      ///< magnitudes within a factor of two
  spread,     ///< up to 70 binades below the largest
  dominated,  ///< one large member; the others are 50 … 2200 binades below it, subnormal or zero if that is out of range
  any,        ///< every member is of any class, independently
  maximal,    ///< one number with the largest possible digits, all of one sign: sums as large as possible
};
inline constexpr RowClass row_classes[] = {RowClass::alike, RowClass::spread, RowClass::dominated, RowClass::any};
inline constexpr Weighted<RowClass> row_weights[] = {
    {RowClass::alike, 3}, {RowClass::spread, 3}, {RowClass::dominated, 2}, {RowClass::any, 3}, {RowClass::maximal, 2}};

/// Bits of [1, 2) behind the leading one whose digits are all ones (truncated), 127 (balanced), or -128 if negative (balanced).
inline constexpr std::uint64_t maximal_fractions[] = {0xfffffffffffff, 0xfdfdfdfdfdfdf, 0x0101010101010};

/// One number with the largest digits, with any exponent up to e.
template <class T>
T sample_maximal(int e, RandomBits& random) {
  constexpr int precision = Anatomy<T>::precision;
  const auto significand = (std::uint64_t{1} << 52 | random.pick(maximal_fractions)) >> (53 - precision);
  return assemble<T>(significand, e, random.once_in(2));
}

/// A vector of finite numbers. Its largest magnitude is drawn by exponent_weights, or from 2^-9 … 2^9 if `near`. Its members
/// are drawn by row_weights, their significands by significand_weights.
template <class T>
std::vector<T> sample_vector(std::size_t length, bool near, RandomBits& random) {
  const auto kind = random.pick(row_weights);
  const auto exponent_class = near ? ExponentClass::near_one : random.pick(exponent_weights);
  const auto significand_class = random.pick(significand_weights);
  const bool negative = random.once_in(2);
  const T top = near && random.once_in(16) ? T{0} : sample<T>(exponent_class, significand_class, negative, random);
  if (top == 0 || length == 0) return std::vector<T>(length, top);
  const int e = std::ilogb(top);
  if (kind == RowClass::maximal) return std::vector<T>(length, sample_maximal<T>(e, random));
  const auto member = [&](int depth) {
    const auto significand = sample_significand(random.pick(significand_weights), Anatomy<T>::precision, random);
    return assemble<T>(significand, e - depth, random.once_in(2));
  };
  std::vector<T> vector(length, top);
  const auto place = static_cast<std::size_t>(random.below(static_cast<int>(length)));
  for (std::size_t l = 0; l < length; ++l) {
    if (l == place) continue;
    switch (kind) {
      case RowClass::alike: vector[l] = member(random.below(2)); break;
      case RowClass::spread: vector[l] = member(random.below(70)); break;
      case RowClass::dominated: vector[l] = member(random.between(50, 2200)); break;
      case RowClass::any: vector[l] = near ? member(random.below(20)) : sample<T>(random); break;
      case RowClass::maximal: break;
    }
  }
  return vector;
}

}  // namespace ozbound::sampling
