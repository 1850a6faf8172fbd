// SPDX-License-Identifier: BSD-3-Clause
// Every property can fail: each of these engines has one fault.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "ozbound/verify/check.hpp"
#include "properties/regressions.hpp"
#include "support/faulty_engine.hpp"

namespace ozbound::faults_test {
namespace {

using test::FaultyEngine;

/// Slices subnormal numbers as zeros.
FaultyEngine flushing() {
  FaultyEngine engine;
  engine.faulty_slice = [](const Engine& right, InputView operand, Side side, Slicing slicing) {
    Matrix<double> flushed(operand.rows(), operand.cols());
    for (Index i = 0; i < operand.rows(); ++i)
      for (Index j = 0; j < operand.cols(); ++j) {
        const double x = double_from_bits(operand.bits(i, j));
        flushed(i, j) = std::fpclassify(x) == FP_SUBNORMAL ? 0 : x;
      }
    return right.slice(flushed, side, slicing);
  };
  return engine;
}

/// Slices the next number away from zero, so midpoints are rounded away from zero.
FaultyEngine breaking_ties() {
  FaultyEngine engine;
  engine.faulty_slice = [](const Engine& right, InputView operand, Side side, Slicing slicing) {
    Matrix<double> moved(operand.rows(), operand.cols());
    for (Index i = 0; i < operand.rows(); ++i)
      for (Index j = 0; j < operand.cols(); ++j) {
        const double x = double_from_bits(operand.bits(i, j));
        int exponent = 0;
        const bool is_power = std::abs(std::frexp(x, &exponent)) == 0.5;  // the scale of such a number would change
        moved(i, j) = x == 0 || !std::isfinite(x) || is_power ? x : std::nextafter(x, 2 * x);
      }
    return right.slice(moved, side, slicing);
  };
  return engine;
}

/// Reports no residual after the last slice.
FaultyEngine seeing_no_tails() {
  FaultyEngine engine;
  engine.faulty_measure = [](const Engine& right, InputView operand, Side side, Slicing slicing) {
    auto facts = right.measure(operand, side, slicing);
    for (auto& vector : facts.vectors) vector.tails.back() = {};
    return facts;
  };
  return engine;
}

/// Slices subnormal numbers as zeros where the caller does not round to nearest.
FaultyEngine computing_as_its_caller() {
  auto engine = flushing();
  engine.faulty_slice = [flushed = engine.faulty_slice](const Engine& right, InputView operand, Side side, Slicing slicing) {
    return std::fegetround() == FE_TONEAREST ? right.slice(operand, side, slicing) : flushed(right, operand, side, slicing);
  };
  return engine;
}

/// Leaves upward rounding behind after slicing.
FaultyEngine leaving_a_mode_behind() {
  FaultyEngine engine;
  engine.faulty_slice = [](const Engine& right, InputView operand, Side side, Slicing slicing) {
    auto sliced = right.slice(operand, side, slicing);
    std::fesetround(FE_UPWARD);
    return sliced;
  };
  return engine;
}

/// Forgets the last term if the number of terms is odd.
FaultyEngine missing_the_last_term() {
  FaultyEngine engine;
  engine.falsify_sums = [](const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                           std::vector<Matrix<std::int64_t>>& sums) {
    const Index last = a.inner_dimension() - 1;
    const auto groups = plan.groups(a.inner_dimension());
    for (std::size_t t = 0; last % 2 == 0 && t < groups.size(); ++t)
      for (Index i = 0; i < a.count(); ++i)
        for (Index j = 0; j < b.count(); ++j)
          for (int p = groups[t].first_a; p <= groups[t].last_a; ++p)
            sums[t](i, j) -= a.digit(i, p, last) * b.digit(j, groups[t].diagonal - p, last);
  };
  return engine;
}

/// Wraps sums around at 2^31.
FaultyEngine wrapping() {
  FaultyEngine engine;
  engine.falsify_sums = [](const SlicedMatrix&, const SlicedMatrix&, const SplitPlan&,
                           std::vector<Matrix<std::int64_t>>& sums) {
    for (auto& sum : sums)
      for (Index t = 0; t < sum.rows() * sum.cols(); ++t) sum.data()[t] = static_cast<std::int32_t>(sum.data()[t]);
  };
  return engine;
}

/// Wraps sums around at 2^7.
FaultyEngine wrapping_at_a_byte() {
  FaultyEngine engine;
  engine.falsify_sums = [](const SlicedMatrix&, const SlicedMatrix&, const SplitPlan&,
                           std::vector<Matrix<std::int64_t>>& sums) {
    for (auto& sum : sums)
      for (Index t = 0; t < sum.rows() * sum.cols(); ++t) sum.data()[t] = static_cast<std::int8_t>(sum.data()[t]);
  };
  return engine;
}

/// Sets the last sums of every plan to zero.
FaultyEngine losing_the_last_sums() {
  FaultyEngine engine;
  engine.falsify_sums = [](const SlicedMatrix&, const SlicedMatrix&, const SplitPlan&,
                           std::vector<Matrix<std::int64_t>>& sums) {
    sums.back() = Matrix<std::int64_t>(sums.back().rows(), sums.back().cols());
  };
  return engine;
}

/// Truncates integers instead of rounding them: slices the elements with all bits below the last one cleared.
FaultyEngine cutting_integers() {
  FaultyEngine engine;
  engine.faulty_residues = [](const Engine& right, InputView operand, Side side, ResidueForm form) {
    const auto vectors = vectors_of(operand, side);
    Matrix<double> cut(operand.rows(), operand.cols());
    for (Index i = 0; i < vectors.rows(); ++i) {
      int scale = 0;
      double top = 0;
      for (Index l = 0; l < vectors.cols(); ++l) top = std::max(top, std::abs(double_from_bits(vectors.bits(i, l))));
      if (top != 0) std::frexp(top, &scale);
      for (Index l = 0; l < vectors.cols(); ++l) {
        const double x = double_from_bits(vectors.bits(i, l));
        const double kept = form.bits < 50 ? std::ldexp(std::trunc(std::ldexp(x, form.bits - scale)), scale - form.bits) : x;
        (side == Side::rows_of_a ? cut(i, l) : cut(l, i)) = kept;
      }
    }
    return right.prepare(cut, side, form).residues();
  };
  return engine;
}

/// Makes C' wrong by P where it is negative, as if the range were 0 ... P - 1.
FaultyEngine recovering_positive_integers() {
  FaultyEngine engine;
  engine.falsify_recovered = [](const ResiduePlan& plan, std::vector<Matrix<std::int64_t>>& groups) {
    if (plan.moduli > 5) return;  // only plans with one group
    std::int64_t p = 1;
    for (int t = 0; t < plan.moduli; ++t) p *= residue_moduli[t];
    for (auto& group : groups)
      for (Index t = 0; t < group.rows() * group.cols(); ++t)
        if (group.data()[t] < 0) group.data()[t] += p;
  };
  return engine;
}

/// Makes C' wrong by one where it is large.
FaultyEngine recovering_nearly() {
  FaultyEngine engine;
  engine.falsify_recovered = [](const ResiduePlan&, std::vector<Matrix<std::int64_t>>& groups) {
    for (Index t = 0; t < groups.back().rows() * groups.back().cols(); ++t)
      if (groups.front().data()[t] > 1 << 10) groups.back().data()[t] += 1;
  };
  return engine;
}

/// Flips a bit in every third column of C made from residues.
FaultyEngine misrounding_residues() {
  FaultyEngine engine;
  engine.falsify_c_of_residues = [](OutputView c) {
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); j += 3) test::flip(c, i, j);
  };
  return engine;
}

