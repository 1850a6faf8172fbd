// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measurement.hpp"

namespace ozbound::bench {

/// A ratio that a product must reach on a processor with VNNI, or for some goals with AVX2.
struct Goal {
  std::string name;
  double goal = 0;
  bool at_most = false;  ///< the ratio must be at most the goal; otherwise at least
  bool applicable = false;
  std::optional<double> measured = {};  ///< the worst median among the goal's measurements; empty if there are none

  [[nodiscard]] bool met() const { return measured && (at_most ? *measured <= goal : *measured >= goal); }
};

/// All goals, with the measurements of the engine's kernel of that name. A goal is applicable if the kernel's name contains the
/// goal's instruction set, `vnni` or `avx2`. The kernel `amx` counts as `avx512vnni`, and with it goals over the integer peak
/// take the measurements of the kernel `avx512vnni`.
std::vector<Goal> judge_goals(std::span<const Measurement> measurements, const std::string& kernel);

/// `met`, `missed`, `not measured` or `not applicable`.
std::string status(const Goal& goal);

}  // namespace ozbound::bench
