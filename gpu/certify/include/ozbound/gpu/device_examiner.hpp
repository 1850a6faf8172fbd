// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "ozbound/bounds/examiner.hpp"
#include "ozbound/gpu/cuda_engine.hpp"

namespace ozbound::gpu {

class SideStream;
class LentStreams;

/// The examiner of a CudaEngine, which must outlive it. Matrices may be in the device's memory, the host's, or both. Its
/// results equal HostExaminer's bit for bit, except that a certificate names what the search assumed about tensor cores.
/// Questions about matrices in the host's memory only are answered on the host.
class DeviceExaminer final : public Examiner {
 public:
  /// @throws CudaError
  explicit DeviceExaminer(const CudaEngine& engine);

  [[nodiscard]] std::unique_ptr<Examination> examine(const RealProduct& product,
                                                     const PreparedOperands& prepared = {}) const override;
  [[nodiscard]] ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                                         const SpecialEntries& specials) const override;
  [[nodiscard]] std::function<ResultFacts()> start_result_facts(const RoundingError& rounding, const RemotePlanBound* remote,
                                                                const InputView& c,
                                                                const SpecialEntries& specials) const override;
  [[nodiscard]] std::optional<Entry> last_inexact(const PlanBound& bound, const SpecialEntries& specials) const override;
  Accepted accept_relative(const InputView& product, const PlanBound& bound, double alpha, double factor,
                           const SpecialEntries& specials, const OutputView& c) const override;

 private:
  const CudaEngine* engine_;
  int device_;
  std::shared_ptr<const SideStream> side_;
  std::shared_ptr<LentStreams> streams_;
  HostExaminer host_;
};

}  // namespace ozbound::gpu