/// Halves the norms, so the guard accepts sums that wrap, and the bounds are too small.
FaultyEngine halving_norms() {
  FaultyEngine engine;
  engine.faulty_measure = [](const Engine& right, InputView operand, Side side, Slicing slicing) {
    auto facts = right.measure(operand, side, slicing);
    for (auto& vector : facts.vectors) {
      vector.vector.sum /= 2, vector.vector.sum_squares /= 4;
      vector.vector.max = (vector.vector.max + 1) / 2;
    }
    return facts;
  };
  return engine;
}

/// Lets Ziv's test decide every entry.
FaultyEngine sure_of_itself() {
  FaultyEngine engine;
  engine.faulty_multiply = [](const Engine& right, const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                              Epilogue epilogue, OutputView c) {
    epilogue.error = nullptr;
    return right.multiply(a, b, plan, epilogue, c);
  };
  return engine;
}

/// Applies alpha after rounding.
FaultyEngine rounding_twice() {
  FaultyEngine engine;
  engine.faulty_multiply = [](const Engine& right, const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                              Epilogue epilogue, OutputView c) {
    const double alpha = epilogue.alpha;
    if (epilogue.beta == 0) epilogue.alpha = 1;
    auto open = right.multiply(a, b, plan, epilogue, c);
    const auto* wide = std::get_if<0>(&c.typed());
    for (Index i = 0; wide != nullptr && epilogue.beta == 0 && i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j) (*wide)(i, j) *= alpha;
    return open;
  };
  return engine;
}

