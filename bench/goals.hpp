// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measurement.hpp"

namespace ozbound::bench {

/// What a product must reach on a processor with VNNI.
struct Goal {
  std::string name;
  double goal = 0;
  bool at_most = false;  ///< otherwise: at least
  bool applicable = false;
  std::optional<double> measured = {};  ///< the worst median of those that the goal is about; none if none was measured

  [[nodiscard]] bool met() const { return measured && (at_most ? *measured <= goal : *measured >= goal); }
};

/// All goals, with what was measured of the engine's kernel of that name; not applicable unless the processor has VNNI, as its
/// kernel says: one of VNNI, or `amx`. With the latter, goals over the integer peak are about the kernel `avx512vnni`.
std::vector<Goal> judge_goals(std::span<const Measurement> measurements, const std::string& kernel);

/// `met`, `missed`, `not measured` or `not applicable`.
std::string status(const Goal& goal);

}  // namespace ozbound::bench
