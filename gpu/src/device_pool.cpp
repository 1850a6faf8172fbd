#include "device_pool.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <mutex>

#include "cuda_check.hpp"
#include "cuda_device.hpp"
#include "ozbound/gpu/cuda_engine.hpp"

namespace ozbound::gpu {
namespace {

std::mutex mutex;

std::map<int, cudaMemPool_t>& pools() {
  static auto* const all = new std::map<int, cudaMemPool_t>;  // lives as long as the driver, which frees them
  return *all;
}

cudaMemPool_t make_pool(int device) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  cudaMemPool_t pool{};
  check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  auto all = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "cudaMemPoolSetAttribute");
  return pool;
}

}  // namespace

cudaMemPool_t device_pool() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  const std::lock_guard lock(mutex);
  auto& pool = pools()[device];
  if (pool == nullptr) pool = make_pool(device);
  return pool;
}

void release_memory(int device) {
  const CudaDevice current(device);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaMemPoolTrimTo(device_pool(), 0), "cudaMemPoolTrimTo");
}

}  // namespace ozbound::gpu
