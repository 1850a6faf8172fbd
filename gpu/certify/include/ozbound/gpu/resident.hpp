#pragma once

#include <memory>

#include "ozbound/core/gemm.hpp"

namespace ozbound::gpu {

/// A, B and C0 in a device's memory, where CertifyingEngine decides and certifies by kernels: copies of what lies in the
/// host's.
class ResidentOperands {
 public:
  /// `c0` may be empty. The originals must live as long. @throws CudaError, where there is no room with out_of_memory().
  ResidentOperands(const InputView& a, const InputView& b, const InputView& c0, int device = 0);
  ~ResidentOperands();
  ResidentOperands(const ResidentOperands&) = delete;
  ResidentOperands& operator=(const ResidentOperands&) = delete;

  [[nodiscard]] InputView a() const;
  [[nodiscard]] InputView b() const;
  [[nodiscard]] InputView c0() const;

 private:
  struct Copies;
  std::unique_ptr<Copies> copies_;
};

/// C in a device's memory, not set, until it is copied to where it belongs.
class ResidentResult {
 public:
  explicit ResidentResult(const OutputView& c, int device = 0);
  ~ResidentResult();
  ResidentResult(const ResidentResult&) = delete;
  ResidentResult& operator=(const ResidentResult&) = delete;

  [[nodiscard]] OutputView view() const;
  void write_back() const;

 private:
  struct Copy;
  std::unique_ptr<Copy> copy_;
};

}  // namespace ozbound::gpu
