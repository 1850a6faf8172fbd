// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "arena.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "memory.hpp"

namespace ozbound::gpu {

/// What one pass over an operand finds: all that is asked of it before a plan is known.
struct FirstLook {
  static constexpr int print_words = 32;

  DeviceSlices digits;              ///< floor(2^7 |x| / rho) under the scales of truncated digits; exponents, specials and tops
  std::int64_t* sums = nullptr;     ///< [count]: of the digits; 0 only for vectors of zeros and special ones
  std::uint64_t* prints = nullptr;  ///< [print_words]: their sum modulo 2^64 is the matrix's fingerprint
};

/// The operands of a product: their first looks in device memory, and those parts of them that the host asks for.
class FirstLooks {
 public:
  /// Launches. `a` is m x k, `b` k x n; both must outlive what is launched.
  FirstLooks(const DeviceMatrix& a, const DeviceMatrix& b, Index m, Index n, Index k, cudaStream_t stream);

  [[nodiscard]] const FirstLook& a() const { return a_; }
  [[nodiscard]] const FirstLook& b() const { return b_; }
  [[nodiscard]] std::uint32_t* loose() const { return loose_; }  ///< a word that goes with the report, for whoever sets it

  struct Report {
    std::uint64_t print_a = 0, print_b = 0;
    bool loose = false;
    std::vector<std::int32_t> row_exponents, column_exponents;
    std::vector<std::uint8_t> special_rows, special_columns;
  };

  /// In one copy. Waits for the stream.
  [[nodiscard]] Report report(cudaStream_t stream) const;

 private:
  void take(Arena& arena, Index m, Index n, Index k);

  Memory memory_;
  FirstLook a_, b_;
  std::uint32_t* loose_ = nullptr;
  std::size_t report_bytes_ = 0;  ///< from a_.prints on, to the end of the report's last part
};

/// Fills the look at `vectors` (count x inner), whose element (i, l) has number i * by_vector + l * by_element in its matrix.
struct LookJob {
  DeviceMatrix vectors;
  FirstLook look;
  Index by_vector, by_element;
};
void launch_first_looks(const LookJob& a, const LookJob& b, cudaStream_t stream);

}  // namespace ozbound::gpu
