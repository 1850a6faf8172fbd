// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound::bench {

/// Repeats each product for two seconds and prints its power and energy, from NVML's energy counter. With `quick`, runs for
/// half a second on small shapes. Writes the results to `json`, unless that is null. Returns 0, or 2 if the file cannot be
/// written. @throws std::runtime_error without NVML or an energy counter.
int measure_power(bool quick, const char* json);

}  // namespace ozbound::bench
