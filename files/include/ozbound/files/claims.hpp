// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ozbound/bounds/target.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/files/operands.hpp"

namespace ozbound::cli {

/// What is said of a product's accuracy.
struct Claims {
  std::vector<Target> targets;           ///< that hold
  std::vector<double> largest_bounds;    ///< of any entry's absolute error
  Index m = -1, n = -1, k = -1;          ///< of the product they are about; -1 where any will do
  bool complex = false;                  ///< likewise
  std::optional<OperandArguments> call;  ///< its scalars and transpositions, without files, where they are stated
  std::string source;                    ///< the file they come from

  [[nodiscard]] bool empty() const { return targets.empty() && largest_bounds.empty(); }

  /// @throws InputError naming the source if the claims are about another product than these arguments'.
  void check(const OperandArguments& given, const OperandFiles& files) const;
};

/// The claims of a certificate (docs/records.md): its largest bound, and its target where it says that it holds. The file holds
/// either the certificate alone, or a report of `gemm`, whose `operands` are then part of the claim.
/// @throws InputError for anything else.
Claims read_claims(const std::filesystem::path& path);

}  // namespace ozbound::cli
