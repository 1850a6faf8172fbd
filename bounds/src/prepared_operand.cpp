// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/prepared_operand.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "ozbound/core/detail/overlap.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/matrices.hpp"

namespace ozbound {
namespace {

std::optional<Slicing> slicing_of(const Decision& decision, Side side) {
  if (!decision.plan) return std::nullopt;
  return decision.plan->visit(
      [side](const SplitPlan& plan) -> std::optional<Slicing> { return side == Side::rows_of_a ? plan.a : plan.b; },
      [](const ResiduePlan&) -> std::optional<Slicing> { return std::nullopt; });
}

std::string describe(const std::optional<Slicing>& slicing) {
  if (!slicing) return "no slices";
  return std::to_string(slicing->slices) + " slices, " + to_string(slicing->encoding);
}

bool same_matrix(const InputView& x, const InputView& y) {
  return x.place() == y.place() && x.rows() == y.rows() && x.cols() == y.cols() && (x.empty() || same_elements(x, y));
}

}  // namespace

PreparedOperand::PreparedOperand(InputView operand, Side side, std::optional<Slicing> slicing, const Engine& engine)
    : view_(operand), side_(side) {
  const FloatEnvironment environment;
  if (!engine.matrices().reaches(operand.place()))
    throw std::invalid_argument("operand must lie where the engine takes it from, not in " + to_string(operand.place()));
  fingerprint_ = engine.matrices().fingerprint(operand);
  if (!slicing) return;
  parts_ = std::make_shared<const Parts>(Parts{engine.slice(operand, side, *slicing), engine.measure(operand, side, *slicing)});
}

PreparedOperand::PreparedOperand(InputView operand, Side side, Slicing slicing, const Engine& engine)
    : PreparedOperand(operand, side, std::optional(slicing), engine) {}

PreparedOperand::PreparedOperand(InputView operand, Side side, const Decision& decision, const Engine& engine)
    : PreparedOperand(operand, side, slicing_of(decision, side), engine) {}

PreparedOperand::PreparedOperand(InputView operand, Side side, std::uint64_t fingerprint, std::optional<Parts> parts)
    : view_(operand),
      side_(side),
      fingerprint_(fingerprint),
      parts_(parts ? std::make_shared<const Parts>(std::move(*parts)) : nullptr) {}

const SlicedMatrix* PreparedOperand::slices(const Slicing& slicing) const { return has(slicing) ? &parts_->slices : nullptr; }

const SliceFacts* PreparedOperand::facts(const Slicing& slicing) const { return has(slicing) ? &parts_->facts : nullptr; }

void PreparedOperand::check(InputView operand, Side side, const Decision& decision, const Engine& engine,
                            const char* name) const {
  const auto refuse = [name](const std::string& why) { throw std::invalid_argument(std::string(name) + " " + why); };
  if (side != side_) refuse(std::string("was prepared as ") + (side_ == Side::rows_of_a ? "a" : "b"));
  if (!same_matrix(view_, operand)) refuse("is another matrix than the operand");
  const auto asked = slicing_of(decision, side);
  const auto held = parts_ ? std::optional(parts_->slices.slicing()) : std::nullopt;
  if (held != asked) refuse("has " + describe(held) + ", where the decision takes " + describe(asked));
  if (held && !engine.takes(parts_->slices)) refuse("was sliced by an engine with other options");
}

}  // namespace ozbound
