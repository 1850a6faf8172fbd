// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda_check.hpp"
#include "device_array.hpp"
#include "entries.hpp"
#include "ozbound/core/special_entries.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {

inline Shape shape_of(const SpecialEntries& specials) {
  return {static_cast<Index>(specials.rows.size()), static_cast<Index>(specials.columns.size())};
}

/// SpecialEntryWriter for kernels. The entries must outlive this object.
class SpecialsOnDevice {
 public:
  SpecialsOnDevice(const SpecialEntries& specials, cudaStream_t stream)
      : c0_(specials.c0, "c0", stream), specials_{nullptr, nullptr, specials.everywhere, !specials.c0.empty(), c0_.matrix()} {
    const auto any = [](const std::vector<std::uint8_t>& of) {
      return std::ranges::any_of(of, [](std::uint8_t flag) { return flag != 0; });
    };
    if (!any(specials.rows) && !any(specials.columns)) return;
    rows_ = copy_to_device(specials.rows, stream), columns_ = copy_to_device(specials.columns, stream);
    specials_.rows = rows_.data(), specials_.columns = columns_.data();
  }

  [[nodiscard]] const DeviceSpecials& entries() const { return specials_; }

 private:
  DeviceArray<std::uint8_t> rows_, columns_;
  DeviceOperand c0_;
  DeviceSpecials specials_;
};

/// A number in device memory that kernels raise, 0 at first.
class DeviceNumber {
 public:
  explicit DeviceNumber(cudaStream_t stream) : number_(1, stream), stream_(stream) {
    check(cudaMemsetAsync(number_.data(), 0, sizeof(std::uint64_t), stream), "cudaMemsetAsync");
  }
  [[nodiscard]] std::uint64_t* data() const { return number_.data(); }
  /// The number. Waits for the stream.
  [[nodiscard]] std::uint64_t value() const { return copy_to_host(number_.data(), 1, stream_)[0]; }

 private:
  DeviceArray<std::uint64_t> number_;
  cudaStream_t stream_;
};

}  // namespace ozbound::gpu
