// SPDX-License-Identifier: BSD-3-Clause
#include "cuda.hpp"

#include <omp.h>

#include <nlohmann/json.hpp>

#include "ozbound/bounds/backend_id.hpp"
#include "ozbound/plugin/load.hpp"

namespace ozbound::cli {
namespace {

const plugin::Plugin& plugin() { return *plugin::cuda_plugin(); }

}  // namespace

std::string cuda_obstacle() { return plugin::plugin_obstacle(); }

std::string cuda_name() { return to_string(BackendId{BackendId::Kind::cuda, plugin().device(0).name}); }

std::optional<CalibratedCosts> cuda_costs(int threads) {
  return known_costs(plugin().device(0).calibration, threads > 0 ? threads : omp_get_max_threads());
}

Calibration measure_cuda(int threads, double seconds, const std::function<void(double)>& progress) {
  return plugin().measure_rates(0, threads, seconds, progress);
}

nlohmann::ordered_json cuda_devices() {
  auto list = nlohmann::ordered_json::array();
  if (!cuda_obstacle().empty()) return list;
  for (int t = 0; t < plugin().device_count(); ++t) {
    const auto device = plugin().device(t);
    list.push_back({{"name", device.name}, {"compute_capability", device.compute_capability}, {"memory_bytes", device.memory}});
  }
  return list;
}

}  // namespace ozbound::cli
