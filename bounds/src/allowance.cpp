// SPDX-License-Identifier: BSD-3-Clause
#include "allowance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "largest_entry.hpp"
#include "ozbound/bounds/detail/wide_range_double.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

double unit_roundoff(const Format& format) { return format.precision == binary64.precision ? 0x1p-53 : 0x1p-24; }

void check_attainable(const Target& target, double tau, double u) {
  if (tau >= u) return;
  const bool wide = u == 0x1p-53;
  throw CannotCertify("target " + to_string(target) + " is below u = " + (wide ? "2^-53" : "2^-24") +
                      ": not even a correctly rounded result meets it" +
                      (wide ? "" : "; C is binary32, as where A and B both are: convert one of them to binary64 for more"));
}

HostAllowance::HostAllowance(const RealProduct& of, const Target& target, double factor, const MagnitudeProduct& product,
                             std::vector<double> row_norms, std::vector<double> column_norms, int threads)
    : product_(product),
      of_(of),
      threads_(threads),
      normwise_(target.kind == Target::Kind::normwise),
      factor_(factor),
      row_norms_(std::move(row_norms)),
      column_norms_(std::move(column_norms)) {
  for (auto first = column_norms_.begin(); first != column_norms_.end();) {
    const auto last = first + std::min<std::ptrdiff_t>(chunk_columns, column_norms_.end() - first);
    least_column_norms_.push_back(*std::min_element(first, last));
    first = last;
  }
  if (normwise_) set_norm();
}

bool HostAllowance::special(Index i, Index j) const {
  return product_.special_row(i) || product_.special_column(j) || (of_.beta != 0 && !is_finite(of_.c0.bits(i, j), binary64));
}

/// M from a lower bound of |A||B|, or from the row and column norms that replace it.
double HostAllowance::magnitude_lower(Index i, Index j, double product_lower) const {
  const double m = row_norms_.empty() ? product_lower : multiply_lower(row_norms_[at(i)], column_norms_[at(j)]);
  if (of_.beta == 0) return m;
  return add_lower(m, c0_share_lower(of_.alpha, of_.beta, double_from_bits(of_.c0.bits(i, j)),
                                     std::int64_t{product_.row_exponents()[at(i)]} + product_.column_exponents()[at(j)]));
}

/// M for a normwise target, otherwise its share.
double HostAllowance::share_of(Index i, Index j, double product_lower) const {
  const double m = magnitude_lower(i, j, product_lower);
  return normwise_ ? m : multiply_lower(factor_, m);
}

/// The smallest share of any M of which m is only a part. A sum with 0 is exact, and any other sum is rounded down (E4).
double HostAllowance::least_share(double m) const { return multiply_lower(factor_, of_.beta == 0 ? m : next_down(m)); }

Probe HostAllowance::probe(Index i, Index j) const {
  if (special(i, j)) return {i, j, infinity};
  const auto bounds = product_.at(i, j);
  return {i, j, bounds.upper == 0 ? infinity : share_of(i, j, row_norms_.empty() ? bounds.lower : 0)};
}

/// A lower bound of the error that each entry of row i and a chunk of columns allows.
double HostAllowance::allowed_in_chunk(Index i, Index chunk) const {
  const Index first = chunk * chunk_columns;
  const double m = row_norms_.empty() ? product_.cheap_lower(i, first, std::min(chunk_columns, product_.cols() - first))
                                      : multiply_lower(row_norms_[at(i)], least_column_norms_[at(chunk)]);
  return least_share(m);
}

/// True if a cheap test shows that ratio_upper(i, j, error) is less than `ratio`.
bool HostAllowance::below(Index i, Index j, double error, double ratio) const {
  const double share = least_share(magnitude_lower(i, j, product_.cheap_lower(i, j)));
  return share > 0 && divide_upper(error, share) < ratio;
}

/// The shift from an entry's scale to the scale of norms.
std::int64_t HostAllowance::norm_shift(Index i, Index j) const {
  return product_.row_exponents()[at(i)] + std::int64_t{product_.column_exponents()[at(j)]} - scale_;
}

