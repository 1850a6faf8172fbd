// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Deterministic cases for all code shared by host and device, and the results of the headers. Every section defines how its
// inputs are drawn and turns the result for one input into a few words. The digest of all words is part of the project's
// promise that inputs and plan fix every bit, on every compiler and every device.

#include <cstdint>
#include <string_view>
#include <vector>

#include "../support/classified.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/exact_dot.hpp"
#include "ozbound/core/digits.hpp"
#include "ozbound/core/special.hpp"

namespace ozbound::mirror {

using test::RandomBits;

inline constexpr int most_words = 12;

/// The result of one case; all words count.
struct Words {
  std::uint64_t word[most_words] = {};
};

/// Tables that cases refer to besides their own Input.
struct Tables {
  const SumLayout* layouts;
  const std::int64_t* sums;
};

template <class Input>
struct Cases {
  std::vector<Input> inputs;
  std::vector<SumLayout> layouts = {};
  std::vector<std::int64_t> sums = {};

  [[nodiscard]] Tables tables() const { return {layouts.data(), sums.data()}; }
};

OZB_HD constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash ^= word + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0x100000001b3;
}

OZB_HD constexpr std::uint64_t word_of(bool flag) { return flag ? 1 : 0; }
OZB_HD constexpr std::uint64_t word_of(std::int64_t number) { return static_cast<std::uint64_t>(number); }

inline std::uint64_t sample_bits(RandomBits& random) { return bits_of(test::sample<double>(random)); }
inline std::uint64_t special_bits(RandomBits& random) { return bits_of(test::sample_with_specials<double>(random)); }

/// Decomposed numbers, and single precision widened.
struct Anatomy {
  static constexpr std::string_view name = "anatomy, widen_bits";
  static constexpr std::uint64_t digest = 0x98ef948b3edc7445;

  struct Input {
    std::uint64_t wide;
    std::uint64_t narrow;
  };

  static Cases<Input> cases() {
    RandomBits random(1);
    Cases<Input> cases;
    for (int i = 0; i < 200000; ++i)
      cases.inputs.push_back({special_bits(random), bits_of(test::sample_with_specials<float>(random))});
    return cases;
  }

  OZB_HD static void write(std::uint64_t bits, Format format, std::uint64_t* out) {
    out[0] = word_of(is_finite(bits, format)) + 2 * word_of(is_nan(bits, format));
    if (!is_finite(bits, format)) return;
    const auto x = to_dyadic(bits, format);
    out[1] = x.magnitude;
    out[2] = word_of(std::int64_t{x.exponent});
    out[3] = word_of(x.negative) + 2 * static_cast<std::uint64_t>(bit_length(x.magnitude));
    out[4] = word_of(std::int64_t{x.top_exponent()});
  }

  OZB_HD static Words evaluate(const Input& input, const Tables&) {
    Words out;
    write(input.wide, binary64, out.word);
    write(input.narrow, binary32, out.word + 5);
    out.word[10] = widen_bits(float_from_bits(input.narrow));
    return out;
  }
};

inline constexpr int encoding_count = 23;

/// The encodings balanced, truncated(1 … 7), nearest(1 … 7), ozimmu(1 … 7), unsigned8.
OZB_HD constexpr Encoding encoding_at(int index) {
  if (index == 0) return Encoding::balanced();
  if (index <= 7) return {Encoding::Kind::truncated, index};
  if (index <= 14) return {Encoding::Kind::nearest, index - 7};
  if (index <= 21) return {Encoding::Kind::ozimmu, index - 14};
  return Encoding::unsigned8();
}

/// The scale of a row of four numbers, in every encoding.
struct Scales {
  static constexpr std::string_view name = "scale exponents";
  static constexpr std::uint64_t digest = 0x9299c8bb7f3395ec;

  struct Input {
    std::uint64_t row[4];
  };

  static Cases<Input> cases() {
    RandomBits random(2);
    Cases<Input> cases;
    for (int i = 0; i < 100000; ++i)
      cases.inputs.push_back({{sample_bits(random), sample_bits(random), sample_bits(random), sample_bits(random)}});
    return cases;
  }

  OZB_HD static Words evaluate(const Input& input, const Tables&) {
    std::uint64_t top = 0;
    for (const auto bits : input.row) {
      const auto magnitude = bits & ~binary64.sign;
      top = magnitude > top ? magnitude : top;
    }
    Words out;
    for (int e = 0; e < encoding_count; ++e)
      out.word[e % 4] = mixed(out.word[e % 4], word_of(std::int64_t{encoding_at(e).scale_exponent(to_dyadic(top, binary64))}));
    return out;
  }
};

