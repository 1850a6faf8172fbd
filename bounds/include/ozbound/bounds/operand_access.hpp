#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/prepared_operand.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/special_entries.hpp"

namespace ozbound {

/// Exponents of the smallest and the largest non-zero magnitude of some numbers.
struct ExponentRange {
  int least = std::numeric_limits<int>::max();
  int top = std::numeric_limits<int>::min();

  [[nodiscard]] bool empty() const { return top < least; }
};

/// A matrix, where an engine's operands lie.
class OwnedMatrix {
 public:
  virtual ~OwnedMatrix() = default;
  [[nodiscard]] virtual OutputView view() = 0;
};

/// What an examination reads, and what is known of it already.
struct Factors {
  InputView a;
  InputView b;
  const PreparedOperand* prepared_a = nullptr;  ///< may be null, as prepared_b
  const PreparedOperand* prepared_b = nullptr;
};

/// All that deciding and certifying ask of the elements of matrices: nothing else in bounds/ reads or writes one. An engine
/// whose operands do not lie in the host's memory implements it too; for any other one there is HostAccess. Results are
/// functions of the elements, the same bits wherever these lie. @pre of all members: a FloatEnvironment.
class OperandAccess {
 public:
  virtual ~OperandAccess() = default;

  [[nodiscard]] virtual std::uint64_t fingerprint(const InputView& matrix) const = 0;

  /// The range of the vectors without specials.
  [[nodiscard]] virtual ExponentRange exponent_range(const InputView& operand, Side side) const = 0;
  /// The range of the elements that are finite.
  [[nodiscard]] virtual ExponentRange exponent_range(const InputView& matrix) const = 0;

  [[nodiscard]] virtual std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool is_double) const = 0;
  /// A copy, in binary64.
  [[nodiscard]] virtual std::unique_ptr<OwnedMatrix> copy(const InputView& matrix) const = 0;

  [[nodiscard]] virtual SpecialEntries special_entries(const GemmCall& call) const = 0;
  [[nodiscard]] virtual Index count(const SpecialEntries& specials) const = 0;

  /// As ozbound::apply_specials, multiply_exactly and finish_exactly.
  virtual void apply_specials(const GemmCall& call, const SpecialEntries& specials) const = 0;
  virtual void multiply_exactly(const GemmCall& call, const SpecialEntries& specials) const = 0;
  virtual void finish_exactly(const GemmCall& call, const std::vector<Entry>& entries) const = 0;

  /// `options` must outlive the result, as what it views; so must prepared operands.
  [[nodiscard]] virtual std::unique_ptr<Examination> examine(const Factors& factors, const DecideOptions& options) const = 0;

  /// As ozbound::multiply_finite, without Ziv's test. It may return before C is there: who asks for anything else here gets
  /// what it says of the C that is to come.
  virtual void multiply_finite(const GemmCall& call, const SplitPlan& plan, KeptSlices kept, double workspace) const = 0;

  /// What a certificate says of C.
  struct ResultFacts {
    std::uint64_t fingerprint = 0;
    double largest_bound = 0;  ///< bound.upper(i, j, c(i, j)) over the entries that are not special
    bool infinite = false;     ///< one of those is
  };

  /// `remote` is bound.product and its exponents where the matrices lie, or null. C is there when it returns.
  [[nodiscard]] virtual ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                                                 const SpecialEntries& specials) const = 0;

  /// The entries of C that are infinite and not special, in row order.
  [[nodiscard]] virtual std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& specials) const = 0;

  /// The last entry in row order, not special, whose bound is not zero.
  [[nodiscard]] virtual std::optional<Entry> last_inexact(const EntryBound& bound, const SpecialEntries& specials) const = 0;

  struct Accepted {
    std::vector<Entry> open;  ///< in row order; those are not written
    double worst = 0;         ///< largest |alpha| E / (factor |x|) of the others
  };

  /// Writes those entries x of a product, neither special nor subnormal, for which |alpha| E <= factor |x|, E their bound's.
  virtual Accepted accept_relative(const InputView& product, const ErrorBound& bound, double factor,
                                   const SpecialEntries& specials, const OutputView& c) const = 0;
};

/// Access to matrices in the host's memory, for any engine. `engine` must outlive it.
class HostAccess final : public OperandAccess {
 public:
  explicit HostAccess(const Engine& engine) : engine_(engine) {}

  [[nodiscard]] std::uint64_t fingerprint(const InputView& matrix) const override;
  [[nodiscard]] ExponentRange exponent_range(const InputView& operand, Side side) const override;
  [[nodiscard]] ExponentRange exponent_range(const InputView& matrix) const override;
  [[nodiscard]] std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool is_double) const override;
  [[nodiscard]] std::unique_ptr<OwnedMatrix> copy(const InputView& matrix) const override;
  [[nodiscard]] SpecialEntries special_entries(const GemmCall& call) const override;
  [[nodiscard]] Index count(const SpecialEntries& specials) const override;
  void apply_specials(const GemmCall& call, const SpecialEntries& specials) const override;
  void multiply_exactly(const GemmCall& call, const SpecialEntries& specials) const override;
  void finish_exactly(const GemmCall& call, const std::vector<Entry>& entries) const override;
  [[nodiscard]] std::unique_ptr<Examination> examine(const Factors& factors, const DecideOptions& options) const override;
  void multiply_finite(const GemmCall& call, const SplitPlan& plan, KeptSlices kept, double workspace) const override;
  [[nodiscard]] ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                                         const SpecialEntries& specials) const override;
  [[nodiscard]] std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& specials) const override;
  [[nodiscard]] std::optional<Entry> last_inexact(const EntryBound& bound, const SpecialEntries& specials) const override;
  Accepted accept_relative(const InputView& product, const ErrorBound& bound, double factor, const SpecialEntries& specials,
                           const OutputView& c) const override;

 private:
  const Engine& engine_;
};

/// The access of an engine: its own, if it has one, else the host's. `engine` must outlive it.
class AccessOf {
 public:
  explicit AccessOf(const Engine& engine) : host_(engine), own_(dynamic_cast<const OperandAccess*>(&engine)) {}

  const OperandAccess* operator->() const { return own_ != nullptr ? own_ : &host_; }
  const OperandAccess& operator*() const { return *operator->(); }

 private:
  HostAccess host_;
  const OperandAccess* own_;
};

}  // namespace ozbound
