// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/panel_slices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "ozbound/core/slice_facts.hpp"
#include "properties/sliced_pair.hpp"
#include "support/exact.hpp"
#include "support/gemm_calls.hpp"
#include "support/stored_matrix.hpp"

namespace ozbound::panel_slices_test {
namespace {

using test::cpp_int;
using test::Exact;
using test::RandomBits;
using test::StoredMatrix;

constexpr Side sides[] = {Side::rows_of_a, Side::columns_of_b};
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Element l of vector i.
double element(const StoredMatrix& operand, Side side, Index i, Index l) {
  return side == Side::rows_of_a ? operand.value(i, l) : operand.value(l, i);
}

/// The exponent e of rho by docs/derivations/slicing.md (S1)-(S3), (S8), from the vector's largest magnitude.
int scale_by_definition(const std::vector<Exact>& vector, const Encoding& encoding) {
  Exact top;
  for (const auto& x : vector) top = std::max(top, x.magnitude());
  return properties::scale_exponent(encoding, top);
}

std::vector<Exact> exact_vector(const StoredMatrix& operand, Side side, Index i) {
  const Index length = side == Side::rows_of_a ? operand.cols() : operand.rows();
  std::vector<Exact> vector;
  for (Index l = 0; l < length; ++l) vector.emplace_back(element(operand, side, i, l));
  return vector;
}

Slicing sample_slicing(RandomBits& random) {
  const auto encodings = common_ratio_encodings();
  return {encodings[static_cast<std::size_t>(random.below(static_cast<int>(encodings.size())))], random.between(1, max_slices)};
}

StoredMatrix sample_operand(Side side, Index rows, Index cols, RandomBits& random) {
  StoredMatrix operand(rows, cols, test::sample_storage(random.once_in(3), random));
  test::fill(operand, side, random.once_in(2), random);
  return operand;
}

std::string describe(const StoredMatrix& operand, Side side, Slicing slicing) {
  return std::string(side == Side::rows_of_a ? "rows of " : "columns of ") + std::to_string(operand.rows()) + " x " +
         std::to_string(operand.cols()) + (operand.storage().single ? " floats, " : " doubles, ") +
         to_string(slicing.encoding) + " x " + std::to_string(slicing.slices);
}

PanelLayout sample_layout(RandomBits& random) {
  constexpr Index steps[] = {4, 4, 32, 64};
  const Index step = random.pick(steps), multiple = step * random.between(1, 2);
  return {random.between(1, 9), random.between(1, random.once_in(4) ? 200 : 12), step, multiple, random.once_in(2)};
}

/// The sum of diagonal g, from the bytes that lie side by side in each block of both panels.
std::int64_t dot_of_bytes(const PanelSlices& a, const PanelSlices& b, Index i, Index j, int g) {
  const int first = std::max(1, g - b.slicing().slices), pairs = std::min(a.slicing().slices, g - 1) - first + 1;
  const Index panel_a = i / a.layout().vectors, panel_b = j / b.layout().vectors;
  const auto byte = [](const PanelSlices& x, const std::int8_t* digits, Index panel, Index vector, Index l) {
    const Index step = x.layout().step;
    const auto stored = digits[l / step * step * x.panel_vectors(panel) + vector % x.layout().vectors * step + l % step];
    return x.layout().unsigned_bytes ? stored & 0xff : stored;
  };
  std::int64_t sum = 0;
  for (Index block = 0; block < a.blocks(); ++block) {
    const Index length = a.block_digits(block);
    for (Index l = 0; l < pairs * length; ++l) {
      const int p = first + static_cast<int>(l / length), q = g - p;
      const int x = byte(a, a.digits(panel_a, block, first), panel_a, i, l);
      const int y = byte(b, b.digits(panel_b, block, g - first), panel_b, j, l);
      sum += (x - a.offset(p)) * (y - b.offset(q));
    }
  }
  return sum;
}

/// Each digit lies in its slice and is split()'s for the vector's scale, for operands of every kind, storage and type.
RC_GTEST_PROP(PanelSlicesTest, HoldsTheDigitsOfEveryElement, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 20; ++repetition) {
    const auto side = random.pick(sides);
    const auto operand = sample_operand(side, random.below(5), random.below(8), random);
    const auto slicing = sample_slicing(random);
    const PanelSlices sliced(operand.input(), side, slicing, random.between(1, 3), sample_layout(random));
    const auto complain = [&](const std::string& what) { RC_FAIL(what + ": " + describe(operand, side, slicing)); };
    if (sliced.side() != side || sliced.slicing() != slicing) complain("side or slicing");
    if (sliced.count() != (side == Side::rows_of_a ? operand.rows() : operand.cols())) complain("count");
    if (sliced.inner_dimension() != (side == Side::rows_of_a ? operand.cols() : operand.rows())) complain("inner dimension");
    for (Index i = 0; i < sliced.count(); ++i) {
      if (sliced.special(i)) complain("a finite vector called special");
      const int scale = scale_by_definition(exact_vector(operand, side, i), slicing.encoding);
      if (sliced.exponent(i) != scale) complain("exponent of vector " + std::to_string(i));
      for (int p = 1; p <= slicing.slices; ++p) {
        std::int64_t sum = 0;
        for (Index l = 0; l < sliced.inner_dimension(); ++l) sum += sliced.digit(i, p, l);
        if (sliced.sum_of_digits(i, p) != sum) complain("the sum of digits " + std::to_string(p));
      }
      for (Index l = 0; l < sliced.inner_dimension(); ++l) {
        std::int8_t digits[max_slices];
        split(to_dyadic(element(operand, side, i, l)), slicing, scale, digits);
        for (int p = 1; p <= slicing.slices; ++p)
          if (sliced.digit(i, p, l) != slicing.encoding.digit(p, digits[p - 1]))
            complain("digit " + std::to_string(p) + " of element " + std::to_string(l));
      }
    }
  }
}

/// A's slices are stored in order and B's in reverse, so any diagonal is one dot product of bytes in each block, apart from the
/// offsets with which bytes are stored.
RC_GTEST_PROP(PanelSlicesTest, ADiagonalIsOneDotProduct, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 20; ++repetition) {
    const auto plan = test::sample_plan(random, 7);
    const Index k = random.between(1, 19), m = random.between(1, 5), n = random.between(1, 5);
    const auto a = sample_operand(Side::rows_of_a, m, k, random);
    const auto b = sample_operand(Side::columns_of_b, k, n, random);
    auto layout = sample_layout(random);
    const PanelSlices sliced_a(a.input(), Side::rows_of_a, plan.a, 1, layout);
    layout.vectors = random.between(1, 5), layout.unsigned_bytes = random.once_in(2);
    if (layout.step == 64 || layout.multiple % 64 == 0) layout.step = random.once_in(2) ? 4 : 64;
    const PanelSlices sliced_b(b.input(), Side::columns_of_b, plan.b, 1, layout);
    const test::PlanReference reference(a.input(), b.input(), plan);
    for (int g = 2; g <= plan.a.slices + plan.b.slices; ++g)
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) RC_ASSERT(dot_of_bytes(sliced_a, sliced_b, i, j, g) == reference.diagonal_sum(i, j, g));
  }
}

