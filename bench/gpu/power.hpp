// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound::bench {

/// Prints the power that each product draws and its energy, by NVML's counter of energy, where products follow each other for
/// two seconds; with `quick` for half a second, of small shapes. Writes them to `json`, unless that is null. Returns 0, or 2
/// where the file cannot be written. @throws std::runtime_error without NVML or a counter.
int measure_power(bool quick, const char* json);

}  // namespace ozbound::bench
