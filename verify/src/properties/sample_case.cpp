// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/property.hpp"
#include "properties/adversarial_case.hpp"
#include "properties/sampling.hpp"

namespace ozbound {
namespace {

using sampling::RandomBits;

CaseMatrix sample_matrix(Index rows, Index cols, Side side, const CaseDomain& domain, bool near, RandomBits& random) {
  CaseMatrix matrix{Matrix<double>(rows, cols), case_sampling::sample_storage(domain.floats && random.once_in(4), random)};
  case_sampling::sample_operand(rows, cols, matrix.storage.single, side, near, random,
                                [&](Index i, Index j, double x) { matrix.values(i, j) = x; });
  return matrix;
}

/// Makes about one element in `odds` special.
void strew_specials(Matrix<double>& values, int odds, RandomBits& random) {
  for (Index t = 0; t < values.rows() * values.cols(); ++t)
    if (random.once_in(odds)) values.data()[t] = case_sampling::sample_special(random);
}

void add_specials(GemmCase& gemm_case, RandomBits& random) {
  strew_specials(gemm_case.a.values, 20, random);
  strew_specials(gemm_case.b.values, 20, random);
  strew_specials(gemm_case.c0.values, 10, random);
  if (random.once_in(12)) gemm_case.alpha = case_sampling::sample_special(random);
  if (random.once_in(12)) gemm_case.beta = case_sampling::sample_special(random);
}

/// A target that C's format can meet.
Target sample_target(bool single, RandomBits& random) {
  constexpr Target::Kind kinds[] = {Target::Kind::correctly_rounded, Target::Kind::dgemm,  Target::Kind::dgemm_typical,
                                    Target::Kind::componentwise,     Target::Kind::rowcol, Target::Kind::normwise,
                                    Target::Kind::relative};
  Target target{random.pick(kinds), 0};
  const int strictest = single ? -24 : -53;
  const int exponent = random.once_in(3) ? strictest : random.between(strictest, 3);
  const double factor = random.once_in(3) ? 1 : 1 + std::ldexp(random.below(1 << 20), -20);
  if (target.has_tau()) target.tau = std::ldexp(factor, exponent);
  return target;
}

}  // namespace

GemmCase sample_case(const CaseDomain& domain, std::uint64_t seed) {
  const FloatEnvironment environment;
  RandomBits random(seed);
  const auto shape = case_sampling::sample_shape(domain.largest, random);
  const bool near = !domain.extremes || random.once_in(3);
  GemmCase drawn;
  drawn.a = sample_matrix(shape.m, shape.k, Side::rows_of_a, domain, near, random);
  drawn.b = sample_matrix(shape.k, shape.n, Side::columns_of_b, domain, near, random);
  drawn.c0 = sample_matrix(shape.m, shape.n, Side::rows_of_a, domain, near, random);
  drawn.c = case_sampling::sample_storage(domain.floats && random.once_in(4), random);
  drawn.alpha = random.once_in(2) ? 1 : case_sampling::sample_scalar(random);
  drawn.beta = random.once_in(2) ? 0 : case_sampling::sample_scalar(random);
  const auto slices = case_sampling::sample_plan(random, random.once_in(8) ? max_slices : domain.most_slices);
  drawn.plan = domain.exact_only ? case_sampling::exactly(slices) : slices;
  if (domain.targets) drawn.target = sample_target(drawn.c.single, random);
  if (domain.attacked) case_sampling::attack(drawn, random);
  if (domain.specials) add_specials(drawn, random);
  drawn.working = case_sampling::sample_options(random);
  if (!random.once_in(8)) drawn.working.threads = 1;  // starting threads would take longer than the product
  drawn.seed = random();
  if (domain.plans == PlanKinds::residues || (domain.plans == PlanKinds::any && random.once_in(2)))
    drawn.plan = case_sampling::sample_residue_plan(random, drawn.k());
  return drawn;
}

}  // namespace ozbound