/// Overwrites an entry with `value` where `wrong` is true.
template <class Wrong>
FaultyEngine writing(std::uint64_t value, Wrong wrong) {
  FaultyEngine engine;
  engine.faulty_multiply = [value, wrong](const Engine& right, const SlicedMatrix& a, const SlicedMatrix& b,
                                          const SplitPlan& plan, const Epilogue& epilogue, OutputView c) {
    auto open = right.multiply(a, b, plan, epilogue, c);
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j)
        if (wrong(a, b, c.as_input().bits(i, j), i, j)) c.set_bits(i, j, value);
    return open;
  };
  return engine;
}

/// Adds the old C even if beta = 0.
FaultyEngine reading_c() {
  FaultyEngine engine;
  engine.faulty_multiply = [](const Engine& right, const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                              const Epilogue& epilogue, OutputView c) {
    Matrix<double> held(c.rows(), c.cols());
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j) held(i, j) = double_from_bits(c.as_input().bits(i, j));
    auto open = right.multiply(a, b, plan, epilogue, c);
    for (Index i = 0; epilogue.beta == 0 && i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j)
        if (std::isfinite(held(i, j)) && held(i, j) != 0) test::flip(c, i, j);
    return open;
  };
  return engine;
}

bool column_major(const OutputView& c) {
  return std::visit([](const auto& view) { return view.row_stride() == 1 && view.rows() > 1; }, c.typed());
}

struct Fault {
  std::string property, fault;
  FaultyEngine engine;
};

