// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/products.hpp"

#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/prepared_operand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <stdexcept>
#include <string>

#include "support/faulty_engine.hpp"

namespace ozbound::prepared_operand_test {
namespace {

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

Target sample_target(bool narrow, test::RandomBits& random) {
  static const char* const texts[] = {"dgemm", "cr", "componentwise:1e-6", "relative:1e-6", "rowcol:1e-5", "normwise:1e-5"};
  static const char* const strict[] = {"relative:1e-13", "componentwise:0x1.1p-53", "relative:0x1p-53"};
  return parse_target(!narrow && random.once_in(3) ? random.pick(strict) : random.pick(texts));
}

/// Puts NaN and infinities in some places, and subnormal numbers in a row of A and a column of B.
void spoil(test::SampleProduct& product, test::RandomBits& random) {
  auto& [recipe, a, b] = product.problem;
  const double inf = std::numeric_limits<double>::infinity();
  const double specials[] = {std::numeric_limits<double>::quiet_NaN(), inf, -inf};
  if (random.once_in(2)) a(random.below(static_cast<int>(product.m())), 0) = random.pick(specials);
  if (random.once_in(2)) b(0, random.below(static_cast<int>(product.n()))) = random.pick(specials);
  for (Index l = 0; l < product.k(); ++l) {
    a(product.m() - 1, l) = 0x1p-1074 * random.below(100);
    b(l, product.n() - 1) = 0x1.8p-1050 * random.below(100);
  }
}

/// Checks that preparing A, B or both gives the same C and the same certificate, member by member.
void expect_nothing_changes(const test::SampleProduct& product, const Decision& decision, double workspace, const char* which) {
  const PreparedOperand a(product.problem.a, Side::rows_of_a, decision, engine());
  const PreparedOperand b(product.problem.b, Side::columns_of_b, decision, engine());
  const auto plain = test::compute_with(product, decision, engine());
  MultiplyOptions options{.workspace = workspace};
  const std::string operands = which;
  if (operands.find('a') != std::string::npos) options.prepared_a = &a;
  if (operands.find('b') != std::string::npos) options.prepared_b = &b;
  const auto prepared = test::compute_with(product, decision, engine(), options);
  ASSERT_TRUE(test::same_bits(prepared.c, plain.c)) << product.describe();
  ASSERT_EQ(to_json(prepared.certificate).dump(1), to_json(plain.certificate).dump(1)) << product.describe();
  for (Index i = 0; i < product.m(); ++i)
    for (Index j = 0; j < product.n(); ++j)
      ASSERT_EQ(bits_of(prepared.certificate.bound.upper(i, j, 1)), bits_of(plain.certificate.bound.upper(i, j, 1)));
}

TEST(PreparedOperand, ChangesNoBitOfTheProductAndItsCertificate) {
  test::RandomBits random(1);
  int refined = 0;
  for (const auto family : all_families())
    for (const double phi : {0.0, 2.0, 6.0})
      for (const char* which : {"a", "b", "ab"}) {
        auto product = test::sample_product(test::sample_recipe(family, phi, 7, random), random);
        if (random.once_in(2)) spoil(product, random);
        const auto target = sample_target(product.narrow, random);
        const auto decision = test::decide_for(product, target, engine());
        refined += decision.method == Method::correctly_rounded || target.kind == Target::Kind::relative ? 1 : 0;
        expect_nothing_changes(product, decision, unlimited_workspace, which);
      }
  EXPECT_GT(refined, 10);
}

/// Prepared residues of the decision's moduli, or of more, change no bit. `relative` and `cr` go on to finer plans, which were
/// not prepared.
TEST(PreparedOperand, ResiduesChangeNoBitOfTheProductAndItsCertificate) {
  test::RandomBits random(5);
  int by_residues = 0;
  for (const auto family : all_families())
    for (const double phi : {0.0, 2.0})
      for (const bool more : {false, true}) {
        auto product = test::sample_product(test::sample_recipe(family, phi, 9, random), random);
        if (random.once_in(2)) spoil(product, random);
        const auto decision = decide(product.stated(), sample_target(product.narrow, random), engine());
        if (!decision.plan || !decision.plan->by_residues()) continue;
        ++by_residues;
        const auto form = [&](Side side) {
          auto residues = std::get<ResidueForm>(decision.plan->form(side));
          if (more) residues.moduli = random.between(residues.moduli, max_moduli);
          return OperandForm(residues);
        };
        const PreparedOperand a(product.problem.a, Side::rows_of_a, form(Side::rows_of_a), engine());
        const PreparedOperand b(product.problem.b, Side::columns_of_b, form(Side::columns_of_b), engine());
        const auto plain = test::compute_with(product, decision, engine());
        for (const auto& options : {MultiplyOptions{.prepared_a = &a}, MultiplyOptions{.prepared_b = &b},
                                    MultiplyOptions{.prepared_a = &a, .prepared_b = &b}}) {
          const auto prepared = test::compute_with(product, decision, engine(), options);
          ASSERT_TRUE(test::same_bits(prepared.c, plain.c)) << product.describe();
          ASSERT_EQ(to_json(prepared.certificate).dump(1), to_json(plain.certificate).dump(1)) << product.describe();
        }
      }
  EXPECT_GT(by_residues, 20);
}

/// Prepared residues keep the guard: too few moduli for the product are refused, and nothing is written.
TEST(PreparedOperand, ResiduesDoNotHoldMoreThanTheyDid) {
  const auto product = test::product_of({Family::uniform, 5, 6, 40, 0, 3});
  const PreparedOperand a(product.problem.a, Side::rows_of_a, ResidueForm{20, 40}, engine());
  Decision decision;
  decision.target = Target::componentwise(1e-6);
  decision.m = 5, decision.n = 6, decision.k = 40;
  Matrix<double> c(5, 6);
  c(2, 2) = 7;
  const auto multiplied = [&](int moduli) {
    decision.plan = ResiduePlan{moduli, 40, 40};
    return multiply({product.problem.a, product.problem.b, c}, decision, engine(), {.prepared_a = &a});
  };
  EXPECT_THAT([&] { (void)multiplied(10); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("with these bits 11 moduli are enough")));
  EXPECT_EQ(c(2, 2), 7);
  EXPECT_TRUE(multiplied(11).holds);
}

TEST(PreparedOperand, ResiduesAreMadeAndMeasuredOnce) {
  test::FaultyEngine counting;
  int made = 0;
  counting.faulty_residues = [&](const Engine& right, InputView operand, Side side, ResidueForm form) {
    made += side == Side::rows_of_a ? 1 : 0;
    return right.prepare(operand, side, form).residues();
  };
  Decision decision;
  decision.target = Target::componentwise(1e-6);
  decision.plan = ResiduePlan{13, 46, 46};
  decision.m = 5, decision.n = 6, decision.k = 9;
  const auto first = test::product_of({Family::uniform, 5, 6, 9, 0, 1});
  const PreparedOperand a(first.problem.a, Side::rows_of_a, ResidueForm{15, 46}, counting);
  for (const unsigned seed : {2u, 3u, 4u}) {
    Matrix<double> c(5, 6);
    const auto b = generate({Family::uniform, 5, 6, 9, 0, seed}).b;
    EXPECT_TRUE(multiply({first.problem.a, b, c}, decision, counting, {.prepared_a = &a}).holds);
  }
  EXPECT_EQ(made, 1);
}

/// A workspace cap must hold the prepared operand whole; only the other operand is cut into blocks.
TEST(PreparedOperand, TheWorkspaceIsKept) {
  test::RandomBits random(2);
  const auto product = test::product_of({Family::wide_exponents, 6, 40, 30, 1, 3});
  const auto decision = test::decide_for(product, Target::dgemm(), engine());
  const PreparedOperand a(product.problem.a, Side::rows_of_a, decision, engine());
  const double least = full_workspace(engine(), *decision.plan, 6, 1, 30);
  expect_nothing_changes(product, decision, least, "a");
  expect_nothing_changes(product, decision, full_workspace(engine(), *decision.plan, 1, 40, 30), "b");
  EXPECT_THROW(test::compute_with(product, decision, engine(), {.workspace = least - 1, .prepared_a = &a}),
               std::invalid_argument);
}

/// Under a cap, `cr` refines open entries with plans that may lack room for the whole prepared operand, and no bit changes.
TEST(PreparedOperand, RefinementUnderACapChangesNoBit) {
  auto product = test::product_of({Family::cancellation, 12, 12, 12, 2, 5});
  Decision decision;
  decision.method = Method::correctly_rounded;
  decision.target = Target::correctly_rounded();
  decision.plan = SplitPlan::balanced(20, 2, 22);  // the next plan has as many slices of A
  decision.m = decision.n = decision.k = 12;
  const PreparedOperand a(product.problem.a, Side::rows_of_a, decision, engine());
  const double least = full_workspace(engine(), *decision.plan, 12, 1, 12);
  const auto plain = test::compute_with(product, decision, engine(), {.workspace = least});
  ASSERT_GT(plain.certificate.plans.size() + static_cast<std::size_t>(plain.certificate.exact), 1u);
  const auto prepared = test::compute_with(product, decision, engine(), {.workspace = least, .prepared_a = &a});
  EXPECT_TRUE(test::same_bits(prepared.c, plain.c));
}

TEST(PreparedOperand, IsSlicedAndMeasuredOnce) {
  test::FaultyEngine counting;
  int sliced = 0, measured = 0;
  const Slicing in_plan{Encoding::balanced(), 8};  // other slicings are the enclosure's; empty operands only show the layout
  counting.faulty_slice = [&](const Engine& right, InputView operand, Side side, Slicing slicing) {
    sliced += side == Side::rows_of_a && slicing == in_plan && !operand.empty() ? 1 : 0;
    return right.slice(operand, side, slicing);
  };
  counting.faulty_measure = [&](const Engine& right, InputView operand, Side side, Slicing slicing) {
    measured += side == Side::rows_of_a && slicing == in_plan ? 1 : 0;
    return right.measure(operand, side, slicing);
  };
  Decision decision;
  decision.plan = SplitPlan::balanced(8, 9, 10);
  decision.m = 5, decision.n = 6, decision.k = 9;
  const auto first = test::product_of({Family::uniform, 5, 6, 9, 0, 1});
  const PreparedOperand a(first.problem.a, Side::rows_of_a, decision, counting);
  for (const unsigned seed : {2u, 3u, 4u}) {
    Matrix<double> c(5, 6);
    const auto b = generate({Family::uniform, 5, 6, 9, 0, seed}).b;
    EXPECT_TRUE(multiply({first.problem.a, b, c}, decision, counting, {.prepared_a = &a}).holds);
  }
  EXPECT_EQ(sliced, 1);
  EXPECT_EQ(measured, 1);
}

/// A decision without slices takes an operand prepared without slices, and operands that are not read are not checked.
TEST(PreparedOperand, WithoutSlices) {
  test::RandomBits random(4);
  auto product = test::product_of({Family::uniform, 3, 4, 5, 0, 6});
  Decision decision;
  decision.method = Method::exact;
  decision.m = 3, decision.n = 4, decision.k = 5;
  expect_nothing_changes(product, decision, unlimited_workspace, "ab");
  product.alpha = 0;
  decision.method = Method::one_plan, decision.plan = SplitPlan::balanced(2, 2, 3);
  expect_nothing_changes(product, decision, unlimited_workspace, "ab");
}

TEST(PreparedOperand, WhatDoesNotFitIsRefused) {
  const auto product = test::product_of({Family::uniform, 8, 8, 8, 0, 7});
  const auto other = product;
  const Matrix<float> floats(8, 8);
  Decision decision;
  decision.plan = SplitPlan::balanced(3, 4, 5);
  decision.m = decision.n = decision.k = 8;
  const auto refused = [&](const InputView& operand, Side side, const Decision& for_decision, const std::string& message,
                           const Engine& slicer = engine()) {
    const PreparedOperand prepared(operand, side, for_decision, slicer);
    Matrix<double> c(8, 8);
    c(2, 2) = 7;
    EXPECT_THAT(
        [&] { (void)multiply({product.problem.a, product.problem.b, c}, decision, engine(), {.prepared_a = &prepared}); },
        testing::ThrowsMessage<std::invalid_argument>(message));
    EXPECT_EQ(c(2, 2), 7) << "C was written";
  };
  const auto& a = product.problem.a;
  auto exact = decision, more = decision, nearest = decision;
  exact.method = Method::exact, exact.plan.reset();
  auto plan = decision.plan->split();
  plan.a.slices = 5, more.plan = plan;
  plan = decision.plan->split();
  plan.a.encoding = Encoding::nearest(7), nearest.plan = plan;
  refused(a, Side::columns_of_b, decision, "prepared_a was prepared as b");
  refused(other.problem.a, Side::rows_of_a, decision, "prepared_a is another matrix than the operand");
  refused(floats, Side::rows_of_a, decision, "prepared_a is another matrix than the operand");
  refused(InputView(a).transposed(), Side::rows_of_a, decision, "prepared_a is another matrix than the operand");
  refused(InputView(a).block(0, 0, 3, 8), Side::rows_of_a, decision, "prepared_a is another matrix than the operand");
  refused(a, Side::rows_of_a, more, "prepared_a has 5 slices, balanced, where the decision takes 3 slices, balanced");
  refused(a, Side::rows_of_a, nearest, "prepared_a has 3 slices, nearest7, where the decision takes 3 slices, balanced");
  refused(a, Side::rows_of_a, exact, "prepared_a has neither slices nor residues, where the decision takes 3 slices, balanced");
  auto residues = decision;
  residues.plan = ResiduePlan{13, 40, 41};
  refused(a, Side::rows_of_a, residues,
          "prepared_a has residues of 40 bits, 13 moduli, where the decision takes 3 slices, balanced");
  decision.plan = residues.plan;
  const auto takes = std::string(", where the decision takes residues of 40 bits, 13 moduli");
  refused(a, Side::rows_of_a, more, "prepared_a has 5 slices, balanced" + takes);
  residues.plan = ResiduePlan{12, 40, 41};
  refused(a, Side::rows_of_a, residues, "prepared_a has residues of 40 bits, 12 moduli" + takes);
  residues.plan = ResiduePlan{14, 41, 41};
  refused(a, Side::rows_of_a, residues, "prepared_a has residues of 41 bits, 14 moduli" + takes);
  residues.plan = decision.plan;
  refused(a, Side::columns_of_b, residues, "prepared_a was prepared as b");
  const CpuEngine by_fours({.threads = 1, .inner_block = 4, .kernel = &find_kernel("portable")});
  refused(a, Side::rows_of_a, decision, "prepared_a was made by an engine with other options", by_fours);
  for (const ResidueForm& wrong : {ResidueForm{1, 40}, ResidueForm{21, 40}, ResidueForm{13, 0}, ResidueForm{13, 121}})
    EXPECT_THROW(PreparedOperand(a, Side::rows_of_a, wrong, engine()), std::invalid_argument);
  EXPECT_THROW(PreparedOperand(a, Side::rows_of_a, Slicing{Encoding::balanced(), 21}, engine()), std::invalid_argument);
}

TEST(Workspace, OfADecision) {
  Decision decision;
  decision.m = 30, decision.n = 40, decision.k = 50;
  const auto plan = SplitPlan::balanced(4, 5, 6), finest = SplitPlan::balanced(20, 20, 21);
  EXPECT_EQ(workspace_of(decision, engine()).full, 0);
  decision.plan = plan;
  EXPECT_EQ(workspace_of(decision, engine()).least, least_workspace(engine(), plan, 50));
  EXPECT_EQ(workspace_of(decision, engine()).full, full_workspace(engine(), plan, 30, 40, 50));
  decision.method = Method::correctly_rounded;
  EXPECT_EQ(workspace_of(decision, engine()).least, least_workspace(engine(), plan, 50));
  EXPECT_EQ(workspace_of(decision, engine()).full, full_workspace(engine(), finest, 30, 40, 50));
  decision.method = Method::one_plan, decision.target = Target::relative(1e-3);
  EXPECT_EQ(workspace_of(decision, engine()).least, least_workspace(engine(), finest, 50));
}

TEST(Workspace, OfAnEmptyProduct) {
  Decision decision;
  decision.plan = SplitPlan::balanced(4, 5, 6);
  EXPECT_GE(workspace_of(decision, engine()).full, workspace_of(decision, engine()).least);
}

/// `least` is accepted as a cap and anything smaller refused, for every method.
TEST(Workspace, LeastIsEnoughAndNoLessIs) {
  for (const auto& target : {Target::dgemm(), Target::correctly_rounded(), Target::relative(1e-9)}) {
    const auto product = test::product_of({Family::wide_exponents, 6, 7, 30, 1, 3});
    const auto decision = test::decide_for(product, target, engine());
    const double least = workspace_of(decision, engine()).least;
    EXPECT_TRUE(test::compute_with(product, decision, engine(), {.workspace = least}).certificate.holds);
    EXPECT_THROW(test::compute_with(product, decision, engine(), {.workspace = least - 1}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace ozbound::prepared_operand_test
