// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <utility>
#include <variant>

#include "ozbound/core/plan.hpp"
#include "ozbound/core/residue_matrix.hpp"
#include "ozbound/core/sliced_matrix.hpp"

namespace ozbound {

/// An operand as INT8 matrices: its slices or its residues. Engine::prepare makes it and Engine::multiply uses it; copies share
/// the matrices.
class IntegerOperand {
 public:
  IntegerOperand(SlicedMatrix slices) : of_(std::move(slices)) {}       // NOLINT(google-explicit-constructor): slices are one
  IntegerOperand(ResidueMatrix residues) : of_(std::move(residues)) {}  // NOLINT(google-explicit-constructor): so are residues

  [[nodiscard]] Side side() const {
    return std::visit([](const auto& x) { return x.side(); }, of_);
  }
  [[nodiscard]] Index count() const {  ///< m or n
    return std::visit([](const auto& x) { return x.count(); }, of_);
  }
  [[nodiscard]] Index inner_dimension() const {  ///< k
    return std::visit([](const auto& x) { return x.inner_dimension(); }, of_);
  }

  [[nodiscard]] OperandForm form() const {
    if (const auto* residues = residues_or_null()) return residues->form();
    return std::get<SlicedMatrix>(of_).slicing();
  }

  /// True if the operand serves where `asked` is needed: it has that form, or residues with as many bits of more moduli.
  [[nodiscard]] bool serves(const OperandForm& asked) const {
    const auto* const residues = residues_or_null();
    const auto* const form = std::get_if<ResidueForm>(&asked);
    if (residues == nullptr || form == nullptr) return this->form() == asked;
    const auto own = residues->form();
    return own.complex == form->complex && own.bits == form->bits && own.moduli >= form->moduli;
  }

  /// Null if the operand has residues.
  [[nodiscard]] const SlicedMatrix* slices_or_null() const { return std::get_if<SlicedMatrix>(&of_); }

  /// Null if the operand has slices.
  [[nodiscard]] const ResidueMatrix* residues_or_null() const { return std::get_if<ResidueMatrix>(&of_); }

  /// @throws std::invalid_argument if the operand has residues.
  [[nodiscard]] const SlicedMatrix& slices() const { return get<SlicedMatrix>("a plan by slices takes no residues"); }

  /// @throws std::invalid_argument if the operand has slices.
  [[nodiscard]] const ResidueMatrix& residues() const { return get<ResidueMatrix>("a plan by residues takes no slices"); }

 private:
  template <class Kind>
  [[nodiscard]] const Kind& get(const char* otherwise) const {
    if (const auto* of = std::get_if<Kind>(&of_)) return *of;
    throw std::invalid_argument(otherwise);
  }

  std::variant<SlicedMatrix, ResidueMatrix> of_;
};

}  // namespace ozbound
