#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "copying.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/special_entries.hpp"
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

/// A matrix as the host writes it; write_back() takes what it wrote to where the matrix lies.
class HostOutput {
 public:
  HostOutput(const OutputView& view, const char* name, cudaStream_t stream)
      : input_(view.as_input(), name, stream), target_(view), stream_(stream) {}

  [[nodiscard]] OutputView view() const {
    return std::visit(
        []<class T>(const MatrixView<const T>& v) {
          return OutputView(MatrixView<T>(const_cast<T*>(v.data()), v.rows(), v.cols(), v.row_stride(), v.col_stride()));
        },
        input_.view().typed());
  }

  void write_back() const {
    if (target_.rows() == 0 || target_.cols() == 0 || !on_device(target_.as_input(), "c")) return;
    const DeviceCopy written(input_.view(), stream_);
    launch_copying(written.matrix(), matrix_of(target_.as_input()), target_.rows(), target_.cols(), stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  HostInput input_;
  OutputView target_;
  cudaStream_t stream_;
};

/// A call as the host computes it.
class HostCall {
 public:
  HostCall(const GemmCall& original, cudaStream_t stream)
      : a_(original.without_unread().a, "a", stream),
        b_(original.without_unread().b, "b", stream),
        c0_(is_zero(original.beta) ? InputView() : original.c0, "c0", stream),
        c_(original.c, "c", stream),
        call_{a_.view(), b_.view(), c_.view(), original.alpha, original.beta, c0_.view()} {}

  [[nodiscard]] const GemmCall& call() const { return call_; }
  void write_back() const { c_.write_back(); }

 private:
  HostInput a_, b_, c0_;
  HostOutput c_;
  GemmCall call_;
};

/// The same entries, C0 as the host reads it.
class HostSpecials {
 public:
  HostSpecials(const SpecialEntries& original, cudaStream_t stream) : c0_(original.c0, "c0", stream), specials_(original) {
    specials_.c0 = c0_.view();
  }

  [[nodiscard]] const SpecialEntries& entries() const { return specials_; }

 private:
  HostInput c0_;
  SpecialEntries specials_;
};

}  // namespace ozbound::gpu
