// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ozbound/bounds/backend_id.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/cost_model.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound {

/// How C is computed.
enum class Method : std::uint8_t {
  one_plan,  ///< the integer products of one plan, exactly summed, rounded once; the superaccumulator where that is infinite
  correctly_rounded,  ///< the same, then Ziv's test on bits, more slices, and the superaccumulator for what stays undecided
  native,             ///< native DGEMM
  exact,              ///< the exact superaccumulator for every entry
};

/// One way that was looked at.
struct Candidate {
  Method method = Method::one_plan;
  std::optional<Plan> plan;
  double cost = 0;   ///< in the unit of the decision's costs
  double ratio = 0;  ///< largest predicted error bound, rounding included, over what the target allows; at most 1 certifies
  bool certifies = false;
};

/// What `decide` chose, before the product. Saved and replayed it fixes every bit of C; docs/records.md has the JSON schema.
struct Decision {
  Target target;
  Method method = Method::one_plan;
  std::optional<Plan> plan;  ///< for slices and correctly_rounded
  Index m = 0;
  Index n = 0;
  Index k = 0;
  double cost = 0;
  double ratio = 0;  ///< the chosen candidate's
  std::string reason;
  std::vector<Candidate> candidates;     ///< by slices the best of as many products, cheapest first; residues; native; exact
  CostOrigin costs = {};                 ///< what all costs are counted in, and where they come from
  std::optional<BackendId> engine = {};  ///< it was made for; none where nobody chose one
  bool complex = false;                  ///< for complex products, whose sizes m, n and k are

  /// Rows of C and inner dimension of the real product that is multiplied: twice those of a complex one (docs/adr/0012).
  [[nodiscard]] Index real_m() const { return complex ? 2 * m : m; }
  [[nodiscard]] Index real_k() const { return complex ? 2 * k : k; }
};

std::string to_string(Method method);

/// For people: the method, or `residues` for one plan of that kind, which records call `slices` as any one plan.
std::string way_text(Method method, const std::optional<Plan>& plan);

nlohmann::json to_json(const Decision& decision);

/// Reads `ozbound-decision-1` too, whose costs are products, and `ozbound-decision-2`, whose ratios stop before the rounding.
/// What neither says to be complex is for real products.
/// @throws std::invalid_argument naming the member that is missing or wrong.
Decision decision_from_json(const nlohmann::json& json);

/// The same from JSON text. @throws std::invalid_argument also for text that is not JSON.
Decision parse_decision(std::string_view text);

}  // namespace ozbound
