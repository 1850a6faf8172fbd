#include "allowance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ozbound/bounds/scaled.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

constexpr double infinity = std::numeric_limits<double>::infinity();

/// ||x||_2 of every vector from below, relative to 2 ufp(max |x|).
std::vector<double> euclidean_lower(InputView operand, Side side, const Engine& engine) {
  std::vector<double> norms;
  for (const auto& facts : engine.measure(operand, side, {{Encoding::Kind::truncated, 7}, 1}).vectors)
    norms.push_back(next_down(std::sqrt(to_double_lower(facts.floor_squares))) * 0x1p-16);
  return norms;
}

/// |beta c0| / |alpha| relative to 2^scale, from below.
double c0_share_lower(double alpha, double beta, double c0, std::int64_t scale) {
  const auto product = Scaled::product_lower(Scaled::magnitude(beta), Scaled::magnitude(c0));
  const auto divisor = Scaled::magnitude(alpha);
  return Scaled{divide_lower(product.significand, divisor.significand), product.exponent - divisor.exponent - scale}.lower();
}

bool same_kind(const Target& target, Target::Kind kind) { return target.kind == kind; }

}  // namespace

double unit_roundoff(const Format& format) { return format.precision == binary64.precision ? 0x1p-53 : 0x1p-24; }

double target_tau(const Target& target, Index k, const Format& format) {
  if (target.kind == Target::Kind::correctly_rounded) return 0;
  if (target.kind != Target::Kind::dgemm) return target.tau;
  return to_double_lower(static_cast<std::uint64_t>(std::max<Index>(k, 1))) * unit_roundoff(format);  // u is a power of two
}

double rescaled_upper(double x, std::int64_t shift) { return x == 0 ? 0 : Scaled{x, shift}.upper(); }

Allowance::Allowance(InputView a, InputView b, const Target& target, double factor, const DecideOptions& options,
                     const Enclosure& enclosure, const Engine& engine)
    : enclosure_(enclosure),
      normwise_(same_kind(target, Target::Kind::normwise)),
      factor_(factor),
      allowed_(a.rows(), b.cols()) {
  const bool rowcol = same_kind(target, Target::Kind::rowcol);
  const auto row_norms = rowcol ? euclidean_lower(a, Side::rows_of_a, engine) : std::vector<double>{};
  const auto column_norms = rowcol ? euclidean_lower(b, Side::columns_of_b, engine) : std::vector<double>{};
  const auto rows = vector_scales(a, Side::rows_of_a, Encoding::balanced(), engine.threads());
  const auto columns = vector_scales(b, Side::columns_of_b, Encoding::balanced(), engine.threads());
#pragma omp parallel for schedule(static) num_threads(engine.threads())
  for (Index i = 0; i < allowed_.rows(); ++i) {
    const FloatEnvironment environment;
    for (Index j = 0; j < allowed_.cols(); ++j) {
      double m = rowcol ? multiply_lower(row_norms[at(i)], column_norms[at(j)]) : enclosure.lower(i, j);
      const auto c0 = options.beta == 0 ? bits_of(0.0) : options.c0.bits(i, j);
      if (rows[at(i)].special || columns[at(j)].special || !is_finite(c0, binary64)) {
        allowed_(i, j) = infinity;
        continue;
      }
      if (options.beta != 0)
        m = add_lower(m, c0_share_lower(options.alpha, options.beta, double_from_bits(c0),
                                        std::int64_t{enclosure.row_exponents[at(i)]} + enclosure.column_exponents[at(j)]));
      allowed_(i, j) = normwise_ ? m : multiply_lower(factor_, m);
    }
  }
  if (normwise_) set_norm();
}

double Allowance::ratio_upper(Index i, Index j, double error) const {
  if (error == 0 || enclosure_.upper(i, j) == 0 || allowed_(i, j) == infinity) return 0;
  return allowed_(i, j) == 0 ? infinity : divide_upper(error, allowed_(i, j));
}