TEST(PanelSlicesTest, EveryByteBelongsToADigit) {
  const Matrix<double> operand(3, 9);
  const PanelSlices a(operand, Side::rows_of_a, {Encoding::balanced(), 4}, 1, {2, 8});
  const PanelSlices b(operand, Side::columns_of_b, {Encoding::unsigned8(), 4}, 1, {8, 100});
  EXPECT_EQ(a.blocks(), 2);
  EXPECT_EQ(a.block_digits(0), 8);
  EXPECT_EQ(a.block_digits(1), 4);  // the ninth digit, followed by zeros
  EXPECT_EQ(b.blocks(), 1);
  EXPECT_EQ(b.panel_vectors(1), 1);
  for (int p = 1; p < 4; ++p) {
    EXPECT_EQ(a.digits(0, 0, p + 1) - a.digits(0, 0, p), 2 * 8);
    EXPECT_EQ(a.digits(1, 1, p + 1) - a.digits(1, 1, p), 1 * 4);
    EXPECT_EQ(b.digits(0, 0, p) - b.digits(0, 0, p + 1), 8 * 4);
  }
  EXPECT_EQ(a.digits(0, 1, 1) - a.digits(0, 0, 4), 2 * 8);
  EXPECT_EQ(a.digits(1, 0, 1) - a.digits(0, 1, 4), 2 * 4);
  EXPECT_EQ(b.digits(1, 0, 4) - b.digits(0, 0, 1), 8 * 4);
  for (Index v = 0; v < 2; ++v)
    for (Index l = 8; l < 12; ++l) EXPECT_EQ(a.digits(0, 1, 1)[(l - 8) + 4 * v], 0);
}

