// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/prepared_operand.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/matrices.hpp"

namespace ozbound {

/// What is known of the operands of a product already; either may be null.
struct PreparedOperands {
  const PreparedOperand* a = nullptr;
  const PreparedOperand* b = nullptr;
};

/// What deciding and certifying ask of a product where its matrices lie: norms, the enclosure of |A||B|, and the passes over
/// all entries that compare bounds with C. Nothing in bounds/ reads an element but through an Examiner or Matrices, so that
/// there is one of each for every memory; HostExaminer is that of the host's. Results are functions of the elements, the same
/// bits wherever these lie. @pre of all members: a FloatEnvironment.
class Examiner {
 public:
  virtual ~Examiner() = default;

  /// C is not looked at but for its format. What the product views, and prepared operands, must outlive the result.
  /// @param encoding of the plans that it will be asked about; it may take longer over others
  [[nodiscard]] virtual std::unique_ptr<Examination> examine(const RealProduct& product,
                                                             const PreparedOperands& prepared = {}) const = 0;

  /// What a certificate says of C.
  struct ResultFacts {
    std::uint64_t fingerprint = 0;
    double largest_bound = 0;  ///< bound.upper(i, j, c(i, j)) over the entries that are not special
    bool infinite = false;     ///< one of those is
  };

  /// `remote` is bound.product and its exponents where the matrices lie, or null. C is there when it returns.
  [[nodiscard]] virtual ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                                                 const SpecialEntries& specials) const = 0;

  /// The last entry in row order, not special, whose bound is not zero.
  [[nodiscard]] virtual std::optional<Entry> last_inexact(const PlanBound& bound, const SpecialEntries& specials) const = 0;

  struct Accepted {
    std::vector<Entry> open;  ///< in row order; those are not written
    double worst = 0;         ///< largest |alpha| E / (factor |x|) of the others
  };

  /// Writes those entries x of a product, neither special nor subnormal, for which |alpha| E <= factor |x|, E their bound's.
  virtual Accepted accept_relative(const InputView& product, const PlanBound& bound, double alpha, double factor,
                                   const SpecialEntries& specials, const OutputView& c) const = 0;
};

/// The examiner of matrices in the host's memory, whatever the engine, which measures them and must outlive it.
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
