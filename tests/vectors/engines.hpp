// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "ozbound/core/engine.hpp"

namespace ozbound::vectors {

/// What replays the vectors: an engine in ways of working that must not matter.
const std::vector<std::unique_ptr<const Engine>>& engines();

}  // namespace ozbound::vectors
