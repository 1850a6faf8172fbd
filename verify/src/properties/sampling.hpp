// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/split_plan.hpp"
#include "ozbound/verify/number_classes.hpp"
#include "ozbound/verify/storage.hpp"

// Draws the parts of a case: plans, ways of working, storage, operands, scalars.

namespace ozbound::case_sampling {

using namespace sampling;

/// The classes for drawing an encoding. The short ones have one to six bits.
enum class EncodingClass {
  balanced,
  truncated7,
  nearest7,
  ozimmu7,
  short_truncated,
  short_nearest,
  short_ozimmu,
  unsigned8,
  adaptive
};
inline constexpr Weighted<EncodingClass> encoding_weights[] = {
    {EncodingClass::balanced, 4},     {EncodingClass::truncated7, 2},      {EncodingClass::nearest7, 2},
    {EncodingClass::ozimmu7, 1},      {EncodingClass::short_truncated, 1}, {EncodingClass::short_nearest, 1},
    {EncodingClass::short_ozimmu, 1}, {EncodingClass::unsigned8, 2},       {EncodingClass::adaptive, 2}};

enum class CutClass {
  full,      ///< every pair
  diagonal,  ///< max(s_A, s_B) + 1: the triangle
  first,     ///< 2: one product
  any,
};
inline constexpr Weighted<CutClass> cut_weights[] = {
    {CutClass::full, 3}, {CutClass::diagonal, 2}, {CutClass::first, 1}, {CutClass::any, 3}};

inline constexpr Weighted<Accumulation> accumulation_weights[] = {
    {Accumulation::exact, 2}, {Accumulation::per_product, 1}, {Accumulation::per_diagonal, 1}};

inline Encoding sample_encoding(RandomBits& random) {
  const int bits = random.between(1, 6);
  switch (random.pick(encoding_weights)) {
    case EncodingClass::truncated7: return Encoding::truncated(7);
    case EncodingClass::nearest7: return Encoding::nearest(7);
    case EncodingClass::ozimmu7: return Encoding::ozimmu(7);
    case EncodingClass::short_truncated: return Encoding::truncated(bits);
    case EncodingClass::short_nearest: return Encoding::nearest(bits);
    case EncodingClass::short_ozimmu: return Encoding::ozimmu(bits);
    case EncodingClass::adaptive: return Encoding::nearest_adaptive(random.once_in(2) ? 7 : bits);
    case EncodingClass::unsigned8: return Encoding::unsigned8();
    case EncodingClass::balanced: break;
  }
  return Encoding::balanced();
}

inline int sample_cut(int slices_a, int slices_b, RandomBits& random) {
  switch (random.pick(cut_weights)) {
    case CutClass::full: return slices_a + slices_b;
    case CutClass::diagonal: return std::max(slices_a, slices_b) + 1;
    case CutClass::first: return 2;
    case CutClass::any: break;
  }
  return random.between(2, slices_a + slices_b);
}

/// Any encoding of a radix.
inline Encoding of_radix(int beta, RandomBits& random) {
  std::vector<Encoding> encodings;
  for (const auto& encoding : all_encodings())
    if (encoding.beta == beta) encodings.push_back(encoding);
  return encodings[static_cast<std::size_t>(random.below(static_cast<int>(encodings.size())))];
}

/// The plan with exact accumulation. Such accumulation needs a common ratio, so nearest replaces nearest_adaptive.
inline SplitPlan exactly(SplitPlan plan) {
  for (auto* const encoding : {&plan.a.encoding, &plan.b.encoding})
    if (!encoding->common_ratio()) *encoding = Encoding::nearest(encoding->beta);
  plan.accumulation = Accumulation::exact;
  return plan;
}

/// Any valid plan; at most `most_slices` slices on either side.
inline SplitPlan sample_plan(RandomBits& random, int most_slices = max_slices) {
  SplitPlan plan;
  plan.a.encoding = plan.b.encoding = sample_encoding(random);
  if (random.once_in(2)) plan.b.encoding = of_radix(plan.a.encoding.beta, random);
  plan.a.slices = random.between(1, most_slices);
  plan.b.slices = random.between(1, most_slices);
  if (random.once_in(4)) plan.b = plan.a;  // as in published methods
  plan.cut = sample_cut(plan.a.slices, plan.b.slices, random);
  plan.accumulation = random.pick(accumulation_weights);
  if (!plan.common_ratio()) plan.accumulation = Accumulation::per_product;
  return plan;
}

/// The plan with at most the bits that it holds for any operands of inner dimension k. |a'| <= 2^bits_a, and the guard's norms,
/// in units of 2^-16 of the scale and with the effect of rounding, are at most 5/4 of that. If k uses up all bits, a plan with
/// more moduli.
inline ResiduePlan held(ResiduePlan plan, Index k) {
  const auto most = [k](int moduli) {
    return ResidueBase::of(moduli).half.bits() - 2 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(k)));
  };
  while (most(plan.moduli) < 2) ++plan.moduli;
  while (plan.bits_a + plan.bits_b > most(plan.moduli)) --(plan.bits_a > plan.bits_b ? plan.bits_a : plan.bits_b);
  return plan;
}

