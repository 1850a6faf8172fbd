#pragma once

#include <memory>

#include "ozbound/bounds/operand_access.hpp"
#include "ozbound/gpu/cuda_engine.hpp"

namespace ozbound::gpu {

class SideStream;

/// A CudaEngine under which decisions and certified products, too, take matrices of the device's memory or the host's, or of
/// both: `gemm(call, target, engine)` with views of device memory. Decisions and certificates are those of the CPU's engine,
/// bit for bit, but that a certificate names what its search assumed of tensor cores. What it is asked about matrices of the
/// host's memory alone the host answers.
class CertifyingEngine final : public CudaEngine, public OperandAccess {
 public:
  CertifyingEngine() : CertifyingEngine(Options{}) {}

  /// @throws as CudaEngine.
  explicit CertifyingEngine(Options options);

  [[nodiscard]] std::uint64_t fingerprint(const InputView& matrix) const override;
  [[nodiscard]] ExponentRange exponent_range(const InputView& operand, Side side) const override;
  [[nodiscard]] ExponentRange exponent_range(const InputView& matrix) const override;
  [[nodiscard]] std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool is_double) const override;
  [[nodiscard]] std::unique_ptr<OwnedMatrix> copy(const InputView& matrix) const override;
  [[nodiscard]] SpecialEntries special_entries(const GemmCall& call) const override;
  [[nodiscard]] Index count(const SpecialEntries& specials) const override;
  void apply_specials(const GemmCall& call, const SpecialEntries& specials) const override;
  void multiply_exactly(const GemmCall& call, const SpecialEntries& specials) const override;
  void finish_exactly(const GemmCall& call, const std::vector<Entry>& entries) const override;
  [[nodiscard]] std::unique_ptr<Examination> examine(const Factors& factors, const DecideOptions& options) const override;
  void multiply_finite(const GemmCall& call, const SplitPlan& plan, KeptSlices kept, double workspace) const override;
  [[nodiscard]] ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                                         const SpecialEntries& specials) const override;
  [[nodiscard]] std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& specials) const override;
  [[nodiscard]] std::optional<Entry> last_inexact(const EntryBound& bound, const SpecialEntries& specials) const override;
  Accepted accept_relative(const InputView& product, const ErrorBound& bound, double factor, const SpecialEntries& specials,
                           const OutputView& c) const override;

 private:
  Options options_;
  int device_;
  std::shared_ptr<const SideStream> side_;
  HostAccess host_{*this};
};

}  // namespace ozbound::gpu
