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

std::optional<OperandForm> form_of(const Decision& decision, Side side) {
  if (!decision.plan) return std::nullopt;
  return decision.plan->form(side);
}

std::string describe(const std::optional<OperandForm>& form) {
  if (!form) return "neither slices nor residues";
  if (const auto* const residues = std::get_if<ResidueForm>(&*form))
    return "residues of " + std::to_string(residues->bits) + " bits, " + std::to_string(residues->moduli) + " moduli" +
           (residues->complex ? ", of complex integers" : "");
  const auto& slicing = std::get<Slicing>(*form);
  return std::to_string(slicing.slices) + " slices, " + to_string(slicing.encoding);
}

PreparedOperand::Parts parts_of(const InputView& operand, Side side, const OperandForm& form, const Engine& engine) {
  if (const auto* const residues = std::get_if<ResidueForm>(&form)) {
    ResiduePlan{residues->moduli, residues->bits, residues->bits}.validate();
    return {engine.prepare(operand, side, form), engine.norms(operand, side)};
  }
  return {engine.prepare(operand, side, form), engine.measure(operand, side, std::get<Slicing>(form))};
}

bool same_matrix(const InputView& x, const InputView& y) {
  return x.place() == y.place() && x.rows() == y.rows() && x.cols() == y.cols() && (x.empty() || same_elements(x, y));
}

}  // namespace

PreparedOperand::PreparedOperand(InputView operand, Side side, const std::optional<OperandForm>& form, const Engine& engine)
    : view_(operand), side_(side) {
  const FloatEnvironment environment;
  if (!engine.matrices().reaches(operand.place()))
    throw std::invalid_argument("operand must lie where the engine takes it from, not in " + to_string(operand.place()));
  fingerprint_ = engine.matrices().fingerprint(operand);
  if (form) parts_ = std::make_shared<const Parts>(parts_of(operand, side, *form, engine));
}

PreparedOperand::PreparedOperand(InputView operand, Side side, const Decision& decision, const Engine& engine)
    : PreparedOperand(operand, side, form_of(decision, side), engine) {}

PreparedOperand::PreparedOperand(InputView operand, Side side, std::uint64_t fingerprint, std::optional<Parts> parts)
    : view_(operand),
      side_(side),
      fingerprint_(fingerprint),
      parts_(parts ? std::make_shared<const Parts>(std::move(*parts)) : nullptr) {}

const IntegerOperand* PreparedOperand::integers(const OperandForm& form) const {
  return parts_ != nullptr && parts_->integers.serves(form) ? &parts_->integers : nullptr;
}

const SliceFacts* PreparedOperand::facts(const Slicing& slicing) const {
  return integers(slicing) == nullptr ? nullptr : std::get_if<SliceFacts>(&parts_->facts);
}

const std::vector<VectorNorms>* PreparedOperand::norms() const {
  return parts_ == nullptr ? nullptr : std::get_if<std::vector<VectorNorms>>(&parts_->facts);
}

void PreparedOperand::check(InputView operand, Side side, const Decision& decision, const Engine& engine,
                            const char* name) const {
  const auto refuse = [name](const std::string& why) { throw std::invalid_argument(std::string(name) + " " + why); };
  if (side != side_) refuse(std::string("was prepared as ") + (side_ == Side::rows_of_a ? "a" : "b"));
  if (!same_matrix(view_, operand)) refuse("is another matrix than the operand");
  const auto asked = form_of(decision, side);
  const bool serves = parts_ && asked ? parts_->integers.serves(*asked) : !parts_ && !asked;
  const auto held = parts_ ? std::optional(parts_->integers.form()) : std::nullopt;
  if (!serves) refuse("has " + describe(held) + ", where the decision takes " + describe(asked));
  if (parts_ && !engine.takes(parts_->integers)) refuse("was made by an engine with other options");
}

}  // namespace ozbound
