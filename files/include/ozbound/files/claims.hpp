// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ozbound/bounds/target.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/files/operands.hpp"

namespace ozbound::files {

/// Claims about a product's accuracy.
struct Claims {
  std::vector<Target> targets;           ///< targets that hold
  std::vector<double> largest_bounds;    ///< bounds of the absolute error of every entry
  Index m = -1, n = -1, k = -1;          ///< sizes of the product; -1 accepts any size
  bool complex = false;                  ///< true if the product is complex; checked with the sizes
  std::optional<OperandArguments> call;  ///< scalars and transpositions, without files, if the claims state them
  std::string source;                    ///< the file with the claims

  [[nodiscard]] bool empty() const { return targets.empty() && largest_bounds.empty(); }

  /// @throws InputError naming the source if the claims are about another product than these arguments'.
  void check(const OperandArguments& given, const OperandFiles& files) const;
};

/// Reads the claims of a certificate (docs/records.md): its largest bound, and its target if it states that the target holds.
/// The file holds either a certificate by itself, or a report of `gemm`, whose `operands` are then part of the claim.
/// @throws InputError for anything else.
Claims read_claims(const std::filesystem::path& path);

}  // namespace ozbound::files
