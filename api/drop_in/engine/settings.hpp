// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ozbound/bounds/target.hpp"

namespace ozbound::drop_in {

/// The environment variables that the hook and the engine read (docs/drop_in.md).
inline constexpr const char* variable_mode = "OZBOUND_MODE";
inline constexpr const char* variable_blas = "OZBOUND_BLAS";
inline constexpr const char* variable_target = "OZBOUND_TARGET";
inline constexpr const char* variable_min_work = "OZBOUND_MIN_WORK";
inline constexpr const char* variable_share = "OZBOUND_SHARE";
inline constexpr const char* variable_log = "OZBOUND_LOG";
inline constexpr const char* variable_summary = "OZBOUND_SUMMARY";
inline constexpr const char* variable_root = "OZBOUND_ROOT";  ///< the process that `ozbound run` became

/// The user's settings of the engine.
struct Settings {
  Target target = Target::dgemm();
  double min_work = 0x1p21;        ///< smallest m n k of a product that is examined
  double share = 0.05;             ///< share of native's time that examining may take
  std::optional<std::string> log;  ///< log file, in which `%p` stands for the process
  std::optional<bool> summary;     ///< summary at exit; unset: only if there is no log

  /// @param get returns the value of a variable, or null
  /// @throws std::invalid_argument beginning with the name of the variable that has an unusable value.
  static Settings read(const std::function<const char*(const char*)>& get);

  [[nodiscard]] bool writes_summary() const { return summary.value_or(!log); }
};

/// @throws std::invalid_argument for any text except `off` and `shadow`.
void check_mode(const std::string& text);

}  // namespace ozbound::drop_in