// Norms add entries of different scales. They are taken relative to the largest one; what is 2^400 below it only counts
// upwards.
double Allowance::at_scale_upper(Index i, Index j, double x) const {
  const auto shift = enclosure_.row_exponents[at(i)] + std::int64_t{enclosure_.column_exponents[at(j)]} - scale_;
  return x == 0 || enclosure_.upper(i, j) == 0 ? 0 : std::max(Scaled{x, shift}.upper(), 0x1p-500);
}

double Allowance::at_scale_lower(Index i, Index j, double x) const {
  const auto shift = enclosure_.row_exponents[at(i)] + std::int64_t{enclosure_.column_exponents[at(j)]} - scale_;
  const double value = Scaled{x, shift}.lower();
  return value < 0x1p-500 ? 0 : value;
}

void Allowance::set_norm() {
  scale_ = std::numeric_limits<std::int64_t>::min();
  for (Index i = 0; i < allowed_.rows(); ++i)
    for (Index j = 0; j < allowed_.cols(); ++j)
      if (allowed_(i, j) > 0 && allowed_(i, j) < infinity)
        scale_ = std::max(scale_, enclosure_.row_exponents[at(i)] + std::int64_t{enclosure_.column_exponents[at(j)]});
  if (scale_ == std::numeric_limits<std::int64_t>::min()) scale_ = 0;
  double squares = 0;
  for (Index i = 0; i < allowed_.rows(); ++i)
    for (Index j = 0; j < allowed_.cols(); ++j) {
      if (allowed_(i, j) == infinity) continue;
      const double m = std::min(at_scale_lower(i, j, allowed_(i, j)), 0x1p400);
      squares = add_lower(squares, multiply_lower(m, m));
    }
  norm_allowed_ = multiply_lower(factor_, squares == 0 ? 0 : next_down(std::sqrt(squares)));
}

double Allowance::normwise_share(Index i, Index j, double error) const {
  const double value = at_scale_upper(i, j, error);
  if (value == 0 || allowed_(i, j) == infinity) return 0;
  return norm_allowed_ == 0 ? infinity : multiply_upper(divide_upper(value, norm_allowed_), divide_upper(value, norm_allowed_));
}

Worst Allowance::worst(const RelativeError& error, int threads) const {
  std::vector<Worst> rows(at(allowed_.rows()));
  std::vector<double> shares(at(allowed_.rows()));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < allowed_.rows(); ++i) {
    const FloatEnvironment environment;
    auto& row = rows[at(i)];
    row.i = i;
    for (Index j = 0; j < allowed_.cols(); ++j) {
      const auto shift = std::int64_t{(*error.row_exponents)[at(i)]} + (*error.column_exponents)[at(j)] -
                         enclosure_.row_exponents[at(i)] - enclosure_.column_exponents[at(j)];
      const double relative = rescaled_upper(error.bound->upper(i, j), shift);
      const double share = normwise_ ? normwise_share(i, j, relative) : 0;
      const double ratio = normwise_ ? share : ratio_upper(i, j, relative);
      shares[at(i)] = add_upper(shares[at(i)], share);
      if (ratio > row.ratio) row.ratio = ratio, row.j = j;
    }
  }
  Worst worst;
  for (const auto& row : rows)
    if (row.ratio > worst.ratio) worst = row;
  if (!normwise_) return worst;
  double total = 0;
  for (const double share : shares) total = add_upper(total, share);
  worst.ratio = total == 0 ? 0 : next_up(std::sqrt(total));
  return worst;
}

std::vector<Entry> Allowance::probes(Index per_side) const {
  const Index m = allowed_.rows();
  const Index n = allowed_.cols();
  std::vector<Entry> entries;
  if (m == 0 || n == 0) return entries;
  Entry least{0, 0};
  double least_allowed = infinity;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      if (enclosure_.upper(i, j) > 0 && allowed_(i, j) < least_allowed) least = {i, j}, least_allowed = allowed_(i, j);
  entries.push_back(least);
  for (Index s = 0; s < std::min(per_side, m); ++s)
    for (Index t = 0; t < std::min(per_side, n); ++t)
      entries.push_back({s * m / std::min(per_side, m), t * n / std::min(per_side, n)});
  return entries;
}

}  // namespace ozbound
