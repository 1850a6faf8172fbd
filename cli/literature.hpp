// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/verdict.hpp"

// The parts of verify/literature that the command uses, apart from the subcommands compare and study. In a build without it
// (OZBOUND_BUILD_LITERATURE), without_literature.cpp replaces the folder literature.

namespace ozbound::cli {

/// A model of other arithmetic, as `ozbound info` lists it.
struct ListedModel {
  std::string_view name;    ///< `m3xu`
  std::string_view source;  ///< publication
};

/// Every model; empty in a build without the literature.
std::vector<ListedModel> listed_models();

/// The comparison of the bits of a C with a formula.
struct FormulaBits {
  Index entries = 0;         ///< compared
  Index differing = 0;       ///< compared entries that differ from the formula's
  Index row = -1, col = -1;  ///< the first that differs; -1 if none does
  double computed = 0;       ///< its value in C
  double expected = 0;       ///< its value by the formula
};

/// A product that a library computes by a known formula.
struct FormulaProduct {
  std::function<double(Index i, Index j)> bound_upper;  ///< of |C - (alpha A B + beta C0)| at (i, j), 0-based
  std::function<FormulaBits(const ResultView& c, const EntrySelection& selection)> compare;
};
using Formula = std::function<FormulaProduct(const Operands& operands)>;

/// The formula by which a library claims to compute C: `cublas:55`.
/// @throws std::invalid_argument for anything but `cublas:M`, M from 8 to 64, and in a build without the literature.
Formula parse_formula(const std::string& text);

}  // namespace ozbound::cli
