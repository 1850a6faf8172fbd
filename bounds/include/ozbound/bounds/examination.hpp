// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/bounds/target.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound {

struct PlanBound;

/// A PlanBound where the matrices lie, when that is not the host's memory.
class RemotePlanBound : public RemoteEntryBound {
 public:
  /// The same in the host's memory, with `remote` null.
  [[nodiscard]] virtual PlanBound fetch() const = 0;

  [[nodiscard]] EntryBound entries() const final;
};

/// The bound of a product under a plan before its rounding, relative to 2^(row_exponents[i] + column_exponents[j]).
struct PlanBound {
  EntryBound product;
  std::vector<std::int32_t> row_exponents;
  std::vector<std::int32_t> column_exponents;
  std::shared_ptr<const RemotePlanBound> remote = nullptr;  ///< if not null the other members are empty
};

inline EntryBound RemotePlanBound::entries() const { return fetch().product; }

/// For Ziv's test, where it lies. The bound must outlive it.
inline ZivBound ziv_bound(const PlanBound& bound) {
  return bound.remote == nullptr ? ZivBound(&bound.product) : ZivBound(bound.remote.get());
}

/// In the host's memory.
inline PlanBound fetched(PlanBound bound) { return bound.remote == nullptr ? std::move(bound) : bound.remote->fetch(); }

/// The entry that is nearest to what a target allows, or furthest beyond.
struct Worst {
  double ratio = 0;  ///< of an Allowance: the error before the rounding over what it allows
  Index i = 0;
  Index j = 0;
  std::string assumes = {};  ///< what the search took on trust; empty for nothing
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
/// @pre of all members: a FloatEnvironment.
class Allowance {
 public:
  virtual ~Allowance() = default;

  /// What an entry allows: dear, and asked once for many plans.
  [[nodiscard]] virtual Probe probe(Index i, Index j) const = 0;

  /// Over all entries; for a normwise target the ratio of the norms, at the entry with the largest error.
  [[nodiscard]] virtual Worst worst(const PlanBound& bound) const = 0;

  /// The same of several bounds, which may take less time together.
  [[nodiscard]] virtual std::vector<Worst> worst_of(const std::vector<const PlanBound*>& bounds) const {
    std::vector<Worst> result;
    for (const auto* const bound : bounds) result.push_back(worst(*bound));
    return result;
  }

  /// Whether the target is normwise: probes say nothing then, normwise_share does.
  [[nodiscard]] virtual bool normwise() const = 0;

  /// error^2 at (i, j) over allowed^2 in the whole: what an entry contributes to a normwise ratio squared. From above.
  [[nodiscard]] virtual double normwise_share(Index i, Index j, double error) const = 0;

  /// Entries to try a plan on: the one that seems to allow least, as far as it is cheap to know, and one for every few rows and
  /// columns.
  [[nodiscard]] virtual std::vector<Probe> probes(Index per_side) const = 0;
};

/// What a certificate says of A and B whatever the plan.
struct OperandRecord {
  std::uint64_t a = 0, b = 0;               ///< fingerprints
  std::vector<std::uint8_t> rows, columns;  ///< of A and B: 1 where the vector holds a NaN or an infinity
};

/// A plan by residues is chosen by these facts about A and B. Bounds are relative to the product's scales.
struct ResidueFacts {
  PlanBound row_sums;         ///< ||a_i||_1 in every column, from above: 2^(p_B + 1) times the error of rounding B
  PlanBound column_sums;      ///< ||b_j||_1 in every row: 2^(p_A + 1) times that of rounding A
  std::int32_t exact_bits_a;  ///< bits of integers that hold A exactly
  std::int32_t exact_bits_b;
  std::uint64_t largest_units;  ///< no entry of |A||B| is above that many 2^(e_i + e_j - 14), its terms rounded up (R9)
};

/// What is found out about A and B, and kept as long as this lives: all that a decision says of their elements. Of matrices
/// where they lie, which must outlive it. @pre of all members: a FloatEnvironment.
class Examination {
 public:
  virtual ~Examination() = default;

  [[nodiscard]] virtual OperandRecord record() = 0;

  /// plan_error_upper, of all entries.
  [[nodiscard]] virtual PlanBound bound(const Plan& plan) = 0;

  /// The same of one entry, relative to the product's scales. `uniform` is the plan's truncation_a_priori_upper.
  [[nodiscard]] virtual double error_at(const Plan& plan, double uniform, Index i, Index j) = 0;

  /// Whether the moduli of a plan hold every sum, by the norms of the operands or by level 1 of the enclosure of |A||B|
  /// (residues.md, R8, R9). False where that is not known.
  [[nodiscard]] virtual bool holds(const ResiduePlan&) { return false; }

  /// Nothing where the engine has no residues.
  [[nodiscard]] virtual std::optional<ResidueFacts> residue_facts() { return std::nullopt; }

  /// @param factor share of M that E may take: (tau - u) / (1 + u), from below. The result refers to this.
  [[nodiscard]] virtual std::unique_ptr<Allowance> allowance(const Target& target, double factor) = 0;
};

}  // namespace ozbound