/// Digits of an element of a row, all intermediate remainders, and its integer ceiling.
struct Digits {
  static constexpr std::string_view name = "digits, remainders";
  static constexpr std::uint64_t digest = 0x50a7ff857fcbffc6;

  struct Input {
    std::int32_t encoding;
    std::int32_t slices;
    std::uint64_t top;
    std::uint64_t x;
  };

  /// A number no larger than the top: the top itself, its neighbour, one some binades or digits below, or an arbitrary one.
  static std::uint64_t member(std::uint64_t top, RandomBits& random) {
    const auto sign = random.once_in(2) ? binary64.sign : 0;
    const auto magnitude = top & ~binary64.sign;
    switch (random.below(4)) {
      case 0: return magnitude | sign;
      case 1: return (magnitude == 0 ? 0 : magnitude - 1) | sign;
      case 2: break;
      default: {
        const auto any = sample_bits(random) & ~binary64.sign;
        return (any < magnitude ? any : magnitude) | sign;
      }
    }
    const auto e = magnitude == 0 ? -1074 : to_dyadic(magnitude, binary64).top_exponent();
    const auto below = bits_of(test::sample_below<double>(e, random.once_in(4) ? random.below(200) : random.below(60), random));
    return ((below & ~binary64.sign) < magnitude ? below & ~binary64.sign : magnitude) | sign;
  }

  static Cases<Input> cases() {
    RandomBits random(3);
    Cases<Input> cases;
    for (int i = 0; i < 400000; ++i) {
      const auto top = sample_bits(random);
      const int encoding = random.once_in(3) ? 0 : random.below(encoding_count);
      cases.inputs.push_back({encoding, random.between(1, max_slices), top, member(top, random)});
    }
    return cases;
  }

  OZB_HD static Words evaluate(const Input& input, const Tables&) {
    const Slicing slicing{encoding_at(input.encoding), input.slices};
    const auto x = to_dyadic(input.x, binary64);
    const int scale = slicing.encoding.scale_exponent(to_dyadic(input.top, binary64));
    std::int8_t digits[max_slices] = {};
    split(x, slicing, scale, digits);
    Words out;
    const bool floors = slicing.encoding.kind == Encoding::Kind::unsigned8;
    Remainder remainder(x);
    for (int p = 1; p <= slicing.slices; ++p) {
      const int low = scale + slicing.encoding.weight_exponent(p);
      if (!floors) remainder.take(digits[p - 1], low);
      out.word[(p - 1) / 8] = out.word[(p - 1) / 8] << 8 | static_cast<std::uint8_t>(digits[p - 1]);
      out.word[3] = mixed(out.word[3], word_of(remainder.rest));
      out.word[4] = mixed(out.word[4], floors ? floor_tail_upper(x, low, 20) : remainder.magnitude_upper(low - 20));
    }
    out.word[5] = word_of(remainder.rest);
    out.word[6] = word_of(std::int64_t{remainder.exponent});
    out.word[7] = word_of(std::int64_t{scale});
    const int last = scale + slicing.encoding.weight_exponent(slicing.slices);
    out.word[8] = floors ? floor_tail_upper(x, last, 62) : remainder.magnitude_upper(last - 1);
    return out;
  }
};

/// Digits of a row of four numbers whose scale is found anew for each slice, their rest, and products of such digits as
/// floating-point terms, from the largest to those that vanish.
struct AdaptiveDigits {
  static constexpr std::string_view name = "adaptive digits, scaled terms";
  static constexpr std::uint64_t digest = 0x7eca7c464c35dcda;

  struct Input {
    std::int32_t beta;
    std::int32_t slices;
    std::uint64_t row[4];
  };

  static Cases<Input> cases() {
    RandomBits random(11);
    Cases<Input> cases;
    for (int i = 0; i < 100000; ++i) {
      const auto top = sample_bits(random);
      Input input{random.between(1, 7), random.between(1, max_slices), {top, 0, 0, 0}};
      for (int l = 1; l < 4; ++l) input.row[l] = Digits::member(top, random);
      cases.inputs.push_back(input);
    }
    return cases;
  }

