// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "cuda_check.hpp"
#include "device_array.hpp"
#include "device_epilogue.hpp"
#include "ozbound/core/engine.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {

inline constexpr Index marks_in_word = 32;

/// Entries that a kernel marks, such as those that Ziv's test leaves open: a bit for each entry in device memory, and the
/// number of marks.
class MarkedEntries {
 public:
  MarkedEntries(Index m, Index n, cudaStream_t stream)
      : columns_(n), words_((m * n + marks_in_word - 1) / marks_in_word), bits_(words_, stream), count_(1, stream) {
    if (words_ > 0) check(cudaMemsetAsync(bits_.data(), 0, static_cast<std::size_t>(words_) * 4, stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(count_.data(), 0, sizeof(unsigned long long), stream), "cudaMemsetAsync");
  }

  void add_to(DeviceEpilogue& epilogue) const { epilogue.open = bits_.data(), epilogue.open_count = count_.data(); }

  [[nodiscard]] std::uint32_t* bits() const { return bits_.data(); }
  [[nodiscard]] unsigned long long* count() const { return count_.data(); }

  /// The marked entries in order. Waits for the stream.
  [[nodiscard]] std::vector<Entry> in_order(cudaStream_t stream) const {
    std::vector<Entry> entries;
    if (copy_to_host(count_.data(), 1, stream)[0] == 0) return entries;
    const auto words = copy_to_host(bits_.data(), words_, stream);
    for (Index w = 0; w < words_; ++w)
      for (auto bits = words[static_cast<std::size_t>(w)]; bits != 0; bits &= bits - 1) {
        const Index place = w * marks_in_word + std::countr_zero(bits);
        entries.push_back({place / columns_, place % columns_});
      }
    return entries;
  }

 private:
  Index columns_, words_;
  DeviceArray<std::uint32_t> bits_;
  DeviceArray<unsigned long long> count_;
};

}  // namespace ozbound::gpu
