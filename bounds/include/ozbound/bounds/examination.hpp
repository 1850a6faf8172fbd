// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/bounds/product_start.hpp"
#include "ozbound/bounds/rounding_error.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/matrices.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound {

struct PlanBound;
struct RealProduct;

/// A PlanBound in the memory of the matrices, if that is not the host's.
class RemotePlanBound : public RemoteEntryBound {
 public:
  /// A copy in host memory, with `remote` null.
  [[nodiscard]] virtual PlanBound fetch() const = 0;

  [[nodiscard]] EntryBound entries() const final;
};

/// The bound of a product under a plan before its rounding, relative to 2^(row_exponents[i] + column_exponents[j]).
struct PlanBound {
  EntryBound product;
  std::vector<std::int32_t> row_exponents;
  std::vector<std::int32_t> column_exponents;
  std::shared_ptr<const RemotePlanBound> remote = nullptr;  ///< if not null, the other members are empty
};

inline EntryBound RemotePlanBound::entries() const { return fetch().product; }

/// The bound for Ziv's test, in its own memory. The bound must outlive the result.
inline ZivBound ziv_bound(const PlanBound& bound) {
  return bound.remote == nullptr ? ZivBound(&bound.product) : ZivBound(bound.remote.get());
}

/// The bound in host memory.
inline PlanBound fetched(PlanBound bound) { return bound.remote == nullptr ? std::move(bound) : bound.remote->fetch(); }

/// The entry that comes closest to the error that a target allows, or exceeds it most.
struct Worst {
  double ratio = 0;  ///< the error before the rounding over the error that an Allowance allows
  Index i = 0;
  Index j = 0;
  std::string assumes = {};  ///< unproven assumption of the search; empty if there is none
};

/// An entry on which plans are tried, and the error that it allows before rounding, relative to the product's scales; +Inf
/// allows any error.
struct Probe {
  Index i;
  Index j;
  double allowed;
};

/// Facts about C that a certificate states.
struct ResultFacts {
  std::uint64_t fingerprint = 0;
  double largest_bound = 0;  ///< bound.upper(i, j, c(i, j)) over the entries that are not special
  bool infinite = false;     ///< one of these bounds is infinite
};

/// A product that is multiplied before it is decided. Nothing of C is written before `finish`. The
/// destructor waits until the work no longer reads A and B.
class StartedProduct {
 public:
  virtual ~StartedProduct() = default;

  /// The plan under which the product is multiplied; nothing if none was chosen. Waits until it is known, not for the product.
  [[nodiscard]] virtual std::optional<ResiduePlan> plan() const = 0;

  /// Starts to write C and does not wait for it. Entries with specials are not written. May also start to find the facts of C
  /// under the bound. Returns a function that waits for them, or null if the caller must find them.
  /// @param product the product that was started, whose scalars and C0 may be others @param rounding what the bound has besides
  /// the error of the plan @param bound what Examination::bound returns for the plan, of the operands that were
  /// started, in their memory; or null. It must outlive the function.
  /// @pre there is a plan, and it certifies what the caller will state; entries with specials are written.
  virtual std::function<ResultFacts()> finish(const RealProduct& product, const RoundingError& rounding,
                                              const RemotePlanBound* bound) = 0;

  /// Writes C as `finish` does, except for the entries that Ziv's test leaves open under this bound, and returns these in row
  /// order. Waits for C. Returns nothing, and has written nothing, if that cannot be done. @pre as finish.
  virtual std::optional<std::vector<Entry>> finish_decided(const RealProduct& /*product*/, ZivBound /*error*/) {
    return std::nullopt;
  }
};

/// The largest error before the final rounding for which the error after it meets a target:
///
///   |alpha| E (1 + u) + u M <= tau M,   that is   E <= (tau - u) / (1 + u) * M / |alpha|,
///
/// with a lower bound of M (docs/derivations/targets.md). Entries with specials allow any error and count in no norm.
/// @pre of all members: a FloatEnvironment.
class Allowance {
 public:
  virtual ~Allowance() = default;

  /// The error that an entry allows. Expensive; compute it once for many plans.
  [[nodiscard]] virtual Probe probe(Index i, Index j) const = 0;

  /// The worst entry of all. For a normwise target, the ratio of the norms, at the entry with the largest error.
  [[nodiscard]] virtual Worst worst(const PlanBound& bound) const = 0;

