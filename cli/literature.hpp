// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/verdict.hpp"

// The parts of verify/literature that the command uses, besides the subcommands compare and study. A build without it
// (OZBOUND_BUILD_LITERATURE) has without_literature.cpp in the place of the folder literature.

namespace ozbound::cli {

/// A model of other arithmetic, as `ozbound info` lists it.
struct ListedModel {
  std::string_view name;    ///< `m3xu`
  std::string_view source;  ///< publication
};

/// Every model; none in a build without the literature.
std::vector<ListedModel> listed_models();

/// The bits of a C compared with those that a formula gives.
struct FormulaBits {
  Index entries = 0;         ///< compared
  Index differing = 0;       ///< of these, other numbers than the formula gives
  Index row = -1, col = -1;  ///< the first that differs; -1 where none does
  double computed = 0;       ///< there
  double expected = 0;       ///< there, by the formula
};

/// A product as a library computes it by a formula that is known.
struct FormulaProduct {
  std::function<double(Index i, Index j)> bound_upper;  ///< of |C - (alpha A B + beta C0)| at (i, j), 0-based
  std::function<FormulaBits(const ResultView& c, const EntrySelection& selection)> compare;
};
using Formula = std::function<FormulaProduct(const Operands& operands)>;

/// The formula by which a library is claimed to have computed C: `cublas:55`.
/// @throws std::invalid_argument for anything but `cublas:M`, M from 8 to 64, and in a build without the literature.
Formula parse_formula(const std::string& text);

}  // namespace ozbound::cli
