// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ozbound/core/engine.hpp"
#include "ozbound/verify/gemm_case.hpp"

namespace ozbound {

/// Kinds of plans.
enum class PlanKinds : std::uint8_t { slices, residues, any };

/// Which cases are drawn for a property. A property holds for every case, but learns nothing from some.
struct CaseDomain {
  Index largest = 7;        ///< of m and n; k up to three times that
  int most_slices = 8;      ///< of either operand; now and then up to max_slices
  bool specials = false;    ///< NaNs and infinities among A, B, C0, alpha and beta
  bool extremes = true;     ///< vectors of every exponent class, not only around 1
  bool floats = true;       ///< operands and C may be float
  bool exact_only = false;  ///< the accumulation is `exact`
  bool targets = false;     ///< a target is drawn
  bool attacked = false;    ///< scalars of every class; k to 133145, problem families, overflow and cancellation in some cases
  PlanKinds plans = PlanKinds::slices;
};

/// A statement about what an engine makes of any case: stated once, and used by tests, by the command and by users' own tests.
struct Property {
  std::string name;       ///< kebab-case
  std::string statement;  ///< in mathematics
  std::string source;     ///< a derivation of docs/, a decision record, a paper
  CaseDomain domain;

  /// Nothing where the property holds; else why not: the worst entry, both values in hexadecimal, the plan.
  std::function<std::optional<std::string>(const GemmCase&, const Engine&)> falsify;
};

/// All properties of the library, the most elementary first.
std::span<const Property> all_properties();

/// @throws std::invalid_argument listing the names.
const Property& find_property(std::string_view name);

/// What falsify says; an exception is an explanation too. A property of the other kind of plans gets a plan of its own; of a
/// plan by residues that does not hold the operands bits are left out until it does. Of residues nothing is said of an engine
/// that refuses them.
/// @throws std::invalid_argument where the case is none.
std::optional<std::string> judge(const Property& property, const GemmCase& gemm_case, const Engine& engine);

/// A case of a domain: the same for a seed on every platform. Classes of numbers are weighted as number_classes.hpp says.
GemmCase sample_case(const CaseDomain& domain, std::uint64_t seed);

/// Cases one step simpler, the boldest steps first: without rows, columns, inner indices, slices, threads, padding; elements,
/// alpha, beta and tau that are 0 or 1, nearer to 1 by exponent, or with any bit cleared. Each is valid, and every chain of
/// them ends.
std::vector<GemmCase> simpler_cases(const GemmCase& gemm_case);

}  // namespace ozbound
