#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ozbound/bounds/target.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound::cli {

/// What is said of a product's accuracy.
struct Claims {
  std::vector<Target> targets;         ///< that hold
  std::vector<double> largest_bounds;  ///< of any entry's absolute error
  Index m = -1, n = -1, k = -1;        ///< of the product they are about; -1 where any will do
  std::string source;                  ///< the file they come from

  [[nodiscard]] bool empty() const { return targets.empty() && largest_bounds.empty(); }

  /// @throws InputError naming the source if the claims are about a product of other sizes.
  void check_sizes(Index product_m, Index product_n, Index product_k) const;
};

/// The claims of a certificate (docs/records.md): its largest bound, and its target where it says that it holds. The file holds
/// either the certificate alone or a report with a member `certificate`.
/// @throws InputError for anything else.
Claims read_claims(const std::filesystem::path& path);

}  // namespace ozbound::cli
