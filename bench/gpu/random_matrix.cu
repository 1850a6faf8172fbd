// SPDX-License-Identifier: BSD-3-Clause
#include "random_matrix.hpp"

namespace ozbound::bench {
namespace {

__device__ std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

__device__ double uniform(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

__global__ void fill(double* elements, std::int64_t count, std::uint64_t seed, double phi) {
  const auto step = std::int64_t{gridDim.x} * blockDim.x;
  for (auto i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const auto at = (seed << 40) + 3 * static_cast<std::uint64_t>(i);
    const double normal = sqrt(-2 * log(uniform(mixed(at)))) * cospi(2 * uniform(mixed(at + 1)));
    elements[i] = (uniform(mixed(at + 2)) - 0.5) * exp(phi * normal);
  }
}

}  // namespace

void fill_random(double* elements, std::int64_t count, std::uint64_t seed, cudaStream_t stream, double phi) {
  fill<<<2048, 256, 0, stream>>>(elements, count, seed, phi);
}

}  // namespace ozbound::bench
