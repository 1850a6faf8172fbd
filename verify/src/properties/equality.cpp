// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/verify/number_classes.hpp"
#include "properties/case_product.hpp"
#include "properties/integers.hpp"
#include "properties/properties.hpp"
#include "properties/sampling.hpp"

// Inputs and plan determine every bit, for every engine, way of working, and place of the matrices.

namespace ozbound::properties {
namespace {

using sampling::RandomBits;

Finding judge_engine(const GemmCase& gemm_case, const Engine& engine) {
  auto working = gemm_case.working;
  working.kernel = kernels()[gemm_case.seed % kernels().size()];
  const CpuEngine portable(working);
  const CaseMemory memory(gemm_case);
  const char* what = "of the portable engine it is";
  if (auto wrong = other_integers(Integers(memory, gemm_case.plan, engine), Integers(memory, gemm_case.plan, portable), what))
    return wrong;
  return differing(multiplied(gemm_case, engine), multiplied(gemm_case, portable), what);
}

Finding judge_workspace(const GemmCase& gemm_case, const Engine& engine) {
  const auto unlimited = multiplied(gemm_case, engine), rounded = multiplied_by_cr(gemm_case, engine).c;
  const Index k = gemm_case.alpha == 0 ? 0 : gemm_case.k();
  const double least = least_workspace(engine, gemm_case.plan, k);
  const double full = full_workspace(engine, gemm_case.plan, gemm_case.m(), gemm_case.n(), k);
  RandomBits random(gemm_case.seed);
  for (const double share : {0.0, static_cast<double>(random.below(1 << 20)) * 0x1p-20}) {
    const double cap = least + share * std::max(0.0, full - least);
    if (auto wrong = differing(multiplied(gemm_case, engine, cap), unlimited, "without a cap it is"))
      return fmt::format("with a workspace of {} bytes {}", cap, *wrong);
    if (auto wrong = differing(multiplied_by_cr(gemm_case, engine, cap).c, rounded, "without a cap it is"))
      return fmt::format("correctly rounded, with a workspace of {} bytes, {}", cap, *wrong);
  }
  return {};
}

bool fits_float(const Matrix<double>& values) {
  return std::all_of(values.data(), values.data() + values.rows() * values.cols(),
                     [](double x) { return x != x || static_cast<double>(static_cast<float>(x)) == x; });
}

/// Stores the same values with another element type if possible, in another order, and with other padding.
void restore(CaseMatrix& matrix, RandomBits& random) {
  matrix.storage = case_sampling::sample_storage(fits_float(matrix.values) && random.once_in(2), random);
}

/// The case with all operands stored differently. C keeps its type, which affects the result.
GemmCase stored_otherwise(GemmCase gemm_case) {
  RandomBits random(gemm_case.seed);
  restore(gemm_case.a, random);
  restore(gemm_case.b, random);
  restore(gemm_case.c0, random);
  gemm_case.c = case_sampling::sample_storage(gemm_case.c.single, random);
  return gemm_case;
}

std::vector<std::uint64_t> all_bits(const StoredMatrix& matrix) {
  std::vector<std::uint64_t> bits;
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) bits.push_back(matrix.bits(i, j));
  return bits;
}

/// Multiplies, and checks all memory that is not an element of C.
Finding judge_memory(const GemmCase& gemm_case, const Engine& engine, const StoredMatrix& expected) {
  CaseMemory memory(gemm_case);
  const auto a = all_bits(memory.a), b = all_bits(memory.b), c0 = all_bits(memory.c0);
  multiply_unproven(memory.product(), gemm_case.plan, engine);
  if (all_bits(memory.a) != a || all_bits(memory.b) != b || all_bits(memory.c0) != c0) return "an input was written";
  if (!(memory.a.intact() && memory.b.intact() && memory.c0.intact() && memory.c.intact()))
    return "memory beside the matrices was written";
  return differing(memory.c, expected, "in other storage it is");
}

/// Uses C as C0, if C's type holds the values.
Finding judge_in_place(const GemmCase& gemm_case, const Engine& engine, const StoredMatrix& expected) {
  if (gemm_case.c.single && !fits_float(gemm_case.c0.values)) return {};
  CaseMemory memory(gemm_case);
  memory.c = stored_values(gemm_case.c0.values, gemm_case.c);
  auto call = memory.product();
  call.c0 = memory.c.input();
  multiply_unproven(call, gemm_case.plan, engine);
  return differing(memory.c, expected, "with C0 apart it is");
}

Finding judge_storage(const GemmCase& gemm_case, const Engine& engine) {
  const auto expected = multiplied(gemm_case, engine);
  if (auto wrong = judge_memory(stored_otherwise(gemm_case), engine, expected)) return wrong;
  return judge_in_place(gemm_case, engine, expected);
}

}  // namespace

Property any_engine() {
  return {
      "any-engine",
      "facts, residues, sums of groups and C have the same bits as those of the portable engine, whatever its kernel, threads, "
      "inner block and tiles",
      "design: inputs and plan fix every bit of C",
      {.specials = true, .plans = PlanKinds::any},
      judge_engine};
}

Property any_workspace() {
  return {"any-workspace",
          "C has the same bits under every cap on the workspace, and so has the correctly rounded C",
          "design: a workspace cap is kept by blocking m and n; results keep their bits",
          {.specials = true, .plans = PlanKinds::any},
          judge_workspace};
}

Property any_storage() {
  return {"any-storage",
          "C has the same bits whatever the order, padding and element type that its operands are stored in, C0 in C's place "
          "or not; nothing "
          "but C is written",
          "design: semantics",
          {.specials = true, .plans = PlanKinds::any},
          judge_storage};
}

}  // namespace ozbound::properties