void HostAllowance::set_norm() {
  m_ = Matrix<double>(product_.rows(), product_.cols());
  FirstException failure;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads_)
  for (Index i = 0; i < m_.rows(); ++i)
    failure.run([&] {
      const FloatEnvironment environment;
      for (Index j = 0; j < m_.cols(); ++j) {
        poll_cancelled();
        m_(i, j) = special(i, j) ? infinity : share_of(i, j, product_.at(i, j).lower);
      }
    });
  failure.rethrow();
  scale_ = std::numeric_limits<std::int64_t>::min();
  for (Index i = 0; i < m_.rows(); ++i) {
    poll_cancelled();
    for (Index j = 0; j < m_.cols(); ++j)
      if (m_(i, j) > 0 && m_(i, j) < infinity)
        scale_ = std::max(scale_, product_.row_exponents()[at(i)] + std::int64_t{product_.column_exponents()[at(j)]});
  }
  if (scale_ == std::numeric_limits<std::int64_t>::min()) scale_ = 0;
  double squares = 0;
  for (Index i = 0; i < m_.rows(); ++i) {
    poll_cancelled();
    double of_row = 0;
    for (Index j = 0; j < m_.cols(); ++j) {
      if (m_(i, j) == infinity) continue;
      const double m = norm_term_lower(m_(i, j), norm_shift(i, j));
      of_row = add_lower(of_row, multiply_lower(m, m));
    }
    squares = add_lower(squares, of_row);
  }
  norm_allowed_ = multiply_lower(factor_, squares == 0 ? 0 : next_down(std::sqrt(squares)));
}

double HostAllowance::normwise_share(Index i, Index j, double error) const {
  if (error == 0 || m_(i, j) == infinity || product_.at(i, j).upper == 0) return 0;
  return norm_share_upper(error, norm_shift(i, j), norm_allowed_);
}

namespace {

/// candidate[j] = 1 if errors[j] factors[j] >= share lower[j], up to rounding; for 64 columns or fewer.
OZB_MULTIVERSION void find_candidates(const double* errors, const double* factors, const double* lower, double share,
                                      Index count, std::uint8_t* candidate) {
  for (Index j = 0; j < count; ++j) candidate[j] = errors[j] * factors[j] < share * lower[j] ? 0 : 1;
}

/// For every vector, the shift from the scale of its slicing to the scale of the product.
std::vector<std::int64_t> shifts(const std::vector<std::int32_t>& from, const std::vector<std::int32_t>& to) {
  std::vector<std::int64_t> differences;
  for (std::size_t i = 0; i < from.size(); ++i) differences.push_back(std::int64_t{from[i]} - to[i]);
  return differences;
}

}  // namespace

Worst HostAllowance::worst(const PlanBound& bound) const {
  if (bound.remote != nullptr) return worst(bound.remote->fetch());
  return normwise_ ? worst_norm(bound) : worst_entry(bound);
}

Worst HostAllowance::worst_entry(const PlanBound& error) const {
  const auto rows = shifts(error.row_exponents, product_.row_exponents());
  const auto columns = shifts(error.column_exponents, product_.column_exponents());
  const auto chunks = chunk_bound(error.product, columns);
  const auto of_chunks = [&](Index i, double* upper) {
    chunks.bound.upper_row(i, 0, chunks_of(product_.cols()), upper);
    for (Index chunk = 0; chunk < chunks_of(product_.cols()); ++chunk) {
      const double relative = rescaled_upper(upper[chunk], rows[at(i)] + chunks.exponents[at(chunk)]);
      const double share = allowed_in_chunk(i, chunk);
      upper[chunk] = relative == 0 || product_.special_row(i) ? 0 : share == 0 ? infinity : divide_upper(relative, share);
    }
  };
  const ChunkedBound entries(error.product);
  std::vector<double> factors;
  for (const auto shift : columns) factors.push_back(near_power_of_two(shift));
  const auto of_entries = [&](Index i, Index first, Index count, LargestEntry& largest) {
    std::array<double, static_cast<std::size_t>(chunk_columns)> errors;
    std::array<std::uint8_t, static_cast<std::size_t>(chunk_columns)> candidate;
    entries.upper_row(i, first / chunk_columns, count, errors.data());
    find_worst_candidates(i, first, count, near_power_of_two(-rows[at(i)]) * largest.value, errors.data(),
                          factors.data() + first, candidate.data());
    for (Index j = first; j < first + count; ++j) {
      if (candidate[at(j - first)] == 0) continue;
      const double relative = rescaled_upper(errors[at(j - first)], rows[at(i)] + columns[at(j)]);
      if (relative == 0 || special(i, j) || below(i, j, relative, largest.value)) continue;
      largest.take({ratio_upper(relative, probe(i, j).allowed), i, j});
    }
  };
  const auto largest = largest_entry(product_.rows(), product_.cols(), threads_, of_chunks, of_entries);
  return {largest.value, largest.i, largest.j};
}

