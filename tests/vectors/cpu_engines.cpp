// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/kernel.hpp"
#include "vectors/engines.hpp"

namespace ozbound::vectors {

/// CPU engines that work on whole products, in small blocks, and with several threads; and whole with every other kernel of
/// this processor.
const std::vector<std::unique_ptr<const Engine>>& engines() {
  static const auto all = [] {
    std::vector<std::unique_ptr<const Engine>> made;
    made.push_back(std::make_unique<CpuEngine>(CpuEngine::Options{.threads = 1}));
    made.push_back(
        std::make_unique<CpuEngine>(CpuEngine::Options{.threads = 1, .inner_block = 7, .row_tile = 1, .column_tile = 2}));
    made.push_back(
        std::make_unique<CpuEngine>(CpuEngine::Options{.threads = 3, .inner_block = 1000000, .row_tile = 5, .column_tile = 1}));
    for (const auto* const kernel : kernels())
      if (kernel != &default_kernel())
        made.push_back(std::make_unique<CpuEngine>(CpuEngine::Options{.threads = 1, .kernel = kernel}));
    return made;
  }();
  return all;
}

}  // namespace ozbound::vectors
