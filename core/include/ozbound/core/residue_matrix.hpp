// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "ozbound/core/matrix.hpp"
#include "ozbound/core/residues.hpp"
#include "ozbound/core/sliced_matrix.hpp"

namespace ozbound {

/// Residues of all vectors of an operand, in the memory of an engine's choice. Immutable.
class Residues {
 public:
  virtual ~Residues() = default;
  Residues(const Residues&) = delete;
  Residues& operator=(const Residues&) = delete;

  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] ResidueForm form() const { return form_; }
  [[nodiscard]] Index count() const { return count_; }            ///< m or n
  [[nodiscard]] Index inner_dimension() const { return inner_; }  ///< k

  /// The scale of vector i, 2^exponent = 2 ufp of its largest magnitude. A special vector's residues are 0.
  [[nodiscard]] virtual VectorScale scale(Index i) const = 0;

  /// The balanced residue of element l of vector i modulo residue_moduli[t]; for 256, from -128 to 127.
  [[nodiscard]] virtual int residue(Index i, int t, Index l) const = 0;

 protected:
  Residues(Side side, ResidueForm form, Index count, Index inner) : side_(side), form_(form), count_(count), inner_(inner) {}

 private:
  Side side_;
  ResidueForm form_;
  Index count_;
  Index inner_;
};

/// The residues of an operand. Can be kept and multiplied often; copies share them.
class ResidueMatrix {
 public:
  /// @pre residues is not null.
  explicit ResidueMatrix(std::shared_ptr<const Residues> residues) : residues_(std::move(residues)) {}

  [[nodiscard]] const Residues& residues() const { return *residues_; }

  [[nodiscard]] Side side() const { return residues_->side(); }
  [[nodiscard]] ResidueForm form() const { return residues_->form(); }
  [[nodiscard]] Index count() const { return residues_->count(); }
  [[nodiscard]] Index inner_dimension() const { return residues_->inner_dimension(); }

 private:
  std::shared_ptr<const Residues> residues_;
};

}  // namespace ozbound
