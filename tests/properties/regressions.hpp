// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace ozbound::test {

/// The case files that come with Ozbound.
inline std::filesystem::path regressions() { return OZBOUND_REGRESSIONS; }

}  // namespace ozbound::test
