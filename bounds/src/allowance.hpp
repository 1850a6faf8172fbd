#pragma once

#include <cstdint>
#include <vector>

#include "magnitude_product.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// u of a format, exactly.
double unit_roundoff(const Format& format);

/// tau of a target stated with M; 0 for cr. `dgemm` is max(k, 1) u.
double target_tau(const Target& target, Index k, const Format& format);

/// An error before rounding, relative to the scales 2^(row_exponents[i] + column_exponents[j]) and to |alpha|.
struct RelativeError {
  const EntryBound* bound;
  const std::vector<std::int32_t>* row_exponents;
  const std::vector<std::int32_t>* column_exponents;
};

/// The entry that is nearest to what a target allows, or furthest beyond.
struct Worst {
  double ratio = 0;
  Index i = 0;
  Index j = 0;
};

/// An entry to try plans on, and the error that it allows before rounding, relative to the product's scales; +Inf for any.
struct Probe {
  Index i;
  Index j;
  double allowed;
};

/// How large the error before the final rounding may be, so that the error after it meets a target:
///
///   |alpha| E (1 + u) + u M <= tau M,   that is   E <= (tau - u) / (1 + u) * M / |alpha|,
///
/// with M from below (docs/derivations/targets.md). Entries with specials allow everything and count in no norm.
class Allowance {
 public:
  /// @param factor share of M that E may take: (tau - u) / (1 + u), from below.
  /// `options` and `product` must outlive it.
  Allowance(InputView a, InputView b, const Target& target, double factor, const DecideOptions& options,
            const MagnitudeProduct& product, const Engine& engine);

  /// What an entry allows: dear, and asked once for many plans. @pre of this and what follows: a FloatEnvironment.
  [[nodiscard]] Probe probe(Index i, Index j) const;

  /// error / allowed, rounded up; the error relative to the product's scales. 0 where there is no error.
  [[nodiscard]] static double ratio_upper(const Probe& probe, double error);

  /// Over all entries; for a normwise target the ratio of the norms, at the entry with the largest error.
  [[nodiscard]] Worst worst(const RelativeError& error, int threads) const;

  /// For some entries (i, j) with errors relative to the product's scales: a lower limit of worst(), exact for single
  /// entries.
  [[nodiscard]] bool normwise() const { return normwise_; }
  /// error^2 at (i, j) over allowed^2 in the whole: what an entry contributes to a normwise ratio squared. From above.
  [[nodiscard]] double normwise_share(Index i, Index j, double error) const;

  /// Entries to try a plan on: the one that seems to allow least, as far as it is cheap to know, and one for every few rows and
  /// columns.
  [[nodiscard]] std::vector<Probe> probes(Index per_side) const;

  [[nodiscard]] const MagnitudeProduct& product() const { return product_; }

 private:
  [[nodiscard]] bool special(Index i, Index j) const;
  [[nodiscard]] Entry least_allowing() const;
  [[nodiscard]] double share_of(Index i, Index j, double product_lower) const;
  [[nodiscard]] double allowed_in_chunk(Index i, Index chunk) const;
  [[nodiscard]] bool below(Index i, Index j, double error, double ratio) const;
  void open_entries(Index i, Index first, Index count, double ratio, const double* errors, const double* factors,
                    std::uint8_t* open) const;
  [[nodiscard]] Worst worst_entry(const RelativeError& error, int threads) const;
  [[nodiscard]] Worst worst_norm(const RelativeError& error, int threads) const;
  [[nodiscard]] double at_scale_upper(Index i, Index j, double x) const;
  [[nodiscard]] double at_scale_lower(Index i, Index j, double x) const;
  void set_norm(int threads);

  const MagnitudeProduct& product_;
  const DecideOptions& options_;
  bool normwise_;
  double factor_;
  std::vector<double> row_norms_, column_norms_;  // for rowcol targets, from below
  std::vector<double> least_column_norms_;        // of every chunk of columns
  Matrix<double> m_;                              // for normwise targets: M's lower bound; +Inf for entries with specials
  std::int64_t scale_ = 0;                        // largest row + column exponent, the unit of norms
  double norm_allowed_ = 0;
};

/// x relative to the product's scales, when it was relative to those of a slicing, which are at least as large.
double rescaled_upper(double x, std::int64_t shift);

}  // namespace ozbound
