// SPDX-License-Identifier: BSD-3-Clause
#include "properties/case_product.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "properties/sampling.hpp"

namespace ozbound::properties {
namespace {

double as_double(std::uint64_t bits, bool single) {
  return single ? static_cast<double>(float_from_bits(bits)) : double_from_bits(bits);
}

void replace_specials(Matrix<double>& values) {
  for (Index t = 0; t < values.rows() * values.cols(); ++t)
    if (!std::isfinite(values.data()[t])) values.data()[t] = 0;
}

}  // namespace

CaseMemory::CaseMemory(const GemmCase& gemm_case)
    : a(stored_values(gemm_case.full_a(), gemm_case.a.storage)),
      b(stored_values(gemm_case.full_b(), gemm_case.b.storage)),
      c0(stored_values(gemm_case.c0.values, gemm_case.c0.storage)),
      c(gemm_case.m(), gemm_case.n(), gemm_case.c),
      alpha(gemm_case.alpha),
      beta(gemm_case.beta) {}

RealProduct CaseMemory::product() { return {a.input(), b.input(), c.output(), alpha, beta, c0.input()}; }

StoredMatrix stored_values(const Matrix<double>& values, const Storage& storage) {
  StoredMatrix result(values.rows(), values.cols(), storage);
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j) result.set(i, j, values(i, j));
  return result;
}

Matrix<double> values_of(const StoredMatrix& matrix) {
  Matrix<double> values(matrix.rows(), matrix.cols());
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) values(i, j) = matrix.value(i, j);
  return values;
}

StoredMatrix multiplied(const GemmCase& gemm_case, const Engine& engine, double workspace) {
  CaseMemory memory(gemm_case);
  multiply_unproven(memory.product(), gemm_case.plan, engine, workspace);
  return std::move(memory.c);
}

CertifiedCase multiplied(const GemmCase& gemm_case, Decision decision, const Engine& engine, double workspace) {
  CaseMemory memory(gemm_case);
  decision.m = gemm_case.m(), decision.n = gemm_case.n(), decision.k = gemm_case.k();
  auto certificate = multiply(memory.product(), decision, engine, {.workspace = workspace});
  return {std::move(memory.c), std::move(certificate)};
}

CertifiedCase multiplied_by_cr(const GemmCase& gemm_case, const Engine& engine, double workspace) {
  Decision decision;
  decision.target = Target::correctly_rounded();
  decision.method = Method::correctly_rounded;
  decision.plan = gemm_case.plan;
  return multiplied(gemm_case, std::move(decision), engine, workspace);
}

GemmCase finite(GemmCase gemm_case) {
  replace_specials(gemm_case.a.values);
  replace_specials(gemm_case.b.values);
  replace_specials(gemm_case.c0.values);
  if (!std::isfinite(gemm_case.alpha)) gemm_case.alpha = 1;
  if (!std::isfinite(gemm_case.beta)) gemm_case.beta = 0;
  return gemm_case;
}

Encoding encoding_of(const GemmCase& gemm_case) {
  return gemm_case.plan.visit([](const SplitPlan& plan) { return case_sampling::exactly(plan).a.encoding; },
                              [](const ResiduePlan&) { return Encoding::balanced(); });
}

Target target_of(const GemmCase& gemm_case) { return gemm_case.target.value_or(Target::dgemm()); }

GemmCase without_c0(GemmCase gemm_case) {
  gemm_case.beta = 0;
  return gemm_case;
}

std::string in_hex(double value, std::uint64_t bits) { return fmt::format("{} (0x{:x})", hex_text(value), bits); }

std::string wrong_entry(const StoredMatrix& c, Index i, Index j, std::uint64_t expected_bits, const std::string& what) {
  return fmt::format("C({}, {}) is {}, {} {}", i, j, in_hex(c.value(i, j), c.bits(i, j)), what,
                     in_hex(as_double(expected_bits, c.storage().single), expected_bits));
}

Finding differing(const StoredMatrix& c, const StoredMatrix& expected, const std::string& what) {
  Index count = 0;
  Finding first;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      if (c.bits(i, j) == expected.bits(i, j)) continue;
      if (++count == 1) first = wrong_entry(c, i, j, expected.bits(i, j), what);
    }
  if (count > 1) *first += fmt::format(", and {} more entries differ", count - 1);
  return first;
}

}  // namespace ozbound::properties
