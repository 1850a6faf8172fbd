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

/// The method that computes C.
enum class Method : std::uint8_t {
  one_plan,  ///< integer products of one plan, summed exactly, rounded once; the superaccumulator where that gives infinity
  correctly_rounded,  ///< one_plan with Ziv's test on bits, then more slices, and the superaccumulator for undecided entries
  native,             ///< native DGEMM
  exact,              ///< the exact superaccumulator for every entry
};

/// One way that was considered.
struct Candidate {
  Method method = Method::one_plan;
  std::optional<Plan> plan;
  double cost = 0;   ///< in the unit of the decision's costs
  double ratio = 0;  ///< largest predicted error bound, rounding included, over the allowed error; at most 1 certifies
  bool certifies = false;
};

/// The choice of `decide`, made before the product. Saved and replayed, it fixes every bit of C; docs/records.md has the JSON
/// schema.
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
  std::vector<Candidate> candidates;     ///< best plan per number of slice products, by cost; residues; native; exact
  CostOrigin costs = {};                 ///< unit and origin of all costs
  std::optional<BackendId> engine = {};  ///< the backend it was made for; empty if none was chosen
  bool complex = false;                  ///< for complex products; m, n and k are their sizes

  /// Rows of C and inner dimension of the real product that is multiplied: twice those of a complex product (docs/adr/0012).
  [[nodiscard]] Index real_m() const { return complex ? 2 * m : m; }
  [[nodiscard]] Index real_k() const { return complex ? 2 * k : k; }
};

std::string to_string(Method method);

/// The method, for people; `residues` for one plan by residues, which records call `slices` like any other plan.
std::string way_text(Method method, const std::optional<Plan>& plan);

nlohmann::json to_json(const Decision& decision);

/// Also reads `ozbound-decision-1`, whose costs are products, and `ozbound-decision-2`, whose ratios exclude the rounding.
/// Records that do not mention complex products are for real products.
/// @throws std::invalid_argument naming the member that is missing or wrong.
Decision decision_from_json(const nlohmann::json& json);

/// Reads a decision from JSON text. @throws std::invalid_argument also for text that is not JSON.
Decision parse_decision(std::string_view text);

}  // namespace ozbound
