#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ozbound/bounds/decision.hpp"
#include "ozbound/bounds/error_bound.hpp"

namespace ozbound {

/// What is known of a C after it was computed: the bound, and whether the target holds. docs/records.md has the JSON schema.
struct Certificate {
  Target target;
  Method method = Method::slices;     ///< what ran
  std::vector<SplitPlan> plans;       ///< what was multiplied, in order: more than one where entries asked for more slices
  Index m = 0;
  Index n = 0;
  Index k = 0;
  bool holds = false;                 ///< the target is proven for every entry that is not special
  double ratio = 0;                   ///< largest error bound over what the target allows; at most 1 where it holds
  Index worst_i = 0;                  ///< where
  Index worst_j = 0;
  double largest_bound = 0;           ///< largest absolute bound of an entry
  Index undecided = 0;                ///< entries that slices left open (cr, relative)
  Index exact = 0;                    ///< entries finished by the superaccumulator
  std::string native;                 ///< the library that ran, for native
  ErrorBound bound;                   ///< per entry
};

nlohmann::json to_json(const Certificate& certificate);

}  // namespace ozbound
