#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda.hpp"
#include "decision_arguments.hpp"
#include "ozbound/bounds/certified_gemm.hpp"
#include "ozbound/bounds/cheapest_costs.hpp"
#include "ozbound/bounds/decide.hpp"

namespace ozbound::cli {

/// An engine, the native DGEMM beside it, and what products cost there. An engine on a device is made when it is first asked
/// for, which takes longer than many a product.
class Backend {
 public:
  using Make = std::function<std::unique_ptr<Engine>()>;
  using MakeNative = std::function<std::shared_ptr<const NativeGemm>()>;

  Backend(std::string name, std::unique_ptr<CostModel> costs, bool has_native, Make make, MakeNative make_native)
      : name_(std::move(name)),
        costs_(std::move(costs)),
        has_native_(has_native),
        make_(std::move(make)),
        make_native_(std::move(make_native)) {}

  [[nodiscard]] const std::string& name() const { return name_; }  ///< as the records have it: `cpu`, `cuda: NVIDIA H200`
  [[nodiscard]] const CostModel& costs() const { return *costs_; }
  [[nodiscard]] bool has_native() const { return has_native_; }
  [[nodiscard]] const Engine& engine() const;
  [[nodiscard]] const NativeGemm* native() const;  ///< null where there is none

  /// The same decision on every backend.
  [[nodiscard]] Decision decide(const OperandFiles& files, const Target& target, DecideOptions options) const;

  /// C = alpha op(A) op(B) + beta C0 and its certificate, as a decision says.
  Certificate multiply(const OperandFiles& files, MatrixFile& c, const Decision& decision,
                       double workspace = unlimited_workspace) const;

  /// Operands in the device's memory are copied again when they are next asked for.
  void forget_operands() const { device_operands_.reset(), of_ = nullptr; }

 private:
  /// The operands in the device's memory, copied when they are first asked for.
  [[nodiscard]] const CudaOperands& device_operands(const OperandFiles& files) const;
  [[nodiscard]] bool on_device() const { return name_ != "cpu"; }

  std::string name_;
  std::unique_ptr<CostModel> costs_;
  bool has_native_;
  Make make_;
  MakeNative make_native_;
  mutable std::unique_ptr<Engine> engine_;
  mutable std::shared_ptr<const NativeGemm> native_;
  mutable std::unique_ptr<CudaOperands> device_operands_;
  mutable const OperandFiles* of_ = nullptr;  ///< whose operands these are
};

/// What products may run on here.
class Backends {
 public:
  /// @throws std::invalid_argument where the choice asks for what is not here.
  Backends(EngineChoice choice, int threads);

  /// The cheapest way that certifies the target, on the engine where it is cheapest.
  [[nodiscard]] Decision decide(const OperandFiles& files, const Target& target) const;

  /// The same for a decision that someone else made; its costs are filled in.
  void choose_engine(Decision& decision) const;

  /// What a decision was made for; any, if it says nothing. @throws std::invalid_argument where that is not here.
  [[nodiscard]] const Backend& of(const Decision& decision) const;

  /// Where a candidate of a decision is cheapest.
  [[nodiscard]] const Backend& of(const Candidate& candidate, Decision decision) const;

  /// What a decision may choose: slices or not, native DGEMM or not, at these costs.
  [[nodiscard]] DecideOptions options(const OperandFiles& files) const;

  /// What decides, which takes products too: where they are cheap. The decision is the same everywhere.
  [[nodiscard]] const Backend& deciding(const OperandFiles& files) const;

 private:
  EngineChoice choice_;
  std::vector<std::unique_ptr<Backend>> all_;
  std::unique_ptr<CheapestCosts> costs_;
};

}  // namespace ozbound::cli
