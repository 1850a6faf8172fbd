// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ozbound/core/dyadic.hpp"
#include "properties/case_product.hpp"
#include "properties/properties.hpp"
#include "properties/reference.hpp"

// NaN, infinities and zeros depend only on the inputs (docs/adr/0002).

namespace ozbound::properties {
namespace {

/// The special value of entry (i, j), in C's format; 0 if the entry is not special. One copy has the same terms as all copies.
std::uint64_t special_bits(const GemmCase& gemm_case, Index i, Index j) {
  std::vector<std::vector<double>> terms;
  const auto& a = gemm_case.a.values;
  for (Index l = 0; gemm_case.alpha != 0 && l < a.cols(); ++l)
    terms.push_back({gemm_case.alpha, a(i, l), gemm_case.b.values(l, j)});
  if (gemm_case.beta != 0) terms.push_back({gemm_case.beta, gemm_case.c0.values(i, j)});
  return exact_arithmetic::special_bits(terms, gemm_case.c.single);
}

Finding wrong_special(const GemmCase& gemm_case, const StoredMatrix& c) {
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const auto expected = special_bits(gemm_case, i, j);
      if (expected != 0 && c.bits(i, j) != expected) return wrong_entry(c, i, j, expected, "by its terms it is");
      if (expected == 0 && std::isnan(c.value(i, j))) return wrong_entry(c, i, j, 0, "no term is special, and a number is not");
    }
  return {};
}

Finding judge_values(const GemmCase& gemm_case, const Engine& engine) {
  if (auto wrong = wrong_special(gemm_case, multiplied(gemm_case, engine))) return wrong;
  return wrong_special(gemm_case, multiplied_by_cr(gemm_case, engine).c);
}

bool all_finite(const Matrix<double>& x, Index row, Index column) {
  for (Index l = 0; row >= 0 && l < x.cols(); ++l)
    if (!std::isfinite(x(row, l))) return false;
  for (Index l = 0; column >= 0 && l < x.rows(); ++l)
    if (!std::isfinite(x(l, column))) return false;
  return true;
}

/// True if a special is in row i of A, column j of B or C0(i, j), and is read.
bool involved(const GemmCase& gemm_case, Index i, Index j) {
  const bool product =
      gemm_case.alpha != 0 && !(all_finite(gemm_case.a.values, i, -1) && all_finite(gemm_case.b.values, -1, j));
  return product || (gemm_case.beta != 0 && !std::isfinite(gemm_case.c0.values(i, j)));
}

Finding judge_neighbours(const GemmCase& gemm_case, const Engine& engine) {
  if (!std::isfinite(gemm_case.alpha) || !std::isfinite(gemm_case.beta)) return {};
  const auto c = multiplied(gemm_case, engine), alone = multiplied(finite(gemm_case), engine);
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j)
      if (!involved(gemm_case, i, j) && c.bits(i, j) != alone.bits(i, j))
        return wrong_entry(c, i, j, alone.bits(i, j), "with zeros for the specials elsewhere it is");
  return {};
}

void fill_with_nan(Matrix<double>& values) {
  for (Index t = 0; t < values.rows() * values.cols(); ++t) values.data()[t] = std::numeric_limits<double>::quiet_NaN();
}

/// C under the plan, written over a C that held numbers.
StoredMatrix multiplied_over_numbers(const GemmCase& gemm_case, const Engine& engine) {
  CaseMemory memory(gemm_case);
  for (Index i = 0; i < memory.c.rows(); ++i)
    for (Index j = 0; j < memory.c.cols(); ++j) memory.c.set(i, j, static_cast<double>(i + 2 * j + 1));
  multiply_unproven(memory.product(), gemm_case.plan, engine);
  return std::move(memory.c);
}

Finding judge_unread_c0(const GemmCase& any, const Engine& engine) {
  auto read = finite(any);
  read.beta = 0;
  auto unread = read;
  fill_with_nan(unread.c0.values);
  const auto expected = multiplied(read, engine);
  if (auto wrong = differing(multiplied(unread, engine), expected, "with beta = 0 and C0 NaN; with C0 finite it is"))
    return wrong;
  return differing(multiplied_over_numbers(read, engine), expected, "where C was a number; where it was NaN it is");
}

Finding judge_unread(const GemmCase& any, const Engine& engine) {
  if (auto wrong = judge_unread_c0(any, engine)) return wrong;
  auto read = finite(any);
  read.alpha = 0;
  auto unread = read;
  fill_with_nan(unread.a.values);
  fill_with_nan(unread.b.values);
  return differing(multiplied(unread, engine), multiplied(read, engine),
                   "with alpha = 0 and A and B NaN; with both finite it is");
}

}  // namespace

Property special_values() {
  return {"special-values",
          "C_ij is NaN (0x7ff8000000000000, 0x7fc00000) if a factor of a term alpha a b or beta c0 is NaN, a term is 0 Inf, or "
          "both infinities "
          "occur; else, with an infinity, that infinity; else no NaN",
          "docs/adr/0002",
          {.specials = true, .plans = PlanKinds::any},
          judge_values};
}

Property special_neighbours() {
  return {"special-neighbours",
          "an entry without specials in its row, column and C0 has the bits that it has without specials elsewhere",
          "docs/adr/0002",
          {.specials = true, .plans = PlanKinds::any},
          judge_neighbours};
}

Property unread_operands() {
  return {"unread-operands",
          "beta = 0 reads neither C0 nor what C held, alpha = 0 neither A nor B",
          "design: semantics; the BLAS standard",
          {.plans = PlanKinds::any},
          judge_unread};
}

}  // namespace ozbound::properties