  OZB_HD static Words evaluate(const Input& input, const Tables&) {
    const Encoding encoding{Encoding::Kind::nearest_adaptive, input.beta};
    const int scale = encoding.scale_exponent(to_dyadic(input.row[0] & ~binary64.sign, binary64));
    std::int16_t weights[max_slices] = {};
    std::int8_t digits[max_slices] = {};
    Words out;
    for (int p = 1; p <= input.slices; ++p) {
      int top = -5000;
      for (const auto x : input.row) {
        const auto tail = split(to_dyadic(x, binary64), p - 1, scale, weights, digits);
        if (tail.rest != 0 && tail.ceil_log2() > top) top = tail.ceil_log2();
      }
      if (top == -5000) break;
      weights[p - 1] = static_cast<std::int16_t>(top - scale + 1 - input.beta);
      for (const auto x : input.row) {
        const auto tail = split(to_dyadic(x, binary64), p, scale, weights, digits);
        out.word[0] = mixed(out.word[0], word_of(std::int64_t{digits[p - 1]}));
        out.word[1] = mixed(out.word[1], word_of(tail.rest));
        out.word[2] = mixed(out.word[2], tail.magnitude_upper(scale + weights[p - 1] - 16));
        out.word[3] = mixed(out.word[3], bits_of(scaled_term(digits[p - 1] * 4099, 2 * weights[p - 1])));
      }
      out.word[4] = mixed(out.word[4], word_of(std::int64_t{weights[p - 1]}));
    }
    return out;
  }
};

/// A sum of digit products in [-|limit|, |limit|], ends included; limit is a power of two.
inline std::int64_t sample_sum(std::int64_t limit, RandomBits& random) {
  const auto sign = [&random](std::int64_t x) { return random.once_in(2) ? -x : x; };
  const int bits = 63 - std::countl_zero(static_cast<std::uint64_t>(limit));
  switch (random.below(6)) {
    case 0: return 0;
    case 1: return sign(limit);
    case 2: return sign(random.between(1, 2));
    case 3: return sign(static_cast<std::int64_t>(random() >> 33));
    case 4: {
      const auto power = std::int64_t{1} << random.below(bits);
      return sign(power - random.below(2));
    }
    default: return sign(static_cast<std::int64_t>(random() >> (64 - bits)) >> random.below(bits));
  }
}

/// The carry chain without rounding.
struct Chain {
  static constexpr std::string_view name = "chain_diagonals";
  static constexpr std::uint64_t digest = 0xf21c912de8b25059;

  struct Input {
    std::int64_t first;
    std::int32_t stride;
    std::int32_t count;
    std::int32_t radix_bits;
  };

  static Cases<Input> cases() {
    RandomBits random(4);
    Cases<Input> cases;
    for (int i = 0; i < 50000; ++i) {
      const Input input{static_cast<std::int64_t>(cases.sums.size()), random.between(1, 3),
                        random.between(1, 2 * max_slices - 1), random.between(1, 8)};
      const bool extreme = random.once_in(8);
      const auto end = random.once_in(2) ? max_group_sum(Accumulation::exact) : -max_group_sum(Accumulation::exact);
      for (int t = 0; t < input.stride * input.count; ++t)
        cases.sums.push_back(extreme ? end : sample_sum(max_group_sum(Accumulation::exact), random));
      cases.inputs.push_back(input);
    }
    return cases;
  }

  OZB_HD static Words evaluate(const Input& input, const Tables& tables) {
    const auto sum = chain_diagonals(tables.sums + input.first, input.stride, input.count, input.radix_bits);
    Words out;
    for (int i = 0; i < diagonal_limbs; ++i) out.word[i] = sum.magnitude.limb[i];
    out.word[6] = word_of(sum.negative);
    return out;
  }
};

/// One entry of C from sums, alpha, beta, C0 and a bound, for one accumulation: random cases, ties and near-ties, cancellation,
/// results near the least and the largest numbers, terms far apart, and bounds from far below to above the last bit.
template <Accumulation accumulation>
struct CombineCases {
  struct Input {
    std::int64_t first;
    std::int32_t stride;
    std::int32_t layout;
    std::int32_t scale;
    std::int32_t single;
    std::uint64_t alpha;
    std::uint64_t beta;
    std::uint64_t c0;
    std::uint64_t error;
  };

  static void add_layouts(Cases<Input>& cases) {
    for (int a = 1; a <= max_slices; a += a < 9 ? 1 : 5)
      for (const int b : {a, a + 1, 3}) {
        if (b > max_slices) continue;
        for (const int cut : {2, a + 1, a + b}) {
          if (cut > a + b) continue;
          for (const int e : {0, 7, 10, 14}) {
            SplitPlan plan{{encoding_at(e), a}, {encoding_at(e), b}, cut, accumulation};
            cases.layouts.push_back(sum_layout(plan, 1));
          }
        }
      }
  }

  static double unit(RandomBits& random) {
    static constexpr double units[] = {1, 1, 1, -1, 2, 0x1p-10, 3, 0.1, 0};
    return random.pick(units);
  }

