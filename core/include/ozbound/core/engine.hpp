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

/// What happens to the integer sums: C = alpha S + beta C0, rounded once.
struct Epilogue {
  double alpha = 1;  ///< finite
  double beta = 0;   ///< finite; 0 never reads c0
  InputView c0;      ///< m x n, or empty where beta = 0; may be C itself

  /// If given, an entry is written only when Ziv's test decides its bits.
  ZivBound error = {};
};

/// An engine has no memory for what it is asked; C is as it was. A smaller product may succeed.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Matrices;
struct RealProduct;

/// Slices or residues of A, of B or of both that an engine made before (Engine::prepare); null: made where they are needed.
struct KeptOperands {
  const IntegerOperand* a = nullptr;
  const IntegerOperand* b = nullptr;
};

/// Makes slices or residues of operands, and multiplies them. Integer sums are exact, so that every engine, kernel, thread
/// count and blocking gives the same bits. Engines hold no state between calls and may be shared between threads.
class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual SlicedMatrix slice(InputView operand, Side side, Slicing slicing) const = 0;
  /// Whether slices or residues lie as this engine would lay them, so that it multiplies them with its own.
  [[nodiscard]] virtual bool takes(const IntegerOperand& operand) const = 0;
  [[nodiscard]] virtual SliceFacts measure(InputView operand, Side side, Slicing slicing) const = 0;

  /// Whether it multiplies by residues. The default does not: prepare and recovered_groups refuse them.
  [[nodiscard]] virtual bool has_residues() const { return false; }

  /// vector_norms, of which guard and bound of residues are made. The default takes them from `measure`, and no vector as
  /// exact.
  [[nodiscard]] virtual std::vector<VectorNorms> norms(InputView operand, Side side) const;

  /// FirstDigitSums::largest_units of A and B, of which the guard asks where norms do not tell. The default takes them from
  /// slices, of matrices in the host's memory.
  [[nodiscard]] virtual std::uint64_t largest_units(InputView a, InputView b) const;

  /// Makes the slices or residues of an operand that a plan asks for. The default slices, and refuses residues.
  /// @throws std::invalid_argument where this engine has no such form.
  [[nodiscard]] virtual IntegerOperand prepare(InputView operand, Side side, const OperandForm& form) const;

  /// Writes C (m x n) and returns the entries that Ziv's test left open, in row order; those are not written. Nor are entries
  /// with a NaN or infinity among a's row, b's column or c0: `apply_specials` knows them. Of residues of more moduli than the
  /// plan's, with its bits, the first are multiplied.
  /// @pre a plan by residues holds the operands: check_held of gemm.hpp, or anything else that shows it.
  /// @throws std::invalid_argument where shapes or forms do not fit the plan, or it does not take the operands; OutOfMemory.
  virtual std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan,
                                      const Epilogue& epilogue, OutputView c) const = 0;

  /// What else products ask of the matrices that this engine takes.
  [[nodiscard]] virtual const Matrices& matrices() const = 0;

  /// Starts a whole product without Ziv's test, entries with specials left alone, and does not wait for C; false where this
  /// engine cannot, which is what most say. Kept operands must live until C is there. @pre the workspace suffices.
  [[nodiscard]] virtual bool start(const RealProduct& product, const Plan& plan, KeptOperands kept) const;

  /// The exact integer sum of every group of the plan: [t] holds group t, m x n. What complex scalars multiply, and what tests
  /// compare.
  [[nodiscard]] virtual std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                                     const SplitPlan& plan) const = 0;

  /// C' of every entry of a plan by residues, recovered: in residue_layout's groups of a carry chain, [g] group g, m x n, from
  /// 0 to the radix less 1 but for the first. What tests compare. @pre the plan holds the operands. The default refuses it.
  [[nodiscard]] virtual std::vector<Matrix<std::int64_t>> recovered_groups(const ResidueMatrix& a, const ResidueMatrix& b,
                                                                           const ResiduePlan& plan) const;

  [[nodiscard]] virtual const CostModel& costs() const = 0;

  /// Upper limit of the bytes that an m x n x k product under a plan takes beside operands and result.
  [[nodiscard]] virtual double workspace(const Plan& plan, Index m, Index n, Index k) const = 0;

  /// The bytes for a real product that stands for a complex one, by layers of complex integers (ResidueForm::complex);
  /// nothing where this engine has none for such sizes, or they take longer than real ones: the default.
  [[nodiscard]] virtual std::optional<double> complex_workspace(const ResiduePlan& plan, Index m, Index n, Index k) const;

  /// Threads that the parts of a product outside the engine should use.
  [[nodiscard]] virtual int threads() const = 0;
};

/// These checks refuse what no engine takes. @throws std::invalid_argument naming the argument: sides or forms not the plan's,
/// different inner dimensions or one whose sums are too long; a C or C0 of another shape than m x n, a scalar that is not
/// finite.
void check_operands(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan);
void check_inner_dimension(const Plan& plan, Index k);
void check_epilogue(const Epilogue& epilogue, const OutputView& c, Index m, Index n);

/// The forms that a plan gives the operands of a product.
struct OperandForms {
  OperandForm a, b;
};
OperandForms operand_forms(const Plan& plan);

/// The forms by layers of complex integers, for a real product, m x n x k, that stands for a complex one; nothing where the
/// engine or the plan has none, or they take more than `most` bytes.
std::optional<OperandForms> complex_forms(const Engine& engine, const Plan& plan, Index m, Index n, Index k, double most);

/// An engine that multiplies slices alone refuses a plan by this. @throws std::invalid_argument naming the plan.
[[noreturn]] void refuse_residues(const ResiduePlan& plan);

}  // namespace ozbound
