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

/// The cases drawn for a property. The property holds for all cases, but some cases do not test it.
struct CaseDomain {
  Index largest = 7;        ///< of m and n; k is up to three times as large
  int most_slices = 8;      ///< of either operand; occasionally up to max_slices
  bool specials = false;    ///< NaNs and infinities among A, B, C0, alpha and beta
  bool extremes = true;     ///< vectors of every exponent class, not only around 1
  bool floats = true;       ///< operands and C may be float
  bool exact_only = false;  ///< the accumulation is `exact`
  bool targets = false;     ///< a target is drawn
  bool attacked = false;    ///< scalars of every class; in some cases k to 133145, problem families, overflow and cancellation
  PlanKinds plans = PlanKinds::slices;
};

/// A statement about an engine's result that holds for every case. Tests, the command and users' own tests share it.
struct Property {
  std::string name;       ///< kebab-case
  std::string statement;  ///< in mathematics
  std::string source;     ///< a derivation of docs/, a decision record, a paper
  CaseDomain domain;

  /// Empty if the property holds; otherwise the reason: the worst entry, both values in hexadecimal, the plan.
  std::function<std::optional<std::string>(const GemmCase&, const Engine&)> falsify;
};

/// All properties of the library, the most elementary first.
std::span<const Property> all_properties();

/// @throws std::invalid_argument listing the names.
const Property& find_property(std::string_view name);

/// Runs falsify; turns an exception into an explanation. A property for the other kind of plan gets a plan of its own. If a
/// plan by residues does not hold the operands, its bits are reduced until it does. If the engine refuses residues, properties
/// of residues pass, and properties of any plan get slices.
/// @throws std::invalid_argument for an invalid case.
std::optional<std::string> judge(const Property& property, const GemmCase& gemm_case, const Engine& engine);

/// A case of a domain, the same for a seed on every platform. Classes of numbers are weighted as in number_classes.hpp.
GemmCase sample_case(const CaseDomain& domain, std::uint64_t seed);

/// Cases one step simpler, the largest steps first. They lack rows, columns, inner indices, slices, threads or padding, or they
/// have elements, alpha, beta or tau that are 0 or 1, nearer to 1 by exponent, or with a bit cleared. Each case is valid, and
/// every chain of simplifications ends.
std::vector<GemmCase> simpler_cases(const GemmCase& gemm_case);

}  // namespace ozbound