  static std::uint64_t bound(int result_top, int scale, RandomBits& random) {
    if (random.once_in(4)) return 0;
    if (random.once_in(16)) return random.once_in(2) ? binary64.inf : binary64.nan;
    const auto significand = test::sample_significand(random.pick(test::significand_classes), 53, random);
    return bits_of(test::assemble<double>(significand, result_top - 53 - scale + random.between(-70, 12), false));
  }

  /// Sum t of a result that is, or almost is, the midpoint of two numbers of `precision` bits (if the scale leaves it normal).
  static std::int64_t near_tie(int t, int count, int precision, RandomBits& random) {
    if (t > 0) return random.once_in(2 * count) ? random.between(-1, 1) : 0;
    const auto significand = test::sample_significand(random.pick(test::significand_classes), precision, random);
    const auto midpoint = static_cast<std::int64_t>(2 * significand | 1);
    return random.once_in(2) ? midpoint : -midpoint;
  }

  /// Exponents of alpha S and of the result, if the leading sum decides. The scale puts the result into an interesting range.
  static Input sample(Cases<Input>& cases, RandomBits& random) {
    Input input{};
    input.first = static_cast<std::int64_t>(cases.sums.size());
    input.stride = random.between(1, 2);
    input.layout = random.below(static_cast<int>(cases.layouts.size()));
    input.single = random.below(2);
    const auto& layout = cases.layouts[static_cast<std::size_t>(input.layout)];
    const auto limit = max_group_sum(accumulation);
    const int precision = input.single != 0 ? 24 : accumulation == Accumulation::exact ? 53 : 52;  // within the limit
    const bool tie = random.once_in(3);
    for (int t = 0; t < layout.count; ++t) {
      const auto sum = tie ? near_tie(t, layout.count, precision, random) : sample_sum(limit, random);
      for (int i = 0; i < input.stride; ++i) cases.sums.push_back(i == 0 ? sum : 77);
    }
    const auto lead = cases.sums[static_cast<std::size_t>(input.first)];
    const auto magnitude = static_cast<std::uint64_t>(lead < 0 ? -lead : lead);
    const int lead_top = bit_length(magnitude) + layout.weight_exponent[0] - 1;
    static constexpr int near[] = {0, -1074, -1022, 1023, -149, -126, 127};
    const int around = random.pick(near);
    const int target = random.once_in(4) ? random.between(-1150, 1030) : around + random.between(-4, 4);
    input.scale = random.once_in(8) ? random.between(-2150, 2050) : target - lead_top;
    input.alpha = bits_of(random.once_in(3) ? test::sample<double>(random) : unit(random));
    input.beta = bits_of(random.once_in(3) ? test::sample<double>(random) : unit(random));
    const auto leading_bits = magnitude == 0 ? 0 : magnitude << std::countl_zero(magnitude) >> 11;
    const auto cancelling = test::assemble<double>(leading_bits, lead_top + input.scale, lead >= 0);
    input.c0 = bits_of(random.once_in(3) ? cancelling : random.once_in(2) ? test::sample<double>(random) : 0.0);
    input.error = bound(lead_top + input.scale, input.scale, random);
    return input;
  }

  static Cases<Input> make(int count, std::uint64_t seed) {
    RandomBits random(seed);
    Cases<Input> cases;
    add_layouts(cases);
    for (int i = 0; i < count; ++i) cases.inputs.push_back(sample(cases, random));
    return cases;
  }

  OZB_HD static Words evaluate(const Input& input, const Tables& tables) {
    const Scalars scalars{to_dyadic(input.alpha, binary64), to_dyadic(input.beta, binary64),
                          input.single != 0 ? Format(binary32) : Format(binary64)};
    const auto result = combine(tables.sums + input.first, input.stride, tables.layouts[input.layout], input.scale, scalars,
                                to_dyadic(input.c0, binary64), double_from_bits(input.error));
    Words out;
    out.word[0] = result.bits;
    out.word[1] = word_of(result.decided);
    return out;
  }
};

struct CombineExact : CombineCases<Accumulation::exact> {
  static constexpr std::string_view name = "combine, exact";
  static constexpr std::uint64_t digest = 0x8f4b1f859af48e2c;
  static Cases<Input> cases() { return make(200000, 5); }
};

struct CombinePerProduct : CombineCases<Accumulation::per_product> {
  static constexpr std::string_view name = "combine, per product";
  static constexpr std::uint64_t digest = 0xb50b81bf25295049;
  static Cases<Input> cases() { return make(25000, 6); }
};

struct CombinePerDiagonal : CombineCases<Accumulation::per_diagonal> {
  static constexpr std::string_view name = "combine, per diagonal";
  static constexpr std::uint64_t digest = 0x87d0d06806e70672;
  static Cases<Input> cases() { return make(50000, 7); }
};