TEST(PanelSlicesTest, LayoutsArePositive) {
  const Matrix<double> operand(3, 9);
  const auto sliced = [&](PanelLayout layout) { PanelSlices(operand, Side::rows_of_a, {Encoding::balanced(), 4}, 1, layout); };
  EXPECT_THAT([&] { sliced({0, 8}); }, testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("vectors")));
  EXPECT_THAT([&] { sliced({1, 0}); }, testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("block")));
  for (const Index step : {-32, 0, 1, 8, 33})
    EXPECT_THAT([&] { sliced({1, 8, step, 64}); }, testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("step")));
  for (const Index multiple : {Index{-64}, Index{0}, Index{4}, Index{96}, Index{1} << 24})
    EXPECT_THAT([&] { sliced({1, 8, 64, multiple}); },
                testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("multiple")));
}

/// A block is a whole multiple of the kernel's step, no longer than the operand, and INT32 holds the sum of its digits.
TEST(PanelSlicesTest, BlocksAreMultiplesThatInt32Holds) {
  constexpr Index longest = Index{1} << 40;
  const auto block = [](Index wanted, Index multiple, Index inner) {
    return PanelLayout{1, wanted, multiple == 4 ? 4 : 32, multiple}.of(inner).block;
  };
  EXPECT_EQ(block(1024, 4, longest), 1024);
  EXPECT_EQ(block(1000, 64, longest), 1024);
  EXPECT_EQ(block(1024, 64, 65), 128);
  EXPECT_EQ(block(1, 64, 0), 64);
  for (const Index multiple : {Index{4}, Index{64}, Index{96}, PanelLayout::most_block - 32, PanelLayout::most_block}) {
    const Index most = block(longest, multiple, longest);
    EXPECT_EQ(most % multiple, 0) << multiple;
    EXPECT_LE(255 * most, std::numeric_limits<std::int32_t>::max()) << multiple;
    EXPECT_GT(most + multiple, PanelLayout::most_block) << multiple;
  }
}

