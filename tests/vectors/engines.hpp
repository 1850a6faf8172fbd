// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "ozbound/core/engine.hpp"

namespace ozbound::vectors {

/// Engines that replay the vectors, with options that must not change results.
const std::vector<std::unique_ptr<const Engine>>& engines();

}  // namespace ozbound::vectors