  /// Starts to look for the worst entry. The function that it returns waits for the search and returns what `worst` would; it
  /// outlives this object and the examination. Returns null if the search cannot run while the host does other work. @pre the
  /// thread that started the search calls the function.
  [[nodiscard]] virtual std::function<Worst()> search_worst(const PlanBound& /*bound*/) const { return nullptr; }

  /// The ratios of the worst entries of several bounds. May take less time than a call of `worst` for each.
  [[nodiscard]] virtual std::vector<double> largest_ratios(const std::vector<const PlanBound*>& bounds) const {
    std::vector<double> ratios;
    for (const auto* const bound : bounds) ratios.push_back(worst(*bound).ratio);
    return ratios;
  }

  /// Starts to multiply before the host has decided: under a plan by residues that is known to hold the product, or under one
  /// that the device chooses itself (residue_choice.hpp), before the host knows the sums that decide it. Returns null if that
  /// cannot be done, as here by default. @pre no other product that the examination started exists
  /// @param product as examined, of matrices in the device's memory
  [[nodiscard]] virtual std::unique_ptr<StartedProduct> start_product(const RealProduct& /*product*/,
                                                                      const ProductStart& /*start*/) const {
    return nullptr;
  }

  /// True if the target is normwise. Probes are then meaningless; use normwise_share.
  [[nodiscard]] virtual bool normwise() const = 0;

  /// error^2 at (i, j) over the total allowed^2: an entry's contribution to the square of a normwise ratio. Rounded up.
  [[nodiscard]] virtual double normwise_share(Index i, Index j, double error) const = 0;

  /// Entries on which a plan is tried: the one that seems to allow least, by a cheap estimate, and one for every few rows and
  /// columns.
  [[nodiscard]] virtual std::vector<Probe> probes(Index per_side) const = 0;
};

/// Facts about A and B that a certificate states for any plan.
struct OperandRecord {
  std::uint64_t a = 0, b = 0;               ///< fingerprints
  std::vector<std::uint8_t> rows, columns;  ///< of A and B: 1 if the vector holds a NaN or an infinity
};

/// Facts about A and B that choose a plan by residues. Bounds are relative to the product's scales.
struct ResidueFacts {
  PlanBound row_sums;         ///< ||a_i||_1 in every column, rounded up: 2^(p_B + 1) times the error of rounding B
  PlanBound column_sums;      ///< ||b_j||_1 in every row, rounded up: 2^(p_A + 1) times the error of rounding A
  std::int32_t exact_bits_a;  ///< bits of integers that hold A exactly
  std::int32_t exact_bits_b;
  std::uint64_t largest_units;  ///< every entry of |A||B|, terms rounded up, is at most this many 2^(e_i + e_j - 14) (R9)
};

/// Ranges of exponents that contain those of A's and B's vectors without specials (Matrices::exponent_range). Empty if these
/// are empty.
struct OuterRanges {
  ExponentRange a, b;
};

/// The facts that a decision uses about the elements of A and B, computed once and kept. The matrices stay in their own memory
/// and must outlive it. @pre of all members: a FloatEnvironment.
class Examination {
 public:
  virtual ~Examination() = default;

  [[nodiscard]] virtual OperandRecord record() = 0;

  /// plan_error_upper for all entries.
  [[nodiscard]] virtual PlanBound bound(const Plan& plan) = 0;

  /// The plan's error bound for one entry, relative to the product's scales. `uniform` is the plan's truncation_a_priori_upper.
  [[nodiscard]] virtual double error_at(const Plan& plan, double uniform, Index i, Index j) = 0;

  /// True if the moduli of a plan hold every sum, by the norms of the operands or by level 1 of the enclosure of |A||B|
  /// (residues.md, R8, R9). False: unknown.
  [[nodiscard]] virtual bool holds(const ResiduePlan&) { return false; }

  /// The facts for plans by residues; nothing if the engine has no residues.
  [[nodiscard]] virtual std::optional<ResidueFacts> residue_facts() { return std::nullopt; }

  /// Ranges that follow from facts which other members need too; nothing if ranges would take a pass of their own.
  [[nodiscard]] virtual std::optional<OuterRanges> outer_ranges() { return std::nullopt; }

  /// @param factor share of M that E may take: (tau - u) / (1 + u), rounded down. The result refers to this object.
  [[nodiscard]] virtual std::unique_ptr<Allowance> allowance(const Target& target, double factor) = 0;
};

}  // namespace ozbound