/// Any number of moduli, mostly with as many bits as they hold, divided between both operands evenly or not.
inline ResiduePlan sample_residue_plan(RandomBits& random, Index k) {
  ResiduePlan plan{random.between(2, max_moduli), most_residue_bits, most_residue_bits};
  if (random.once_in(3)) plan.bits_a = random.between(1, most_residue_bits);
  if (random.once_in(3)) plan.bits_b = random.between(1, most_residue_bits);
  plan = held(plan, k);
  if (random.once_in(4)) plan.bits_a = random.between(1, plan.bits_a);
  return plan;
}

/// Any way of working. None may affect the result.
inline CpuEngine::Options sample_options(RandomBits& random) {
  constexpr Index blocks[] = {0, 1, 2, 3, 7, 64, 1000000};
  constexpr Index tiles[] = {0, 1, 2, 3, 5, 8};
  CpuEngine::Options options;
  options.threads = random.between(1, 3);
  options.inner_block = random.pick(blocks);
  options.row_tile = random.pick(tiles);
  options.column_tile = random.pick(tiles);
  return options;
}

inline Storage sample_storage(bool single, RandomBits& random) {
  Storage storage{single, random.once_in(2), 0};
  if (random.once_in(2)) storage.padding = random.between(1, 5);
  return storage;
}

/// Calls set(vector, member, value) for the vectors of a rows x cols operand: its rows, or its columns.
template <class T, class Set>
void sample_vectors(Index rows, Index cols, Side side, bool near, RandomBits& random, const Set& set) {
  const bool by_rows = side == Side::rows_of_a;
  for (Index i = 0; i < (by_rows ? rows : cols); ++i) {
    const auto vector = sample_vector<T>(static_cast<std::size_t>(by_rows ? cols : rows), near, random);
    for (Index l = 0; l < (by_rows ? cols : rows); ++l)
      set(by_rows ? i : l, by_rows ? l : i, static_cast<double>(vector[static_cast<std::size_t>(l)]));
  }
}

/// Fills an operand with finite vectors of every class, as rows or as columns.
template <class Set>
void sample_operand(Index rows, Index cols, bool single, Side side, bool near, RandomBits& random, const Set& set) {
  if (single)
    sample_vectors<float>(rows, cols, side, near, random, set);
  else
    sample_vectors<double>(rows, cols, side, near, random, set);
}

/// An infinity of either sign or a NaN.
inline double sample_special(RandomBits& random) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double specials[] = {inf, -inf, inf, -inf, std::numeric_limits<double>::quiet_NaN()};
  return random.pick(specials);
}

/// A value of alpha or beta: mostly ordinary, but of every class.
inline double sample_scalar(RandomBits& random) {
  const double usual[] = {1, -1, 0, 1, -1, 0.5, 3, -0x1.5555555555555p-2};
  if (!random.once_in(3)) return random.pick(usual);
  return random.once_in(2) ? sample<double>(ExponentClass::near_one, SignificandClass::uniform, random.once_in(2), random)
                           : sample<double>(random);
}

enum class ShapeClass {
  scalar,  ///< 1 x 1 x 1
  empty,   ///< one of m, n, k is 0
  row,     ///< m = 1
  column,  ///< n = 1
  inner,   ///< k = 1: an outer product
  skinny,  ///< m, n <= 2, k up to nine times the largest size
  odd,     ///< m, n, k odd
  any,
};
inline constexpr Weighted<ShapeClass> shape_weights[] = {
    {ShapeClass::scalar, 1}, {ShapeClass::empty, 1},  {ShapeClass::row, 1}, {ShapeClass::column, 1},
    {ShapeClass::inner, 1},  {ShapeClass::skinny, 2}, {ShapeClass::odd, 2}, {ShapeClass::any, 4}};

struct Shape {
  Index m, n, k;
};

inline Shape sample_shape(Index largest, RandomBits& random) {
  const auto most = static_cast<int>(largest);
  const auto kind = random.pick(shape_weights);
  Shape shape{random.between(1, most), 0, 0};
  shape.n = random.between(1, most);
  shape.k = random.between(1, 3 * most);
  const int vanishing = random.below(3);
  switch (kind) {
    case ShapeClass::scalar: return {1, 1, 1};
    case ShapeClass::empty: (vanishing == 0 ? shape.m : vanishing == 1 ? shape.n : shape.k) = 0; break;
    case ShapeClass::row: shape.m = 1; break;
    case ShapeClass::column: shape.n = 1; break;
    case ShapeClass::inner: shape.k = 1; break;
    case ShapeClass::skinny: shape = {std::min<Index>(shape.m, 2), std::min<Index>(shape.n, 2), 3 * shape.k}; break;
    case ShapeClass::odd: shape = {shape.m | 1, shape.n | 1, shape.k | 1}; break;
    case ShapeClass::any: break;
  }
  return shape;
}

}  // namespace ozbound::case_sampling
