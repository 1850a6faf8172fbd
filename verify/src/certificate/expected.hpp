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

/// |alpha| E + the rounding, as records.md states it.
struct EntryBounds {
  RelativeBound product;
  double alpha = 1, result_factor = 0, underflow = 0;
  bool rounded_once = true;

  [[nodiscard]] double at(Index i, Index j, double c) const;
};

/// What entries show of the method.
struct Tally {
  Index undecided = 0, exact = 0;
  double relative_ratio = 0;
  std::string wrong_identity, wrong_guard;  ///< the first that is; empty where there is none

  void merge(const Tally& other);
};

/// What a method makes of a product: C, its bound, and what a certificate says of both. The claims and the subject must outlive
/// it.
class Expected {
 public:
  /// @pre check_method.
  Expected(const Claims& claims, const Subject& subject);
  virtual ~Expected() = default;
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

  /// C at a finite entry; none of native DGEMM, whose sums are its own.
  virtual std::optional<double> entry(Tally& tally, EntryProducts& products, Index i, Index j,
                                      const OracleEntry& truth) const = 0;

  /// Counts what `entry` does not see: an entry that is finite or not, and the other part of a complex one.
  virtual void count_pair(Tally&, EntryProducts&, Index, Index) const {}

  /// Whether both parts of a complex entry are finished exactly where one is.
  [[nodiscard]] virtual bool in_pairs() const { return false; }

  /// What the norms bound, AB - S (general_bound.md, G1), from the elements and the digits alone: no formula that a bound comes
  /// from has a part in it.
  virtual void look_at_identity(Tally&, EntryProducts&, Index, Index) const {}

  /// Notes an entry whose sum the moduli do not hold. @pre it is finite.
  void look_at_guard(Tally& tally, Index i, Index j) const;
  [[nodiscard]] bool by_residues() const;

  /// `ratio` and `worst_entry`.
  [[nodiscard]] virtual WorstRatio ratio(const Tally& tally) const;

  /// `assumptions`; @param worst what `ratio` said.
  [[nodiscard]] virtual std::vector<std::string> assumptions(const WorstRatio& worst) const;

  std::vector<Planned> plans;
  std::string guard;  ///< of residues: an entry that the plans may not hold; empty where there is none
  EntryBounds bounds;
  std::string source;                ///< of the bounds
  std::vector<std::string> assumed;  ///< by the bounds
  std::vector<std::string> limits;   ///< of what is recomputed
  bool ratio_of_entries = false;     ///< the ratio is the largest of those of the entries that are looked at

 protected:
  void compare(Tally& tally, const ExactNumber& error, const RelativeBound& bound, Index i, Index j) const;
  [[nodiscard]] double rounding_ratio() const;  ///< of a result whose only error is that of its rounding

  const Claims& claims_;
  const Subject& subject_;
  double tau_;
};

/// Whether the plans are those of a product by this method.
bool check_method(Findings& findings, const Claims& claims, const Subject& subject);

/// By the certificate's method.
std::unique_ptr<Expected> expected_of(const Claims& claims, const Subject& subject);

// Of each method:
std::unique_ptr<Expected> by_one_plan(const Claims& claims, const Subject& subject);
std::unique_ptr<Expected> within_relative_target(const Claims& claims, const Subject& subject);
std::unique_ptr<Expected> correctly_rounded(const Claims& claims, const Subject& subject);
std::unique_ptr<Expected> by_native(const Claims& claims, const Subject& subject);

/// |alpha| E.
double scaled_error(const RelativeBound& error, double alpha, Index i, Index j);

/// x * 2^exponent.
ExactNumber times_power(double x, std::int64_t exponent);

}  // namespace ozbound::checking