/// A vector with a NaN or an infinity is flagged and its digits are zero; its neighbours keep theirs.
TEST(PanelSlicesTest, SpecialsAreFlaggedAndLeaveTheirNeighboursAlone) {
  RandomBits random(5);
  for (int repetition = 0; repetition < 60; ++repetition) {
    const auto side = random.pick(sides);
    const bool single = random.once_in(2);
    StoredMatrix operand(4, 4, test::sample_storage(single, random));
    test::fill(operand, side, false, random);
    const auto slicing = sample_slicing(random);
    const PanelSlices clean(operand.input(), side, slicing, 1);
    const Index special = random.below(4);
    const Index place = random.below(4);
    const double specials[] = {inf, -inf, nan, -nan};
    side == Side::rows_of_a ? operand.set(special, place, random.pick(specials))
                            : operand.set(place, special, random.pick(specials));
    const PanelSlices sliced(operand.input(), side, slicing, 2);
    const auto scales = vector_scales(operand.input(), side, slicing.encoding, 2);
    for (Index i = 0; i < 4; ++i) {
      ASSERT_EQ(sliced.special(i), i == special);
      ASSERT_EQ(scales[static_cast<std::size_t>(i)].special, i == special);
      ASSERT_EQ(scales[static_cast<std::size_t>(i)].exponent, sliced.exponent(i));
      ASSERT_EQ(sliced.exponent(i), i == special ? 0 : clean.exponent(i));
      for (int p = 1; p <= slicing.slices; ++p)
        for (Index l = 0; l < 4; ++l) ASSERT_EQ(sliced.digit(i, p, l), i == special ? 0 : clean.digit(i, p, l));
    }
  }
}

/// NaNs of any payload and sign, also signalling ones, are special in double and float.
TEST(PanelSlicesTest, EveryNaNIsSpecial) {
  for (const std::uint64_t bits : {0x7ff0000000000001u, 0x7ff8000000000000u, 0x7fffffffffffffffu})
    for (const std::uint64_t sign : {std::uint64_t{0}, binary64.sign}) {
      const double x[] = {1, double_from_bits(bits | sign)};
      EXPECT_TRUE(vector_scales(row_major(x, 1, 2, 2), Side::rows_of_a, Encoding::balanced(), 1)[0].special);
    }
  for (const std::uint64_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u}) {
    const float x[] = {1, float_from_bits(bits)};
    EXPECT_TRUE(vector_scales(row_major(x, 1, 2, 2), Side::rows_of_a, Encoding::balanced(), 1)[0].special);
  }
}

/// Digits and facts depend only on the values, not on type, storage or the number of threads.
TEST(PanelSlicesTest, ThreadsStorageAndTypeDoNotMatter) {
  RandomBits random(6);
  for (const auto side : sides) {
    StoredMatrix operand(13, 11, {.single = true});
    test::fill(operand, side, false, random);
    for (const auto& encoding : all_encodings()) {
      const Slicing slicing{encoding, random.between(1, max_slices)};
      const PanelSlices expected(operand.input(), side, slicing, 1);
      const SliceFacts expected_facts(operand.input(), side, slicing, 1);
      for (const int threads : {1, 2, 3, 7})
        for (const bool single : {true, false})
          for (const bool column_major : {true, false}) {
            const auto other = test::stored(operand, {single, column_major, 3});
            const PanelSlices sliced(other.input(), side, slicing, threads, sample_layout(random));
            const SliceFacts facts(other.input(), side, slicing, threads);
            for (Index i = 0; i < sliced.count(); ++i) {
              ASSERT_EQ(sliced.exponent(i), expected.exponent(i));
              for (int p = 1; p <= slicing.slices; ++p)
                for (Index l = 0; l < sliced.inner_dimension(); ++l) ASSERT_EQ(sliced.digit(i, p, l), expected.digit(i, p, l));
              const auto& x = facts.vectors[static_cast<std::size_t>(i)];
              const auto& y = expected_facts.vectors[static_cast<std::size_t>(i)];
              ASSERT_EQ(x.vector.sum_squares, y.vector.sum_squares);
              ASSERT_EQ(x.floor_squares, y.floor_squares);
              ASSERT_EQ(x.tails.back().sum, y.tails.back().sum);
              ASSERT_EQ(x.slices.front().sum, y.slices.front().sum);
            }
          }
    }
  }
}

