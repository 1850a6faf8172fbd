// SPDX-License-Identifier: BSD-3-Clause
#include "engines.hpp"

#include "ozbound/core/kernel.hpp"

namespace ozbound::bench {

std::vector<std::string> kernel_names() {
  std::vector<std::string> names{std::string(default_kernel().name)};
  for (const auto* const kernel : kernels())
    if (kernel->name != names.front()) names.emplace_back(kernel->name);
  return names;
}

bool has_avx512(const std::string& kernel) { return kernel == "amx" || kernel.starts_with("avx512"); }

CpuEngine make_engine(int threads, const std::string& kernel) {
  return CpuEngine({.threads = threads, .kernel = kernel.empty() ? &default_kernel() : &find_kernel(kernel)});
}

}  // namespace ozbound::bench
