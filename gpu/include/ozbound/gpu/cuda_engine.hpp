// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ozbound/core/gemm.hpp"
#include "ozbound/core/matrices.hpp"
#include "ozbound/gpu/path.hpp"

namespace ozbound::gpu {

struct Kernels;
struct DeviceSlices;
struct DeviceEpilogue;

/// The number of devices that CUDA offers; 0 without a driver.
int device_count();

/// Returns unused device memory to the device; engines keep it for later products. Waits for the device.
void release_memory(int device = 0);

struct DeviceProperties {
  std::string name;                ///< `NVIDIA H200`
  std::string compute_capability;  ///< `9.0`
  std::size_t memory = 0;          ///< bytes
};

/// The properties of every device that CUDA offers, in its order.
std::vector<DeviceProperties> devices();

/// The engine on a CUDA device, with the bits of CpuEngine. Slices and residues stay on the device. Calls from several threads
/// run side by side, each on its thread's own stream (cudaStreamPerThread). Errors of CUDA are thrown as CudaError. A lack of
/// device memory is thrown as OutOfMemory, and `gemm` then continues in smaller blocks.
/// Operands, C0 and C of slice, prepare, measure, norms, largest_units and multiply may each be in the host's memory, in the
/// device's, where they are used in place, or managed. Memory of another device is refused. Work of other streams on these
/// matrices must have finished. The matrices of multiply_unproven may lie in the same places, and with a DeviceExaminer those
/// of `decide` and `multiply` too.
class CudaEngine final : public Engine {
 public:
  struct Options {
    int device = 0;
    int threads = 0;  ///< of the host, for the parts of a product outside the engine; 0: as many as OpenMP would use
    Path path = Path::automatic;  ///< preferred kernels; products that they cannot make take others
    double sum_bytes = 0x1p30;    ///< bytes of integer sums in device memory at a time, at least those of 128 x 128 entries
    /// If true, products of bfloat16 numbers tell which entries deciding and certifying may skip, under an assumption about
    /// their rounding (docs/derivations/enclosure.md, E5). If false, nothing is assumed, and the work takes longer.
    bool search_by_tensor_cores = true;
  };

  CudaEngine() : CudaEngine(Options{}) {}

  /// @throws std::invalid_argument naming an option that is out of range, CudaError if there is no such device.
  explicit CudaEngine(Options options);

  [[nodiscard]] SlicedMatrix slice(InputView operand, Side side, Slicing slicing) const override;
  [[nodiscard]] bool takes(const IntegerOperand& operand) const override;
  [[nodiscard]] SliceFacts measure(InputView operand, Side side, Slicing slicing) const override;
  [[nodiscard]] bool has_residues() const override { return true; }
  [[nodiscard]] std::vector<VectorNorms> norms(InputView operand, Side side) const override;
  [[nodiscard]] std::uint64_t largest_units(InputView a, InputView b) const override;
  [[nodiscard]] IntegerOperand prepare(InputView operand, Side side, const OperandForm& form) const override;
  std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan, const Epilogue& epilogue,
                              OutputView c) const override;
  [[nodiscard]] const Matrices& matrices() const override { return *matrices_; }
  [[nodiscard]] bool start(const RealProduct& product, const Plan& plan, KeptOperands kept) const override;
  [[nodiscard]] std::optional<std::vector<Entry>> multiply_whole(const RealProduct& product, const Plan& plan,
                                                                 KeptOperands kept, ZivBound error) const override;
  [[nodiscard]] std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                             const SplitPlan& plan) const override;
  [[nodiscard]] std::vector<Matrix<std::int64_t>> recovered_groups(const ResidueMatrix& a, const ResidueMatrix& b,
                                                                   const ResiduePlan& plan) const override;
  [[nodiscard]] const CostModel& costs() const override { return costs_; }

  /// Bytes of device memory.
  [[nodiscard]] double workspace(const Plan& plan, Index m, Index n, Index k) const override;
  [[nodiscard]] int threads() const override;

  /// The path that a product takes.
  [[nodiscard]] Path path(const Plan& plan, Index m, Index n, Index k) const;

  /// `NVIDIA H200, compute capability 9.0`.
  [[nodiscard]] std::string device_name() const;

 private:
  friend class DeviceExaminer;
  friend class CertifiedGemm;

  /// True if matrices lie on the device, and kept operands fit the plan.
  [[nodiscard]] bool takes_whole(const RealProduct& product, const Plan& plan, KeptOperands kept) const;

  /// Computes all entries that are not special, for matrices in device memory, in one block. Launches on the thread's stream
  /// and does not wait. Kept operands are null or on this device, and must live until the work is done. Returns false, and
  /// launches nothing, if there is not enough memory. @param ziv an epilogue with a bound and marks, or an empty one
  /// @pre k > 0, C is not empty, scalars are finite; the kept operands' forms and the shapes fit; the plan holds the operands.
  [[nodiscard]] bool launch_product(const RealProduct& product, const Plan& plan, KeptOperands kept,
                                    const DeviceEpilogue& ziv) const;

  /// The first `groups` sums of every entry; for residues, the sums recovered from the moduli.
  [[nodiscard]] std::vector<Matrix<std::int64_t>> sums_of(const Plan& plan, const DeviceSlices& a, const DeviceSlices& b,
                                                          int groups) const;

  Options options_;
  std::shared_ptr<Kernels> kernels_;
  std::shared_ptr<const Matrices> matrices_;
  ProductCount costs_;
};

}  // namespace ozbound::gpu