TEST(PanelSlicesTest, AMatrixWithoutElements) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}})
    for (const auto side : sides) {
      const Matrix<double> operand(rows, cols);
      const PanelSlices sliced(operand, side, {Encoding::balanced(), 7}, 2);
      const SliceFacts facts(operand, side, {Encoding::balanced(), 7}, 2);
      EXPECT_EQ(sliced.count(), side == Side::rows_of_a ? rows : cols);
      EXPECT_EQ(facts.vectors.size(), static_cast<std::size_t>(sliced.count()));
      for (Index i = 0; i < sliced.count(); ++i) {
        EXPECT_EQ(sliced.exponent(i), 0);
        EXPECT_FALSE(sliced.special(i));
      }
    }
}

TEST(PanelSlicesTest, RefusesImpossibleSliceCounts) {
  const Matrix<double> operand(2, 2);
  for (const int slices : {-1, 0, max_slices + 1}) {
    const Slicing slicing{Encoding::balanced(), slices};
    const auto names_slices = testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("slices"));
    EXPECT_THAT(([&] { PanelSlices(operand, Side::rows_of_a, slicing, 1); }), names_slices);
    EXPECT_THAT(([&] { SliceFacts(operand, Side::rows_of_a, slicing, 1); }), names_slices);
  }
}

/// One element viewed 2 x 2^60 times is refused before anything is read, as its digits exceed the address space.
TEST(PanelSlicesTest, RefusesMoreDigitsThanCanBeAddressed) {
  const double one = 1;
  const MatrixView<const double> view(&one, 2, Index{1} << 60, 0, 0);
  EXPECT_THROW(PanelSlices(view, Side::rows_of_a, {Encoding::balanced(), 7}, 1), std::length_error);
}

TEST(PanelSlicesTest, BytesCountTheDigits) {
  const Slicing balanced{Encoding::balanced(), 7}, adaptive{Encoding::nearest_adaptive(7), 7};
  EXPECT_GE(PanelSlices::bytes(3, 100, balanced), 3 * 100 * 7);
  EXPECT_LE(PanelSlices::bytes(3, 100, balanced), 3 * (100 * 7 + 4 * 7 + 16));
  EXPECT_EQ(PanelSlices::bytes(3, 100, adaptive) - PanelSlices::bytes(3, 100, balanced), 3 * 7 * sizeof(std::int16_t));
  EXPECT_GE(PanelSlices::bytes(Index{1} << 31, Index{1} << 31, {Encoding::balanced(), 20}), 20 * 0x1p62);
}

// Facts.

/// Norms as exact integers.
struct ExactNorms {
  cpp_int sum = 0, sum_squares = 0, max = 0;

  void add(const cpp_int& x) {
    sum += x;
    sum_squares += x * x;
    max = std::max(max, x);
  }
  [[nodiscard]] bool same(const IntegerNorms& norms) const {
    return norms.sum == sum && norms.sum_squares == sum_squares && norms.max == max && norms.zero() == (max == 0);
  }
};

cpp_int ceiling_in_units(const Exact& x, int e) { return -test::floor_in_units(-x, e); }

/// The first fact of a vector that disagrees with exact arithmetic.
std::string wrong_fact(const VectorFacts& facts, const std::vector<Exact>& vector, const Slicing& slicing, int scale) {
  ExactNorms whole;
  cpp_int floor_squares = 0;
  std::vector<ExactNorms> slices(static_cast<std::size_t>(slicing.slices));
  auto tails = slices;
  for (const auto& x : vector) {
    const auto unit = scale - 16;
    whole.add(ceiling_in_units(x.magnitude(), unit));
    const auto floor = test::floor_in_units(x.magnitude(), unit);
    floor_squares += floor * floor;
    std::int8_t digits[max_slices];
    split(to_dyadic(test::rounded<double>(x)), slicing, scale, digits);
    auto rest = x;
    for (int p = 1; p <= slicing.slices; ++p) {
      const int weight = scale + (slicing.encoding.kind == Encoding::Kind::truncated ? 0 : 1) - slicing.encoding.beta * p;
      const int digit = slicing.encoding.digit(p, digits[p - 1]);
      rest = rest - Exact{digit, weight};
      slices[static_cast<std::size_t>(p - 1)].add(std::abs(digit));
      tails[static_cast<std::size_t>(p - 1)].add(ceiling_in_units(rest.magnitude(), weight - 16));
    }
  }
  if (facts.scale.exponent != scale || facts.scale.special) return "scale";
  if (!whole.same(facts.vector)) return "norms of the vector";
  if (facts.floor_squares != floor_squares) return "squares from below";
  for (std::size_t p = 0; p < slices.size(); ++p) {
    if (!slices[p].same(facts.slices[p])) return "norms of slice " + std::to_string(p + 1);
    if (!tails[p].same(facts.tails[p])) return "norms of tail " + std::to_string(p + 1);
  }
  return facts.slices.size() == slices.size() && facts.tails.size() == tails.size() ? "" : "number of slices";
}

