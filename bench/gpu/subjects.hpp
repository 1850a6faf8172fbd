// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cublas.hpp"
#include "device_array.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/product.hpp"
#include "ozbound/gpu/path.hpp"

// The products that the benchmarks of the CUDA engine launch.

namespace ozbound::bench {

struct Shape {
  Index m, n, k;

  [[nodiscard]] double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

/// A timed piece of work, which it launches on a stream.
struct Subject {
  std::string name;
  double products = 0;  ///< INT8 products per multiplication and addition of the product; 0: not counted
  std::function<void(cudaStream_t)> launch;
  std::size_t workspace = 0;       ///< bytes of device memory in addition to the operands; 0: not known
  bool is_phase = false;           ///< a part of a whole product; its share is reported
  std::vector<double> times = {};  ///< of each repetition, in seconds
};

constexpr const char* plan_of_28 = "balanced:7x7:cut=8:exact";
constexpr const char* plan_of_21 = "balanced:6x6:cut=7:exact";

/// The plan with N moduli and equally many bits of both operands, the most that hold all operands.
std::string widest_residues(int count, Index k);

/// Random operands of a shape, and memory for their product.
class Problem {
 public:
  /// Fills the operands on the stream.
  Problem(const Shape& shape, cudaStream_t stream);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] RealProduct product() const;
  [[nodiscard]] Subject blas(const std::string& name, Cublas::Way way) const;
  /// The whole product under a plan, including the making of slices or residues, as a graph.
  [[nodiscard]] Subject product(const std::string& plan, gpu::Path path, cudaStream_t stream) const;

 private:
  Shape shape_;
  gpu::DeviceArray<double> a_, b_, c_;
};

/// All subjects to time side by side: cublasDgemm first, then cuBLAS's other ways.
std::vector<Subject> subjects_for(const Problem& problem, cudaStream_t stream);

}  // namespace ozbound::bench
