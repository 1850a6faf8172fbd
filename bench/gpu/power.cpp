// SPDX-License-Identifier: BSD-3-Clause
#include "power.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda_check.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "subjects.hpp"

namespace ozbound::bench {
namespace {

using gpu::check;

/// The energy counter of the current device. Loads the driver's libnvidia-ml itself, so that toolkits without its headers
/// suffice.
class EnergyCounter {
 public:
  EnergyCounter() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (library_ == nullptr) throw std::runtime_error(std::string("NVML is not there: ") + dlerror());
    int device = 0;
    char bus[32];
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetPCIBusId(bus, sizeof bus, device), "cudaDeviceGetPCIBusId");
    expect(function<int()>("nvmlInit_v2")(), "nvmlInit_v2");
    expect(function<int(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2")(bus, &device_),
           "nvmlDeviceGetHandleByPciBusId_v2");
    energy_ = function<int(Device, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
  }
  EnergyCounter(const EnergyCounter&) = delete;
  EnergyCounter& operator=(const EnergyCounter&) = delete;
  ~EnergyCounter() { dlclose(library_); }

  /// The energy since the driver was loaded.
  [[nodiscard]] double joules() const {
    unsigned long long millijoules = 0;
    expect(energy_(device_, &millijoules), "nvmlDeviceGetTotalEnergyConsumption");
    return 1e-3 * static_cast<double>(millijoules);
  }

 private:
  using Device = void*;

  template <class Signature>
  [[nodiscard]] Signature* function(const char* name) const {
    auto* const found = dlsym(library_, name);
    if (found == nullptr) throw std::runtime_error(std::string("NVML has no ") + name);
    return reinterpret_cast<Signature*>(found);
  }
  static void expect(int status, const char* call) {
    if (status != 0) throw std::runtime_error(std::string(call) + " fails with status " + std::to_string(status));
  }

  void* library_;
  Device device_ = nullptr;
  int (*energy_)(Device, unsigned long long*) = nullptr;
};

/// The energy of a product in a sequence of products.
struct Energy {
  std::string name;
  Shape shape;
  double seconds, joules;  ///< of one product

  [[nodiscard]] double watts() const { return joules / seconds; }
  [[nodiscard]] double gflop_per_joule() const { return 1e-9 * shape.operations() / joules; }
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Launches for this time, and waits. Returns the number of products.
int run_for(double seconds, const Subject& subject, cudaStream_t stream) {
  constexpr int together = 4;  // the device has work while the host waits for the first
  cudaEvent_t done[together] = {};
  for (auto& event : done) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  const auto start = std::chrono::steady_clock::now();
  int launched = 0;
  for (; seconds_since(start) < seconds; ++launched) {
    check(cudaEventSynchronize(done[launched % together]), "cudaEventSynchronize");
    subject.launch(stream);
    check(cudaEventRecord(done[launched % together], stream), "cudaEventRecord");
  }
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  for (auto* const event : done) check(cudaEventDestroy(event), "cudaEventDestroy");
  return launched;
}

/// Runs until the counter changes, which it does in steps of tens of milliseconds. Returns the number of products.
/// @throws std::runtime_error if the counter does not change.
int run_to_step(const Subject& subject, const EnergyCounter& counter, cudaStream_t stream) {
  const auto start = std::chrono::steady_clock::now();
  const double before = counter.joules();
  int products = 0;
  for (; counter.joules() == before; ++products) {
    if (seconds_since(start) > 2) throw std::runtime_error("NVML's energy counter of this device stands still");
    subject.launch(stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  return products;
}

/// Measures from one step of the counter to another, after a warm-up.
Energy energy_of(const Subject& subject, const Shape& shape, double seconds, const EnergyCounter& counter,
                 cudaStream_t stream) {
  run_for(seconds / 4, subject, stream);
  run_to_step(subject, counter, stream);
  const double before = counter.joules();
  const auto start = std::chrono::steady_clock::now();
  int products = 0;
  while (seconds_since(start) < seconds) products += run_for(seconds / 8, subject, stream);
  products += run_to_step(subject, counter, stream);
  return {subject.name, shape, seconds_since(start) / products, (counter.joules() - before) / products};
}

std::vector<Subject> subjects_of(const Problem& problem, cudaStream_t stream) {
  std::vector<Subject> subjects{problem.blas("cublasDgemm", Cublas::Way::native)};
  if (Cublas::can_emulate()) subjects.push_back(problem.blas("cuBLAS emulation, 55 bits", Cublas::Way::emulated));
  subjects.push_back(problem.product(plan_of_28, gpu::Path::automatic, stream));
  for (const int moduli : {8, 13, 18})
    subjects.push_back(problem.product(widest_residues(moduli, problem.shape().k), gpu::Path::automatic, stream));
  return subjects;
}

bool write_json(const char* file, const std::string& device, const std::vector<Energy>& all) {
  std::FILE* const out = std::fopen(file, "w");
  if (out == nullptr) return false;
  std::fprintf(out, "{\n\"schema\": \"ozbound-bench-power-1\",\n\"machine\": {\"device\": \"%s\", \"library\": \"%s\"},\n",
               device.c_str(), cublas_version());
  const char* separator = "\"measurements\": [\n";
  for (const auto& one : all) {
    std::fprintf(out, "%s{\"name\": \"%s\", \"m\": %ld, \"n\": %ld, \"k\": %ld, ", separator, one.name.c_str(), one.shape.m,
                 one.shape.n, one.shape.k);
    std::fprintf(out, "\"seconds\": %.6g, \"joules\": %.6g, \"watts\": %.6g, \"gflop_per_joule\": %.6g}", one.seconds,
                 one.joules, one.watts(), one.gflop_per_joule());
    separator = ",\n";
  }
  std::fprintf(out, "]\n}\n");
  return std::fclose(out) == 0;
}

}  // namespace

int measure_power(bool quick, const char* json) {
  const auto device = gpu::CudaEngine().device_name();
  std::printf("%s, %s\n", device.c_str(), cublas_version());
  const EnergyCounter counter;
  const auto stream = cudaStreamPerThread;
  std::vector<Energy> all;
  for (const Index n : {1024, 4096, 8192, 16384}) {
    if (quick && n > 4096) continue;
    const Problem problem({n, n, n}, stream);
    for (const auto& subject : subjects_of(problem, stream)) {
      all.push_back(energy_of(subject, problem.shape(), quick ? 0.5 : 2.0, counter, stream));
      const auto& one = all.back();
      std::printf("%6ld  %-32s %10.4f ms %10.4f J a product %6.0f W %8.1f GFLOP/J\n", n, one.name.c_str(), 1e3 * one.seconds,
                  one.joules, one.watts(), one.gflop_per_joule());
      std::fflush(stdout);
    }
  }
  if (json == nullptr || write_json(json, device, all)) return 0;
  std::fprintf(stderr, "%s cannot be written\n", json);
  return 2;
}

}  // namespace ozbound::bench