std::vector<Fault> faults() {
  using Digits = SlicedMatrix;
  const auto even = [](const Digits& a, const Digits&, const OutputView&, Index, Index) {
    return a.inner_dimension() % 2 == 0;
  };
  const auto first = [](const Digits&, const Digits&, const OutputView&, Index i, Index j) { return i == 0 && j == 0; };
  const auto last_column = [](const Digits&, const Digits&, const OutputView& c, Index, Index j) {
    return j > 0 && j + 1 == c.cols();
  };
  const auto columns = [](const Digits&, const Digits&, const OutputView& c, Index, Index) { return column_major(c); };
  const auto leads_negative = [](const Digits& a, const Digits&, const OutputView&, Index i, Index) {
    return a.inner_dimension() > 0 && a.digit(i, 1, 0) < 0;
  };
  const auto odd_exponent = [](const Digits& a, const Digits&, const OutputView&, Index i, Index) {
    return a.exponent(i) % 2 != 0;
  };
  const auto negative = [](const Digits&, const Digits&, const OutputView& c, Index i, Index j) {
    return (c.as_input().bits(i, j) & binary64.sign) != 0;
  };
  const auto beside_special = [](const Digits& a, const Digits&, const OutputView&, Index i, Index) {
    return i > 0 && a.special(i - 1);
  };
  const auto special = [](const Digits& a, const Digits&, std::uint64_t, Index i, Index) { return a.special(i); };
  const auto zero = [](const Digits&, const Digits&, std::uint64_t bits, Index, Index) { return bits == 0; };
  return {{"exact-splitting", "subnormals are flushed", flushing()},
          {"exact-splitting", "midpoints are rounded away from zero", breaking_ties()},
          {"exact-splitting", "tails are not measured", seeing_no_tails()},
          {"bounds-hold", "tails are not measured", seeing_no_tails()},
          {"error-free-products", "an odd last term is forgotten", missing_the_last_term()},
          {"error-free-products", "sums wrap around at 2^31", wrapping()},
          {"residue-products-error-free", "integers are cut off", cutting_integers()},
          {"residue-products-error-free", "C' is off by one where it is large", recovering_nearly()},
          {"no-wrap", "norms are half of what they are", halving_norms()},
          {"no-wrap", "C' is not negative", recovering_positive_integers()},
          {"reconstruction-exact", "C' is not negative", recovering_positive_integers()},
          {"reconstruction-exact", "integers are cut off", cutting_integers()},
          {"reconstruction-exact", "a bit of C is wrong", misrounding_residues()},
          {"certificates", "a bit of C is wrong", misrounding_residues()},
          {"residue-bound", "norms are half of what they are", halving_norms()},
          {"any-engine", "integers are cut off", cutting_integers()},
          {"rounded-once", "alpha is applied to a rounded product", rounding_twice()},
          {"rounded-once", "the last diagonal is left out", test::dropping_the_last_diagonal()},
          {"bounds-hold", "the last diagonal is left out", test::dropping_the_last_diagonal()},
          {"targets-met", "the last diagonal is left out", test::dropping_the_last_diagonal()},
          {"certificates", "tails are not measured", seeing_no_tails()},
          {"certificates", "the last diagonal is left out", test::dropping_the_last_diagonal()},
          {"certificates", "a rounding mode is left behind", leaving_a_mode_behind()},
          {"certificates", "nothing is undecided", sure_of_itself()},
          {"correct-rounding", "nothing is undecided", sure_of_itself()},
          {"exact-zero", "zero is negative", writing(binary64.sign, zero)},
          {"any-engine", "a bit is wrong at even k", test::flipping(even)},
          {"any-engine", "subnormals are flushed", flushing()},
          {"any-workspace", "a bit is wrong in every block", test::flipping(first)},
          {"any-storage", "a bit is wrong in column-major results", test::flipping(columns)},
          {"any-environment", "subnormals are flushed in some rounding modes", computing_as_its_caller()},
          {"any-environment", "a rounding mode is left behind", leaving_a_mode_behind()},
          {"inner-permutation", "a bit depends on the first digit", test::flipping(leads_negative)},
          {"transposition", "a bit is wrong in the last column", test::flipping(last_column)},
          {"row-column-scaling", "a bit is wrong at odd exponents", test::flipping(odd_exponent)},
          {"inner-scaling", "nothing is undecided", sure_of_itself()},
          {"blocks-of-c", "a bit is wrong in every block", test::flipping(first)},
          {"sign", "a bit of negative results is wrong", test::flipping(negative)},
          {"inner-zeros", "a bit is wrong at even k", test::flipping(even)},
          {"special-values", "special rows are written", writing(bits_of(1.0), special)},
          {"special-neighbours", "a bit is wrong below special rows", test::flipping(beside_special)},
          {"unread-operands", "beta = 0 reads C", reading_c()},
          {"complex-products", "integer sums wrap around at 2^7", wrapping_at_a_byte()},
          {"complex-products", "a bit is wrong in column-major results", test::flipping(columns)},
          {"complex-rounding", "nothing is undecided", sure_of_itself()},
          {"complex-targets", "tails are not measured", seeing_no_tails()},
          {"complex-targets", "the last sums are lost", losing_the_last_sums()},
          {"complex-certificates", "a bit is wrong in column-major results", test::flipping(columns)}};
}

