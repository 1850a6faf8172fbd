// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device_plan_bound.hpp"
#include "facts.hpp"
#include "first_looks.hpp"
#include "level_two.hpp"
#include "measured_vectors.hpp"
#include "memory.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/examiner.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "plan_bound.hpp"
#include "side_stream.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {

/// Facts of one operand in device memory, under every slicing that is asked for.
class DeviceFactsCache {
 public:
  /// @param vectors count x inner, in device memory. They must outlive the cache, and so must `look`.
  DeviceFactsCache(const DeviceMatrix& vectors, Index count, Index inner, const FirstLook& look, cudaStream_t stream)
      : vectors_(vectors), count_(count), inner_(inner), look_(look), stream_(stream) {}

  /// All vectors' facts, with at least these parts. @pre the device is the current one.
  const DeviceFacts& all(const Slicing& slicing, FactParts parts);

 private:
  struct Measured {
    Memory memory;
    DeviceFacts facts;
    FactParts parts;
  };

  DeviceMatrix vectors_;
  Index count_, inner_;
  FirstLook look_;
  cudaStream_t stream_;
  std::vector<std::unique_ptr<Measured>> all_;
};

/// The examination of matrices in device memory, or of copies there.
class DeviceExamination final : public Examination {
 public:
  /// @pre `device` is the current one. The matrices that the product views, and `kernels`, must outlive the examination.
  DeviceExamination(const RealProduct& product, const Encoding& encoding, Kernels& kernels, const CudaEngine::Options& engine,
                    cudaStream_t stream, std::shared_ptr<const SideStream> side, std::shared_ptr<LentStreams> streams);
  ~DeviceExamination() override;

  OperandRecord record() override;
  PlanBound bound(const Plan& plan) override;
  double error_at(const Plan& plan, double uniform, Index i, Index j) override;
  bool holds(const ResiduePlan& plan) override;
  std::optional<ResidueFacts> residue_facts() override;
  std::optional<OuterRanges> outer_ranges() override;
  std::unique_ptr<Allowance> allowance(const Target& target, double factor) override;

 private:
  friend class DeviceAllowance;
  struct Enclosure;

  PlanBound bound_of_slices(const SplitPlan& plan);
  double error_of_slices_at(const SplitPlan& plan, double uniform, Index i, Index j);
  PlanBound bound_of_residues(const ResiduePlan& plan);
  /// The exponent of the product's scale of an entry.
  std::int64_t exponent(Index i, Index j);
  bool level_one_holds(const ResiduePlan& plan);
  /// Single vectors of both operands under an encoding.
  MeasuredVectors& measured(Encoding encoding);

  /// A stream for work that the stream that decides need not wait for.
  const std::shared_ptr<const LentStream>& beside();
  /// Begins to measure the row and the column of the entry in the middle, where slices are tried first.
  void measure_middle();
  /// Launches level 1, unless it was launched before.
  void find_enclosure();
  /// Ensures that all necessary levels are launched. The first call waits for the report and returns true; later calls return
  /// false.
  bool settle();
  /// Launches the product that tells which tiles to look at, unless it was launched before or is not available. @pre level 2 is
  /// launched.
  void find_leading();
  const FirstLooks::Report& report() { return *shared_report(); }
  const std::shared_ptr<const FirstLooks::Report>& shared_report();

  RealProduct of_;
  Encoding encoding_;
  Kernels& kernels_;
  CudaEngine::Options engine_;
  int device_;  ///< may differ from the caller's current device
  bool by_tensor_cores_;
  cudaStream_t stream_;
  Index m_, n_, k_;
  DeviceOperand a_, b_, c0_;
  std::shared_ptr<const SideStream> side_;
  std::shared_ptr<LentStreams> streams_;
  std::shared_ptr<const LentStream> beside_;  ///< lent when first needed
  FirstLooks looks_;
  DeviceFactsCache rows_, columns_;
  std::vector<std::pair<Encoding, std::unique_ptr<MeasuredVectors>>> measured_;
  std::unique_ptr<Enclosure> enclosure_;          ///< made when first needed
  std::optional<StreamMark> looked_, level_one_;  ///< launched with it
  std::optional<StreamMark> level_two_;           ///< launched if level 1 is loose
  bool settled_ = false;
  /// Fetched when first needed, and again when level 1 has set its words. Bounds share it.
  std::shared_ptr<const FirstLooks::Report> report_;
};

}  // namespace ozbound::gpu