/// Marks the entries of a chunk whose ratio may reach `ratio`; the other entries are shown to be below it.
void HostAllowance::find_worst_candidates(Index i, Index first, Index count, double ratio, const double* errors,
                                          const double* factors, std::uint8_t* candidate) const {
  // 1 - 2^-12 covers the roundings of the few operations in this function and the deflation of a level 2 sum. The test also
  // keeps far from underflow.
  const double share = factor_ * ratio * (1 - 0x1p-12);
  if (!row_norms_.empty() || !(share > 0x1p-700) || share == infinity) {
    std::fill_n(candidate, count, std::uint8_t{1});
    return;
  }
  std::array<double, static_cast<std::size_t>(chunk_columns)> lower;
  product_.estimate_lower(i, first, count, lower.data());
  find_candidates(errors, factors, lower.data(), share, count, candidate);
}

Worst HostAllowance::worst_norm(const PlanBound& error) const {
  const auto row_shifts = shifts(error.row_exponents, product_.row_exponents());
  const auto column_shifts = shifts(error.column_exponents, product_.column_exponents());
  std::vector<Worst> rows(at(m_.rows()));
  std::vector<double> sums(at(m_.rows()));
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads_)
  for (Index i = 0; i < m_.rows(); ++i)
    failure.run([&] {
      const FloatEnvironment environment;
      auto& row = rows[at(i)];
      row.i = i;
      for (Index j = 0; j < m_.cols(); ++j) {
        poll_cancelled();
        const double relative = rescaled_upper(error.product.upper(i, j), row_shifts[at(i)] + column_shifts[at(j)]);
        const double share = normwise_share(i, j, relative);
        sums[at(i)] = add_upper(sums[at(i)], share);
        if (share > row.ratio) row.ratio = share, row.j = j;
      }
    });
  failure.rethrow();
  Worst worst;
  for (const auto& row : rows)
    if (row.ratio > worst.ratio) worst = row;
  double total = 0;
  for (const double sum : sums) total = add_upper(total, sum);
  worst.ratio = total == 0 ? 0 : next_up(std::sqrt(total));
  return worst;
}

std::vector<Probe> HostAllowance::probes(Index per_side) const {
  const Index m = product_.rows(), n = product_.cols();
  std::vector<Probe> entries;
  if (m == 0 || n == 0) return entries;
  const auto [least_i, least_j] = least_allowing();
  entries.push_back(probe(least_i, least_j));
  for (Index s = 0; s < std::min(per_side, m); ++s)
    for (Index t = 0; t < std::min(per_side, n); ++t)
      entries.push_back(probe(s * m / std::min(per_side, m), t * n / std::min(per_side, n)));
  return entries;
}

/// Among up to 32 rows, the non-zero entry with the smallest allowance, computed accurately.
Entry HostAllowance::least_allowing() const {
  constexpr Index most_rows = 32;
  Entry least{0, 0};
  double least_allowed = infinity;
  const Index step = (product_.rows() + most_rows - 1) / most_rows;
  for (Index i = 0; i < product_.rows(); i += step)
    for (Index j = 0; j < product_.cols(); ++j) {
      const double allows = special(i, j) ? 0 : share_of(i, j, product_.cheap_lower(i, j));
      if (allows > 0 && allows < least_allowed) least = {i, j}, least_allowed = allows;
    }
  return least;
}

}  // namespace ozbound