/// The norms of digits are exact; the norms of |x| and of the rest after p slices are rounded up in units of 2^-16 weights.
RC_GTEST_PROP(SliceFactsTest, NormsAreThoseOfTheDefinition, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 20; ++repetition) {
    const auto side = random.pick(sides);
    const auto operand = sample_operand(side, random.between(1, 4), random.between(1, 8), random);
    const auto slicing = sample_slicing(random);
    const SliceFacts facts(operand.input(), side, slicing, random.between(1, 3));
    RC_ASSERT(facts.slicing == slicing);
    for (std::size_t i = 0; i < facts.vectors.size(); ++i) {
      const auto vector = exact_vector(operand, side, static_cast<Index>(i));
      const auto wrong = wrong_fact(facts.vectors[i], vector, slicing, scale_by_definition(vector, slicing.encoding));
      if (!wrong.empty()) RC_FAIL(wrong + " of vector " + std::to_string(i) + ": " + describe(operand, side, slicing));
    }
  }
}

/// Numbers that are difficult for balanced digits: significands of long carries and ties, at scales of ten kinds.
double hard_number(int kind, RandomBits& random) {
  constexpr double significands[] = {1,
                                     0x1.fffffffffffffp-1,
                                     0x1.0000000000001p0,
                                     0x1.FDp0,
                                     0x1.fcfffffffffffp0,
                                     0x1.fd00000000001p0,
                                     0x1.fdfdfdfdfdfdfp0,
                                     0x1.0101010101010p0,
                                     0x1.0080808080808p0,
                                     0x1.00808080p0,
                                     0x1.8p0,
                                     0x1.fffffffffffffp0};
  const double x = random.once_in(3) ? random.pick(significands) : 1 + std::ldexp(static_cast<double>(random() >> 12), -52);
  const double sign = random.once_in(2) ? 1 : -1;
  switch (kind) {
    case 0: return sign * random.pick(significands);
    case 1: return sign * x;
    case 2: return random.once_in(4) ? 0 : sign * std::ldexp(x, random.between(-8, 0));
    case 3: return sign * std::ldexp(x, random.between(-90, 900));
    case 4: return sign * std::ldexp(x, random.between(-1074, 1023));
    case 5: return sign * std::ldexp(x, random.between(-1074, -1010));
    case 6: return sign * std::ldexp(static_cast<double>(random.between(0, 40)), -1074);
    case 7: return random.once_in(100) ? sign * x : 0;
    case 8: return sign * std::ldexp(x, random.once_in(3) ? 0 : random.between(-1074, -30));
    default: return sign * std::ldexp(x, random.between(-200, -100));
  }
}

