// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/prepared_operand.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/matrices.hpp"

namespace ozbound {

/// Prepared operands of a product; either may be null.
struct PreparedOperands {
  const PreparedOperand* a = nullptr;
  const PreparedOperand* b = nullptr;
};

/// Operations that deciding and certifying need on matrices in their own memory: norms, the enclosure of |A||B|, and the passes
/// over all entries that compare bounds with C. Code in bounds/ reads elements only through an Examiner or Matrices, so that
/// each memory has one of both; HostExaminer serves host memory. Results depend only on the elements: the same bits in every
/// memory. @pre of all members: a FloatEnvironment.
class Examiner {
 public:
  virtual ~Examiner() = default;

  /// Examines A and B. Only the format of C is used. The viewed matrices and prepared operands must outlive the result.
  [[nodiscard]] virtual std::unique_ptr<Examination> examine(const RealProduct& product,
                                                             const PreparedOperands& prepared = {}) const = 0;

  using ResultFacts = ozbound::ResultFacts;

  /// `remote` is bound.product and its exponents in the memory of the matrices, or null. C is complete when the call returns.
  [[nodiscard]] virtual ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                                                 const SpecialEntries& specials) const = 0;

  /// Starts to find these facts with a remote bound; the function that it returns waits for them. Returns null if they cannot
  /// be found while the host does other work. @param rounding what `bound` has besides its product @pre the remote bound, C and
  /// the specials outlive the function, and the thread that started calls it.
  [[nodiscard]] virtual std::function<ResultFacts()> start_result_facts(const RoundingError& /*rounding*/,
                                                                        const RemotePlanBound* /*remote*/,
                                                                        const InputView& /*c*/,
                                                                        const SpecialEntries& /*specials*/) const {
    return nullptr;
  }

  /// The last entry in row order that is not special and whose bound is not zero.
  [[nodiscard]] virtual std::optional<Entry> last_inexact(const PlanBound& bound, const SpecialEntries& specials) const = 0;

  struct Accepted {
    std::vector<Entry> open;  ///< entries that are not written, in row order
    double worst = 0;         ///< largest |alpha| E / (factor |x|) of the written entries
  };

  /// Writes the entries x of a product that are neither special nor subnormal and satisfy |alpha| E <= factor |x|, where E is
  /// their bound.
  virtual Accepted accept_relative(const InputView& product, const PlanBound& bound, double alpha, double factor,
                                   const SpecialEntries& specials, const OutputView& c) const = 0;
};

/// The examiner of matrices in host memory, for any engine. The engine measures the matrices and must outlive it.
class HostExaminer final : public Examiner {
 public:
  explicit HostExaminer(const Engine& engine) : engine_(&engine) {}

  [[nodiscard]] std::unique_ptr<Examination> examine(const RealProduct& product,
                                                     const PreparedOperands& prepared = {}) const override;
  [[nodiscard]] ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                                         const SpecialEntries& specials) const override;
  [[nodiscard]] std::optional<Entry> last_inexact(const PlanBound& bound, const SpecialEntries& specials) const override;
  Accepted accept_relative(const InputView& product, const PlanBound& bound, double alpha, double factor,
                           const SpecialEntries& specials, const OutputView& c) const override;

 private:
  const Engine* engine_;
};

}  // namespace ozbound
