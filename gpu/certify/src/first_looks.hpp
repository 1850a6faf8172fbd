// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "arena.hpp"
#include "first_look.hpp"
#include "memory.hpp"
#include "ozbound/core/vector_norms.hpp"

namespace ozbound::gpu {

/// The first looks at both operands of a product, in device memory, and the report: the parts that the host needs.
class FirstLooks {
 public:
  /// Launches the looks. `a` is m x k, `b` k x n; both must outlive the launched work.
  FirstLooks(const DeviceMatrix& a, const DeviceMatrix& b, Index m, Index n, Index k, cudaStream_t stream);

  [[nodiscard]] const FirstLook& a() const { return a_; }
  [[nodiscard]] const FirstLook& b() const { return b_; }
  // Words that are copied with the report. They are 0 at first; the caller sets them.
  [[nodiscard]] std::uint32_t* loose() const { return loose_; }
  [[nodiscard]] std::uint64_t* largest_units() const { return largest_units_; }

  struct Report {
    std::uint64_t print_a = 0, print_b = 0;
    bool loose = false;
    std::uint64_t largest_units = 0;
    std::vector<VectorNorms> rows, columns;
  };

  /// Copies the report to the host in one copy. Waits for the stream.
  [[nodiscard]] Report report(cudaStream_t stream) const;

 private:
  void take(Arena& arena, Index m, Index n, Index k);

  Memory memory_;
  FirstLook a_, b_;
  std::uint32_t* loose_ = nullptr;
  std::uint64_t* largest_units_ = nullptr;
  std::size_t zero_bytes_ = 0;    ///< from a_.prints on: the bytes of words that are 0 at first
  std::size_t report_bytes_ = 0;  ///< from a_.prints on: the bytes up to the end of the report's last part
};

}  // namespace ozbound::gpu
