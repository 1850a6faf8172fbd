#pragma once

#include <cstdint>
#include <optional>

#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/examination.hpp"

namespace ozbound {

/// What `decide` found out about its operands under the plan that it took: all that a certificate says of them. It is about the
/// elements that were read, and holds no view of them; whoever uses it answers for their being the same.
struct Evidence {
  PlanBound bound;
  Worst worst;  ///< over what the decision's target allows, after the last rounding
};

struct Decided {
  Decision decision;
  std::optional<Evidence> evidence;     ///< where one plan's bound certifies every entry
  std::optional<OperandRecord> record;  ///< where it was asked for
};

enum class Purpose : std::uint8_t { decision, product };

/// `decide`, with what it found. @throws as decide.
Decided decide_with_evidence(InputView a, InputView b, const Target& target, const Engine& engine, const DecideOptions& options,
                             Purpose purpose);

}  // namespace ozbound
