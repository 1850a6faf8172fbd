// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "claims.hpp"
#include "entry_products.hpp"
#include "findings.hpp"
#include "numbers.hpp"
#include "subject.hpp"

namespace ozbound::checking {

/// |alpha| E plus the rounding, as records.md states it.
struct EntryBounds {
  RelativeBound product;
  double alpha = 1, result_factor = 0, underflow = 0;
  bool rounded_once = true;

  [[nodiscard]] double at(Index i, Index j, double c) const;
};

/// Counts and findings that entries give about the method.
struct Tally {
  Index undecided = 0, exact = 0;
  double relative_ratio = 0;
  std::string wrong_identity, wrong_guard;  ///< the first of each; empty if there is none

  void merge(const Tally& other);
};

/// The expected results of a method for a product: C, its bound, and a certificate's claims about both. The claims and the
/// subject must outlive it.
class Expected {
 public:
  /// @pre check_method.
  Expected(const Claims& claims, const Subject& subject);
  virtual ~Expected() = default;
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

  /// C at a finite entry. Empty for native DGEMM, whose sums cannot be predicted.
  virtual std::optional<double> entry(Tally& tally, EntryProducts& products, Index i, Index j,
                                      const OracleEntry& truth) const = 0;

  /// Called for every entry, finite or not. Counts what `entry` does not: both parts of a complex entry if one is open.
  virtual void count_pair(Tally&, EntryProducts&, Index, Index) const {}

  /// True if both parts of a complex entry are finished exactly when one part is.
  [[nodiscard]] virtual bool in_pairs() const { return false; }

  /// Checks AB - S, which the norms bound (general_bound.md, G1), from the elements and the digits only. Uses none of the
  /// formulas behind the bounds.
  virtual void look_at_identity(Tally&, EntryProducts&, Index, Index) const {}

  /// Notes an entry whose sum the moduli do not hold. @pre the entry is finite.
  void look_at_guard(Tally& tally, Index i, Index j) const;
  [[nodiscard]] bool by_residues() const;

  /// The claims `ratio` and `worst_entry`.
  [[nodiscard]] virtual WorstRatio ratio(const Tally& tally) const;

  /// The claim `assumptions`. @param worst the result of `ratio`
  [[nodiscard]] virtual std::vector<std::string> assumptions(const WorstRatio& worst) const;

  std::vector<Planned> plans;
  std::string guard;  ///< for residues, an entry that the plans may not hold; empty if there is none
  EntryBounds bounds;
  std::string source;                ///< of the bounds
  std::vector<std::string> assumed;  ///< by the bounds
  std::vector<std::string> limits;   ///< of the recomputation
  bool ratio_of_entries = false;     ///< the ratio is the largest ratio among the examined entries

 protected:
  void compare(Tally& tally, const ExactNumber& error, const RelativeBound& bound, Index i, Index j) const;
  [[nodiscard]] double rounding_ratio() const;  ///< the ratio of a result whose only error is its rounding

  const Claims& claims_;
  const Subject& subject_;
  double tau_;
};

/// Checks that the plans are those of a product by this method.
bool check_method(Findings& findings, const Claims& claims, const Subject& subject);

/// The expected results for the certificate's method.
std::unique_ptr<Expected> expected_of(const Claims& claims, const Subject& subject);

// One function for each method:
std::unique_ptr<Expected> by_one_plan(const Claims& claims, const Subject& subject);
std::unique_ptr<Expected> within_relative_target(const Claims& claims, const Subject& subject);
std::unique_ptr<Expected> correctly_rounded(const Claims& claims, const Subject& subject);
std::unique_ptr<Expected> by_native(const Claims& claims, const Subject& subject);

/// |alpha| E.
double error_times_alpha(const RelativeBound& error, double alpha, Index i, Index j);

/// x * 2^exponent.
ExactNumber times_power(double x, std::int64_t exponent);

}  // namespace ozbound::checking
