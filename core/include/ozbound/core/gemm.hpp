// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "ozbound/core/engine.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound {

inline constexpr double unlimited_workspace = std::numeric_limits<double>::infinity();

/// Bytes beside operands and result that a product under this plan takes at least (one row by one column at a time), and at
/// most (unblocked). C has the same bits for every cap.
double least_workspace(const Engine& engine, const Plan& plan, Index k);
double full_workspace(const Engine& engine, const Plan& plan, Index m, Index n, Index k);

/// Multiplies under a plan, m and n blocked to keep the workspace cap (bytes), and further where an engine is out of memory;
/// entries with specials are left alone.
/// With `error` returns the entries that Ziv's test leaves open, row by row; they are not written.
/// @pre A plan by residues holds the operands (check_held), which is not asked again.
/// @throws std::invalid_argument if the cap is below least_workspace.
std::vector<Entry> multiply_finite(const RealProduct& call, const Plan& plan, const Engine& engine, ZivBound error = {},
                                   double workspace = unlimited_workspace);

/// The same with slices or residues that are kept: of the whole operand, as the plan says. They are neither cut into blocks nor
/// made again, and count towards the workspace.
std::vector<Entry> multiply_finite(const RealProduct& call, const Plan& plan, const Engine& engine, KeptOperands kept,
                                   ZivBound error = {}, double workspace = unlimited_workspace);

/// An entry that a plan by residues may not hold, by the norms of the operands (residue_plan.hpp) and then by their first
/// digits (one INT8 product, and 8 m n + 5 k (m + n) bytes); nothing where it holds all, as any plan by slices does. @throws
/// std::invalid_argument where k is too long for it.
std::optional<NotHeld> find_not_held(const RealProduct& call, const Plan& plan, const Engine& engine);

/// Refuses a plan for such an entry. @param parts rows of the product that are one row of the caller's C: 2 of a complex one's
/// real representation
/// @throws std::invalid_argument naming the plan, the entry (i, j) and the number of moduli that would do.
[[noreturn]] void refuse_not_held(const Plan& plan, const NotHeld& entry, Index parts);

/// Refuses operands that a plan by residues may not hold: where find_not_held has an entry, or k is too long. Any plan by
/// slices holds any operands. Comes before anything is written.
/// @param parts rows of the product that are one row of the caller's C: 2 of a complex one's real representation
/// @throws std::invalid_argument naming the plan, the entry (i, j) and the number of moduli that would do.
void check_held(const RealProduct& call, const Plan& plan, const Engine& engine, Index parts = 1);

/// Writes the entries that NaN and infinities decide, and no others. Comes first: what it writes over C0 stays special, whereas
/// a finite product may overflow over a C0 that was not.
void apply_specials(const RealProduct& call, int threads);

/// The given entries, correctly rounded by the exact superaccumulator. @pre none of them is special.
void finish_exactly(const RealProduct& call, const std::vector<Entry>& entries, int threads);

/// All entries that are not special, correctly rounded by the exact superaccumulator.
void multiply_exactly(const RealProduct& call, int threads);

/// The same without Ziv's test, on an engine that may return before C is there: who asks it for anything else gets what it says
/// of the C that is to come.
void start_finite(const RealProduct& call, const Plan& plan, const Engine& engine, KeptOperands kept, double workspace);

/// The whole product under a plan, and no word on how wrong it is: for who knows better, and for tests. Each component of a
/// complex one is rounded once.
/// @param workspace cap in bytes for slices, and for integer sums where a scalar is complex; what stands for complex operands
/// comes on top
/// @throws std::invalid_argument as Product::check, if the engine does not reach the matrices, for a plan that is none, or a
/// cap that is too small; nothing is written then, unless an engine is out of memory for a single entry.
void multiply_unproven(const Product& product, const Plan& plan, const Engine& engine, double workspace = unlimited_workspace);

}  // namespace ozbound