/// Long vectors have the norms of the definition. Each has numbers of one kind, stored as doubles or floats; there are more
/// than a block of elements, blocks that are not full, more vectors than a tile, and a special vector among them.
TEST(SliceFactsTest, LongVectorsHaveTheNormsOfTheDefinition) {
  RandomBits random(3);
  constexpr Index count = 12, special = 11, length = 523;
  for (const int slices : {1, 2, 3, 6, 7, 8, 9, 16, 17})
    for (const auto side : sides) {
      const bool single = slices == 3 || slices == 9;
      const bool rows = side == Side::rows_of_a;
      StoredMatrix operand(rows ? count : length, rows ? length : count, test::sample_storage(single, random));
      for (Index i = 0; i < count; ++i)
        for (Index l = 0; l < length; ++l) {
          const auto hard = hard_number(static_cast<int>(i % 10), random);
          const double x = single ? static_cast<float>(std::clamp(hard, -0x1p127, 0x1p127)) : hard;
          operand.set(rows ? i : l, rows ? l : i, x);
        }
      operand.set(rows ? special : 400, rows ? 400 : special, nan);
      const Slicing slicing{Encoding::balanced(), slices};
      const SliceFacts facts(operand.input(), side, slicing, 2);
      for (Index i = 0; i < count; ++i) {
        const auto& measured = facts.vectors[static_cast<std::size_t>(i)];
        ASSERT_EQ(measured.scale.special, i == special);
        if (i == special) continue;
        const auto vector = exact_vector(operand, side, i);
        ASSERT_EQ(wrong_fact(measured, vector, slicing, scale_by_definition(vector, slicing.encoding)), "")
            << "vector " << i << ": " << describe(operand, side, slicing);
      }
      ASSERT_TRUE(facts.vectors[special].vector.zero());
    }
}

/// If s slices hold integers exactly, the facts show a zero residual; with one slice less they show a residual.
TEST(SliceFactsTest, ResidualsThatVanishAreSeenToVanish) {
  RandomBits random(8);
  for (const auto& encoding : common_ratio_encodings())
    for (int bits = 1; bits <= 53; bits += 4) {
      // The odd integer 2^bits - 1 beside smaller odd ones: rho is 2^bits or 2^(bits+1), so the unit needs these digits.
      const double top = std::ldexp(1.0, bits) - 1;
      const Matrix<double> row = test::matrix_of({{top, -top, 1, -1, std::floor(top / 3) * 2 + (bits > 2 ? 1 : 0)}});
      const int scale = scale_by_definition(exact_vector(test::stored(row), Side::rows_of_a, 0), encoding);
      const int lead = encoding.kind == Encoding::Kind::truncated ? 0 : 1;
      const int needed = (scale + lead + encoding.beta - 1) / encoding.beta;
      if (needed > max_slices) continue;
      const SliceFacts facts(row, Side::rows_of_a, {encoding, max_slices}, 1);
      for (int p = 1; p <= max_slices; ++p)
        EXPECT_EQ(facts.vectors[0].tails[static_cast<std::size_t>(p - 1)].zero(), p >= needed)
            << to_string(encoding) << ", " << bits << " bits, " << p << " slices";
    }
}

TEST(SliceFactsTest, SpecialVectorsHaveNoFacts) {
  const auto operand = test::matrix_of({{1, inf}, {nan, 2}, {3, 4}});
  const SliceFacts facts(operand, Side::rows_of_a, {Encoding::nearest(7), 3}, 1);
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_TRUE(facts.vectors[i].scale.special);
    EXPECT_TRUE(facts.vectors[i].vector.zero());
    EXPECT_EQ(facts.vectors[i].slices.size(), 3u);
  }
  EXPECT_FALSE(facts.vectors[2].scale.special);
  EXPECT_FALSE(facts.vectors[2].vector.zero());
}

/// Sums of squares saturate at 2^64 - 1 and never wrap to a smaller value.
TEST(SliceFactsTest, SumsOfSquaresSaturate) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t large = 0xffffffff;
  IntegerNorms norms;
  norms.add(large);
  EXPECT_EQ(norms.sum_squares, large * large);
  norms.add(1);
  EXPECT_EQ(norms.sum_squares, large * large + 1);
  norms.add(large);
  EXPECT_EQ(norms.sum_squares, most);
  norms.add(0);
  EXPECT_EQ(norms.sum_squares, most);
  norms.add(7);
  EXPECT_EQ(norms.sum_squares, most);
  EXPECT_EQ(norms.sum, 2 * large + 8);
  EXPECT_EQ(norms.max, large);
  IntegerNorms exactly;
  exactly.sum_squares = most - 16;
  exactly.add(4);
  EXPECT_EQ(exactly.sum_squares, most);
  IntegerNorms wider;
  wider.add(std::uint64_t{1} << 32);
  EXPECT_EQ(wider.sum_squares, most);
}

