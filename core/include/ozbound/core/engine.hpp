// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "ozbound/core/cost_model.hpp"
#include "ozbound/core/entry.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/integer_operand.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/vector_norms.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The step after the integer sums: C = alpha S + beta C0, rounded once.
struct Epilogue {
  double alpha = 1;  ///< finite
  double beta = 0;   ///< finite; 0 never reads c0
  InputView c0;      ///< m x n, or empty if beta = 0; may be C itself

  /// If given, an entry is written only if Ziv's test decides its bits.
  ZivBound error = {};
};

/// An engine lacks the memory for a call; C is unchanged. A smaller product may succeed.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Matrices;
struct RealProduct;

/// Slices or residues of A, of B or of both that an engine made earlier (Engine::prepare). Null: made when needed.
struct KeptOperands {
  const IntegerOperand* a = nullptr;
  const IntegerOperand* b = nullptr;
};

/// Makes slices or residues of operands, and multiplies them. Integer sums are exact, so that every engine, kernel, thread
/// count and blocking gives the same bits. Engines hold no state between calls, and threads may share them.
class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual SlicedMatrix slice(InputView operand, Side side, Slicing slicing) const = 0;
  /// True if the operand has this engine's layout, so that the engine can multiply it with operands of its own.
  [[nodiscard]] virtual bool takes(const IntegerOperand& operand) const = 0;
  [[nodiscard]] virtual SliceFacts measure(InputView operand, Side side, Slicing slicing) const = 0;

  /// True if the engine multiplies by residues. The default does not; its prepare and recovered_groups refuse them.
  [[nodiscard]] virtual bool has_residues() const { return false; }

  /// vector_norms: the input of the guard and the bound of residues. The default takes them from `measure`, and treats no
  /// vector as exact.
  [[nodiscard]] virtual std::vector<VectorNorms> norms(InputView operand, Side side) const;

  /// FirstDigitSums::largest_units of A and B. The guard needs it if the norms do not decide. The default computes it from
  /// slices, for matrices in host memory.
  [[nodiscard]] virtual std::uint64_t largest_units(InputView a, InputView b) const;

  /// Makes the slices or residues of an operand that a plan needs. The default slices, and refuses residues.
  /// @throws std::invalid_argument if this engine has no such form.
  [[nodiscard]] virtual IntegerOperand prepare(InputView operand, Side side, const OperandForm& form) const;

  /// Writes C (m x n) and returns the entries that Ziv's test left open, in row order; those are not written. Entries with a
  /// NaN or infinity in a's row, b's column or c0 are neither written nor returned; `apply_specials` handles them. Operands may
  /// have residues of more moduli than the plan, with the plan's bits; the first ones are multiplied.
  /// @pre A plan by residues holds the operands, as shown by check_held of gemm.hpp or otherwise.
  /// @throws std::invalid_argument if shapes or forms do not fit the plan, or the engine does not take the operands;
  /// OutOfMemory.
  virtual std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan,
                                      const Epilogue& epilogue, OutputView c) const = 0;

  /// The other operations that products need on the matrices that this engine takes.
  [[nodiscard]] virtual const Matrices& matrices() const = 0;

  /// Starts a whole product without Ziv's test and does not wait for C. Entries with specials are not written. Returns false if
  /// this engine cannot do so, the default. Kept operands must live until C is complete. @pre the workspace suffices.
  [[nodiscard]] virtual bool start(const RealProduct& product, const Plan& plan, KeptOperands kept) const;

  /// Multiplies a whole product whose operands are not prepared, or kept, and returns the entries that Ziv's test with `error`
  /// leaves open, in row order. Entries with specials are not written. Returns nothing, and writes nothing, if this engine
  /// cannot do so, the default. @pre the workspace suffices.
  [[nodiscard]] virtual std::optional<std::vector<Entry>> multiply_whole(const RealProduct& product, const Plan& plan,
                                                                         KeptOperands kept, ZivBound error) const;

  /// The exact integer sum of every group of the plan: [t] holds group t, m x n. Used with complex scalars and by tests.
  [[nodiscard]] virtual std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                                     const SplitPlan& plan) const = 0;

  /// The recovered C' of every entry under a plan by residues, in residue_layout's groups of a carry chain: [g] is group g, m x
  /// n. All groups except the first lie from 0 to the radix less 1. Used by tests. @pre the plan holds the operands. The
  /// default refuses the call.
  [[nodiscard]] virtual std::vector<Matrix<std::int64_t>> recovered_groups(const ResidueMatrix& a, const ResidueMatrix& b,
                                                                           const ResiduePlan& plan) const;

  [[nodiscard]] virtual const CostModel& costs() const = 0;

  /// Upper limit of the bytes that an m x n x k product under a plan takes beyond operands and result.
  [[nodiscard]] virtual double workspace(const Plan& plan, Index m, Index n, Index k) const = 0;

  /// The bytes for a real product that stands for a complex one, by layers of complex integers (ResidueForm::complex). Returns
  /// nothing if this engine has no such layers for these sizes, or if they take longer than real ones. The default returns
  /// nothing.
  [[nodiscard]] virtual std::optional<double> complex_workspace(const ResiduePlan& plan, Index m, Index n, Index k) const;

  /// Number of threads for the parts of a product outside the engine.
  [[nodiscard]] virtual int threads() const = 0;
};

/// Checks that every engine makes. @throws std::invalid_argument naming the argument: sides or forms other than the plan's;
/// different inner dimensions, or one whose sums are too long; a C or C0 of another shape than m x n; a scalar that is not
/// finite.
void check_operands(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan);
void check_inner_dimension(const Plan& plan, Index k);
void check_epilogue(const Epilogue& epilogue, const OutputView& c, Index m, Index n);

/// The forms that a plan gives the operands of a product.
struct OperandForms {
  OperandForm a, b;
};
OperandForms operand_forms(const Plan& plan);

/// The forms by layers of complex integers, for a real m x n x k product that stands for a complex one. Returns nothing if the
/// engine or the plan has no such forms, or if they take more than `most` bytes.
std::optional<OperandForms> complex_forms(const Engine& engine, const Plan& plan, Index m, Index n, Index k, double most);

/// Refuses a plan by residues, for engines that only multiply slices. @throws std::invalid_argument naming the plan.
[[noreturn]] void refuse_residues(const ResiduePlan& plan);

}  // namespace ozbound
