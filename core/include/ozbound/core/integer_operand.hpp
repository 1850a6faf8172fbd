// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <utility>
#include <variant>

#include "ozbound/core/plan.hpp"
#include "ozbound/core/residue_matrix.hpp"
#include "ozbound/core/sliced_matrix.hpp"

namespace ozbound {

/// An operand as matrices of INT8: its slices, or its residues. Made by Engine::prepare, multiplied by Engine::multiply; a copy
/// shares them.
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

  /// @throws std::invalid_argument where the operand has residues.
  [[nodiscard]] const SlicedMatrix& slices() const { return get<SlicedMatrix>("a plan by slices takes no residues"); }

  /// @throws std::invalid_argument where the operand has slices.
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