/// NaN, infinities and zeros among a few terms.
struct Specials {
  static constexpr std::string_view name = "special values";
  static constexpr std::uint64_t digest = 0x9a2e3f2c1e5e3f8c;

  struct Input {
    std::uint64_t factors[3][3];
  };

  static std::uint64_t factor(RandomBits& random) {
    static constexpr std::uint64_t usual[] = {0x3ff0000000000000, 0xbff0000000000000, 0, 0x8000000000000000, 0x7ff0000000000000,
                                              0xfff0000000000000, 0x3ff0000000000000, 1};
    return random.once_in(4) ? special_bits(random) : random.pick(usual);
  }

  static Cases<Input> cases() {
    RandomBits random(8);
    Cases<Input> cases;
    for (int i = 0; i < 50000; ++i) {
      Input input;
      for (auto& term : input.factors)
        for (auto& bits : term) bits = factor(random);
      cases.inputs.push_back(input);
    }
    return cases;
  }

  OZB_HD static Words evaluate(const Input& input, const Tables&) {
    SpecialSum sum;
    Words out;
    for (int t = 0; t < 3; ++t) {
      sum.add(input.factors[t][0], input.factors[t][1], input.factors[t][2]);
      out.word[3 * t] = word_of(sum.is_special());
      if (!sum.is_special()) continue;
      out.word[3 * t + 1] = sum.bits(binary64);
      out.word[3 * t + 2] = sum.bits(binary32);
    }
    return out;
  }
};

/// Dot products of every exponent, with cancelling pairs, exact and rounded to both formats.
struct Dots {
  static constexpr std::string_view name = "exact dot products";
  static constexpr std::uint64_t digest = 0xac6d2aa4a519def9;

  static constexpr int terms = 6;
  struct Input {
    std::uint64_t x[terms];
    std::uint64_t y[terms];
    std::uint64_t alpha;
    std::uint64_t beta;
    std::uint64_t c0;
  };

  static Cases<Input> cases() {
    RandomBits random(9);
    Cases<Input> cases;
    for (int i = 0; i < 30000; ++i) {
      Input input;
      for (int l = 0; l < terms; ++l) {
        const bool repeat = l > 0 && random.once_in(2);
        input.x[l] = repeat ? input.x[l - 1] ^ binary64.sign : sample_bits(random);
        input.y[l] = repeat ? input.y[l - 1] : sample_bits(random);
      }
      input.alpha = random.once_in(2) ? bits_of(1.0) : sample_bits(random);
      input.beta = random.once_in(2) ? 0 : sample_bits(random);
      input.c0 = sample_bits(random);
      cases.inputs.push_back(input);
    }
    return cases;
  }

  OZB_HD static Words evaluate(const Input& input, const Tables&) {
    ExactDot dot;
    for (int l = 0; l < terms; ++l) dot.add_product(to_dyadic(input.x[l], binary64), to_dyadic(input.y[l], binary64));
    const auto value = dot.value();
    Words out;
    for (const auto limb : value.magnitude.limb) out.word[0] = mixed(out.word[0], limb);
    out.word[1] = word_of(value.negative);
    const auto c0 = to_dyadic(input.c0, binary64);
    out.word[2] = dot.round({to_dyadic(input.alpha, binary64), to_dyadic(input.beta, binary64), binary64}, c0);
    out.word[3] = dot.round({to_dyadic(input.alpha, binary64), to_dyadic(input.beta, binary64), binary32}, c0);
    return out;
  }
};

/// Calls f.operator()<Section>() for every section.
template <class F>
void for_each_section(F&& f) {
  f.template operator()<Anatomy>();
  f.template operator()<Scales>();
  f.template operator()<Digits>();
  f.template operator()<AdaptiveDigits>();
  f.template operator()<Chain>();
  f.template operator()<CombineExact>();
  f.template operator()<CombinePerProduct>();
  f.template operator()<CombinePerDiagonal>();
  f.template operator()<Specials>();
  f.template operator()<Dots>();
}

template <class Section>
std::vector<Words> evaluate_on_host(const Cases<typename Section::Input>& cases) {
  std::vector<Words> result;
  result.reserve(cases.inputs.size());
  for (const auto& input : cases.inputs) result.push_back(Section::evaluate(input, cases.tables()));
  return result;
}

inline std::uint64_t digest_of(const std::vector<Words>& results) {
  std::uint64_t digest = 0;
  for (const auto& words : results)
    for (const auto word : words.word) digest = mixed(digest, word);
  return digest;
}

}  // namespace ozbound::mirror