CheckOptions options() {
  CheckOptions options;
  options.seconds = 30;
  options.cases = 400;
  options.seed = 1;
  options.replayed = {test::regressions()};
  return options;
}

TEST(Faults, EveryPropertyFindsOne) {
  std::set<std::string> falsified;
  for (const auto& [property, fault, engine] : faults()) {
    const auto result = check(find_property(property), engine, options());
    EXPECT_FALSE(result.holds()) << property << ": " << fault;
    if (!result.holds()) {
      EXPECT_THAT(result.counterexample->explanation, testing::HasSubstr("plan ")) << property;
      falsified.insert(property);
    }
  }
  for (const auto& property : all_properties()) EXPECT_TRUE(falsified.contains(property.name)) << property.name;
}

/// `bounds-hold` judges each claim: lost digits exceed a bound of their plan before any certificate is examined.
TEST(Faults, LostDigitsExceedTheBoundOfTheirPlan) {
  FaultyEngine engine;
  engine.faulty_slice = [](const Engine& right, InputView operand, Side side, Slicing slicing) {
    return right.slice(Matrix<double>(operand.rows(), operand.cols()), side, slicing);
  };
  GemmCase one;
  one.a.values = one.b.values = one.c0.values = Matrix<double>(1, 1);
  one.a.values(0, 0) = one.b.values(0, 0) = 1;
  one.plan = SplitPlan::balanced(2, 2, 3);
  const auto wrong = judge(find_property("bounds-hold"), one, engine);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_THAT(*wrong, testing::StartsWith("the bound a-priori fails at entry (0, 0)"));
}

/// `bounds-hold` judges the enclosure of |A||B|: without its integer product the enclosure ends below the exact value.
TEST(Faults, AnEnclosureBelowTheProductIsSeen) {
  FaultyEngine engine;
  engine.falsify_sums = [](const SlicedMatrix&, const SlicedMatrix&, const SplitPlan&,
                           std::vector<Matrix<std::int64_t>>& sums) {
    for (auto& sum : sums) sum = Matrix<std::int64_t>(sum.rows(), sum.cols());
  };
  GemmCase one;
  one.a.values = Matrix<double>(1, 8);
  one.b.values = Matrix<double>(8, 1);
  one.c0.values = Matrix<double>(1, 1);
  std::fill_n(one.a.values.data(), 8, 1.0);
  std::fill_n(one.b.values.data(), 8, 1.0);
  one.plan = SplitPlan::balanced(2, 2, 3);
  const auto wrong = judge(find_property("bounds-hold"), one, engine);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_THAT(*wrong, testing::StartsWith("|A||B| at (0, 0) is outside of ["));
}

/// `certificates` judges entry by entry: in a product of ones it finds an entry made infinite, and one that is slightly wrong.
TEST(Faults, CertificatesAreJudgedEntryByEntry) {
  const auto any = [](const SlicedMatrix&, const SlicedMatrix&, std::uint64_t, Index, Index) { return true; };
  GemmCase one;
  one.a.values = one.b.values = one.c0.values = Matrix<double>(1, 1);
  one.a.values(0, 0) = one.b.values(0, 0) = 1;
  const auto found = [&](double written) { return judge(find_property("certificates"), one, writing(bits_of(written), any)); };
  EXPECT_THAT(found(1), testing::Eq(std::nullopt));
  EXPECT_THAT(found(INFINITY).value_or(""),
              testing::HasSubstr("C(0, 0) is inf (0x7ff0000000000000), not finite; rounded once"));
  EXPECT_THAT(found(1 + 0x1p-52).value_or(""), testing::HasSubstr("is beyond its bound"));
}

/// The cases on file find INT32 overflow, which drawn cases cannot reach.
TEST(Faults, OverflowIsOnFile) {
  const auto result = check(find_property("error-free-products"), wrapping(), options());
  ASSERT_FALSE(result.holds());
  EXPECT_GT(result.counterexample->gemm_case.k(), 20000);
  EXPECT_EQ(result.drawn, 0);
}

}  // namespace
}  // namespace ozbound::faults_test
