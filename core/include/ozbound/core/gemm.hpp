#pragma once

#include <limits>
#include <vector>

#include "ozbound/core/engine.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// C = alpha A B + beta C0. A is m x k, B is k x n, C and C0 are m x n; a transposed operand is a transposed view.
///
/// beta = 0 never reads C0, alpha = 0 and an empty C never read A or B. C0 may be C itself. NaN, infinities and zeros in the
/// result are functions of the inputs alone (SpecialSum).
struct GemmCall {
  InputView a;
  InputView b;
  OutputView c;
  double alpha = 1;
  double beta = 0;
  InputView c0 = {};

  [[nodiscard]] Index m() const { return c.rows(); }
  [[nodiscard]] Index n() const { return c.cols(); }
  [[nodiscard]] Index k() const { return a.cols(); }

  /// @throws std::invalid_argument naming the argument: shapes that do not fit, C overlapping A, B or itself, C0 overlapping C
  /// without being C.
  void check() const;

  /// The same call without what is never read: no inner dimension where alpha = 0 or C is empty.
  [[nodiscard]] GemmCall without_unread() const;

  /// Every entry is NaN or infinite whatever the finite elements are: a scalar is not finite and meets a term.
  [[nodiscard]] bool all_special() const;
};

inline constexpr double unlimited_workspace = std::numeric_limits<double>::infinity();

/// Bytes beside operands and result that a product under this plan takes at least (one row by one column at a time), and at
/// most (unblocked). C has the same bits for every cap.
double least_workspace(const Engine& engine, const SplitPlan& plan, Index k);
double full_workspace(const Engine& engine, const SplitPlan& plan, Index m, Index n, Index k);

/// Multiplies under a plan, m and n blocked to keep the workspace cap (bytes), and further where an engine is out of memory;
/// entries with specials are left alone.
/// With `error` returns the entries that Ziv's test leaves open, row by row; they are not written.
/// @throws std::invalid_argument if the cap is below least_workspace.
std::vector<Entry> multiply_finite(const GemmCall& call, const SplitPlan& plan, const Engine& engine,
                                   const EntryBound* error = nullptr, double workspace = unlimited_workspace);

/// Slices of A, of B or of both that Engine::slice made before; null: made where they are needed.
struct KeptSlices {
  const SlicedMatrix* a = nullptr;
  const SlicedMatrix* b = nullptr;
};

/// The same with slices that are kept: of the whole operand, as the plan says. They are neither cut into blocks nor made again,
/// and count towards the workspace.
std::vector<Entry> multiply_finite(const GemmCall& call, const SplitPlan& plan, const Engine& engine, KeptSlices kept,
                                   const EntryBound* error = nullptr, double workspace = unlimited_workspace);

/// Writes the entries that NaN and infinities decide, and no others. Comes first: what it writes over C0 stays special, whereas
/// a finite product may overflow over a C0 that was not.
void apply_specials(const GemmCall& call, int threads);

/// The given entries, correctly rounded by the exact superaccumulator. @pre none of them is special.
void finish_exactly(const GemmCall& call, const std::vector<Entry>& entries, int threads);

/// All entries that are not special, correctly rounded by the exact superaccumulator.
void multiply_exactly(const GemmCall& call, int threads);

/// The whole product under a plan: checked, multiplied, specials applied.
void gemm(const GemmCall& call, const SplitPlan& plan, const Engine& engine, double workspace = unlimited_workspace);

}  // namespace ozbound