/// Adaptive slices follow Algorithm 5 of Uchino, Ozaki, Imamura: weights from the largest tail of the vector, digits by these
/// weights, and facts in their units, also if a tail vanishes or is a thousand binades smaller.
RC_GTEST_PROP(AdaptiveSlicesTest, FindTheScaleAnew, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 20; ++repetition) {
    const auto side = random.pick(sides);
    const auto operand = sample_operand(side, random.below(5), random.below(8), random);
    const Slicing slicing{Encoding::nearest_adaptive(random.between(1, 7)), random.between(1, max_slices)};
    const PanelSlices sliced(operand.input(), side, slicing, random.between(1, 3));
    const SliceFacts facts(operand.input(), side, slicing, random.between(1, 3));
    for (Index i = 0; i < sliced.count(); ++i) {
      const auto vector = exact_vector(operand, side, i);
      const int scale = scale_by_definition(vector, slicing.encoding);
      RC_ASSERT(sliced.exponent(i) == scale);
      const auto weights = properties::weights_by_definition(vector, slicing, scale);
      const auto& known = facts.vectors[static_cast<std::size_t>(i)];
      std::vector<ExactNorms> digit_norms(static_cast<std::size_t>(slicing.slices)), tails = digit_norms;
      for (std::size_t l = 0; l < vector.size(); ++l) {
        const auto digits = properties::digits_by_definition(vector[l], slicing, scale, &weights);
        auto rest = vector[l];
        for (std::size_t p = 0; p < weights.size(); ++p) {
          const int slice = static_cast<int>(p) + 1, weight = scale + weights[p];
          RC_ASSERT(sliced.weight_exponent(i, slice) == weights[p]);
          RC_ASSERT(known.weight_exponent(slicing.encoding, slice) == weights[p]);
          RC_ASSERT(weights[p] <= slicing.encoding.weight_exponent(slice));
          RC_ASSERT(sliced.digit(i, slice, static_cast<Index>(l)) == digits[p]);
          rest = rest - Exact{digits[p], weight};
          digit_norms[p].add(std::abs(digits[p]));
          tails[p].add(ceiling_in_units(rest.magnitude(), weight - 16));
        }
      }
      for (std::size_t p = 0; p < weights.size(); ++p) {
        RC_ASSERT(digit_norms[p].same(known.slices[p]));
        RC_ASSERT(tails[p].same(known.tails[p]));
      }
    }
  }
}

/// Adaptive slices skip empty ones: the digits of an element far below the other begin at once, where a common ratio would
/// leave a thousand binades of zeros.
TEST(AdaptiveSlicesTest, SkipWhatIsEmpty) {
  const Matrix<double> row = test::matrix_of({{1, 0x1.8p-1000}});
  const PanelSlices sliced(row, Side::rows_of_a, {Encoding::nearest_adaptive(7), 4}, 1);
  const int weights[] = {-6, -1005, -1012, -1019}, first[] = {64, 0, 0, 0}, second[] = {0, 48, 0, 0};
  for (int p = 1; p <= 4; ++p) {
    EXPECT_EQ(sliced.weight_exponent(0, p), weights[p - 1]);
    EXPECT_EQ(sliced.digit(0, p, 0), first[p - 1]);
    EXPECT_EQ(sliced.digit(0, p, 1), second[p - 1]);
  }
}

}  // namespace
}  // namespace ozbound::panel_slices_test
