#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "transfer.hpp"

namespace ozbound::gpu {

/// A matrix as the host reads it: where it lies, or a copy of one in device memory.
class HostInput {
 public:
  HostInput(const InputView& view, const char* name, cudaStream_t stream) : view_(view) {
    if (on_device(view, name)) view_ = copy_.emplace(view, stream).view();
  }

  [[nodiscard]] const InputView& view() const { return view_; }

 private:
  std::optional<HostCopy> copy_;
  InputView view_;
};

}  // namespace ozbound::gpu
