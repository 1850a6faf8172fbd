// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cuda_check.hpp"
#include "device_pool.hpp"

namespace ozbound::gpu {

/// A stream beside those of threads. Its copies need not wait for later work on the stream that made their source.
class SideStream {
 public:
  SideStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  ~SideStream() { cudaStreamDestroy(stream_); }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A stream for one user at a time, and a few numbers of the host that its kernels can write.
class LentStream : public SideStream {
 public:
  static constexpr int numbers_count = 4;

  LentStream() {
    keep_memory_of(stream(), device_);
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, numbers_count * sizeof(std::int32_t), cudaHostAllocPortable) != cudaSuccess) {
      cudaGetLastError();  // other users need no numbers
      return;
    }
    numbers_ = static_cast<std::int32_t*>(memory);
  }
  ~LentStream() {
    free_memory_of(stream(), device_);
    if (numbers_ != nullptr) cudaFreeHost(numbers_);
  }
  LentStream(const LentStream&) = delete;
  LentStream& operator=(const LentStream&) = delete;

  /// Null if the host has no pinned memory left.
  [[nodiscard]] std::int32_t* numbers() const { return numbers_; }

  // To ask in vain for memory that may be missing takes long. The least number of bytes for which there was none is remembered.
  [[nodiscard]] bool lacks(std::size_t bytes) const { return bytes >= lacking_; }
  void note_lack(std::size_t bytes) const { lacking_ = bytes; }

 private:
  int device_ = current_device();
  std::int32_t* numbers_ = nullptr;
  mutable std::size_t lacking_ = ~std::size_t{0};
};

/// Each stream is lent to one user at a time. A few of those that come back are kept.
class LentStreams : public std::enable_shared_from_this<LentStreams> {
 public:
  LentStreams() { idle_.reserve(most_idle); }

  /// A stream that comes back when the result is destroyed, which waits for its work. The current device must always be the
  /// same.
  [[nodiscard]] std::shared_ptr<const LentStream> lend() {
    std::unique_ptr<LentStream> stream;
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) stream = std::move(idle_.back()), idle_.pop_back();
    }
    if (stream == nullptr) stream = std::make_unique<LentStream>();
    return {stream.release(), [all = shared_from_this()](LentStream* back) {
              std::unique_ptr<LentStream> returned(back);
              cudaStreamSynchronize(returned->stream());
              const std::scoped_lock lock(all->mutex_);
              if (all->idle_.size() < most_idle) all->idle_.push_back(std::move(returned));
            }};
  }

 private:
  static constexpr std::size_t most_idle = 4;  // with the memory that is kept for them

  std::mutex mutex_;
  std::vector<std::unique_ptr<LentStream>> idle_;
};

/// The work that a stream was given until now.
class StreamMark {
 public:
  explicit StreamMark(cudaStream_t stream) {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check(cudaEventRecord(event_, stream), "cudaEventRecord");
  }
  ~StreamMark() { cudaEventDestroy(event_); }
  StreamMark(const StreamMark&) = delete;
  StreamMark& operator=(const StreamMark&) = delete;

  /// Waits until this work is done.
  void wait() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  [[nodiscard]] bool done() const { return cudaEventQuery(event_) == cudaSuccess; }
  /// Waits likewise, but ignores errors, before memory that the work uses is freed.
  void wait_for_memory() const noexcept { cudaEventSynchronize(event_); }
  /// Makes another stream wait until this work is done.
  void wait_in(cudaStream_t other) const { check(cudaStreamWaitEvent(other, event_, 0), "cudaStreamWaitEvent"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A guard waits for a stream when it is destroyed, so that the memory of other streams which that stream's work uses can be
/// given back afterwards.
class StreamGuard {
 public:
  explicit StreamGuard(cudaStream_t stream) : stream_(stream) {}
  ~StreamGuard() { cudaStreamSynchronize(stream_); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  cudaStream_t stream_;
};

/// The work that a stream was given until now, where it uses memory that others may free or change once they need not wait for
/// it any more. The destructor waits for the work.
class PendingWork {
 public:
  explicit PendingWork(cudaStream_t stream) {
    try {
      mark_ = std::make_unique<const StreamMark>(stream);
    } catch (...) {
      cudaStreamSynchronize(stream);
      throw;
    }
  }
  ~PendingWork() {
    if (mark_ != nullptr) mark_->wait_for_memory();
  }
  PendingWork(PendingWork&&) = default;
  PendingWork& operator=(PendingWork&&) = delete;

  /// Waits for the work, so that the destructor need not. Call it only once.
  void wait() {
    mark_->wait();
    mark_.reset();
  }

 private:
  std::unique_ptr<const StreamMark> mark_;
};

}  // namespace ozbound::gpu
