#include "backends.hpp"

#include <stdexcept>

#include "cuda.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/core/real_representation.hpp"
#include "ozbound/files/text.hpp"
#include "ozbound/native.hpp"
#include "product_file.hpp"

namespace ozbound::cli {
namespace {

/// @param native null where it is left out.
std::unique_ptr<Backend> cpu_backend(int threads, const NativeGemm* native) {
  const auto engine = make_engine(threads);
  return std::make_unique<Backend>(
      "cpu", std::make_unique<CalibratedCosts>(machine_costs(engine, native)), native != nullptr,
      [engine] { return std::make_unique<CpuEngine>(engine); },
      [native] { return std::shared_ptr<const NativeGemm>(std::shared_ptr<void>(), native); });
}

std::unique_ptr<Backend> cuda_backend(int threads, std::unique_ptr<CostModel> costs) {
  return std::make_unique<Backend>(
      cuda_name(), std::move(costs), cuda_has_native(), [threads] { return make_cuda_engine(threads); },
      [] { return std::shared_ptr<const NativeGemm>(make_cuda_native()); });
}

/// The device, where it is known how long it takes: seconds of others cannot be compared with anything else.
std::unique_ptr<Backend> comparable_cuda_backend(int threads) {
  if (!cuda_obstacle().empty()) return nullptr;
  const auto costs = cuda_costs(threads);
  return costs ? cuda_backend(threads, std::make_unique<CalibratedCosts>(*costs)) : nullptr;
}

std::unique_ptr<Backend> only_cuda_backend(int threads) {
  if (const auto obstacle = cuda_obstacle(); !obstacle.empty()) throw std::invalid_argument("--engine: " + obstacle);
  if (const auto costs = cuda_costs(threads)) return cuda_backend(threads, std::make_unique<CalibratedCosts>(*costs));
  return cuda_backend(threads, std::make_unique<ProductCount>());
}

/// `cuda` of `cuda: NVIDIA H200`.
std::string kind_of(const std::string& name) { return name.substr(0, name.find(':')); }

}  // namespace

const Engine& Backend::engine() const {
  if (engine_ == nullptr) engine_ = make_();
  return *engine_;
}

const NativeGemm* Backend::native() const {
  if (native_ == nullptr) native_ = make_native_();
  return native_.get();
}

const CudaOperands& Backend::device_operands(const OperandFiles& files) const {
  if (of_ != &files) device_operands_ = to_cuda(files.a(), files.b(), files.c0()), of_ = &files;
  return *device_operands_;
}

Decision Backend::decide(const OperandFiles& files, const Target& target, DecideOptions options) const {
  if (files.is_complex()) {
    const auto c = unwritten(files.m(), files.n(), options.format);
    return ozbound::decide(complex_call(files, c), target, engine(), options);
  }
  if (!on_device()) return ozbound::decide(files.a(), files.b(), target, engine(), options);
  const auto& operands = device_operands(files);
  options.c0 = operands.c0();
  return ozbound::decide(operands.a(), operands.b(), target, engine(), options);
}

Certificate Backend::multiply(const OperandFiles& files, MatrixFile& c, const Decision& decision, double workspace) const {
  const GemmOptions options{.workspace = workspace, .native = decision.method == Method::native ? native() : nullptr};
  if (files.is_complex()) return gemm(complex_call(files, c), decision, engine(), options);
  const auto call = real_call(files, c);
  if (!on_device()) return gemm(call, decision, engine(), options);
  Certificate certificate;
  const auto& operands = device_operands(files);
  operands.with_result(call.c, [&](const OutputView& view) {
    certificate = gemm(GemmCall{operands.a(), operands.b(), view, files.alpha(), files.beta(), operands.c0()}, decision,
                       engine(), options);
  });
  return certificate;
}

Backends::Backends(EngineChoice choice, int threads) : choice_(choice) {
  if (choice == EngineChoice::native) static_cast<void>(native_gemm(choice));  // refuses what this build has not
  const auto* native = choice == EngineChoice::cpu ? nullptr : ozbound::native_gemm();
  all_.push_back(choice == EngineChoice::cuda ? only_cuda_backend(threads) : cpu_backend(threads, native));
  if (choice == EngineChoice::automatic)
    if (auto cuda = comparable_cuda_backend(threads)) all_.push_back(std::move(cuda));
  std::vector<CheapestCosts::Of> costs;
  for (const auto& backend : all_) costs.push_back({&backend->costs(), backend->has_native()});
  costs_ = std::make_unique<CheapestCosts>(std::move(costs));
}

Decision Backends::decide(const OperandFiles& files, const Target& target) const {
  auto decision = deciding(files).decide(files, target, options(files));
  choose_engine(decision);
  return decision;
}

void Backends::choose_engine(Decision& decision) const {
  const auto chosen = costs_->engine_for(decision);
  decision.cost = costs_->cost_on(chosen, decision);
  decision.costs = all_[chosen]->costs().origin();
  decision.engine = all_[chosen]->name();
}

const Backend& Backends::of(const Decision& decision) const {
  for (const auto& backend : all_)
    if (kind_of(backend->name()) == kind_of(decision.engine)) return *backend;
  if (decision.engine.empty()) return *all_.front();
  throw std::invalid_argument("decision: is for the engine " + quote(decision.engine) + ", which is not here");
}

const Backend& Backends::of(const Candidate& candidate, Decision decision) const {
  decision.method = candidate.method, decision.plan = candidate.plan, decision.cost = candidate.cost;
  return *all_[costs_->engine_for(decision)];
}

DecideOptions Backends::options(const OperandFiles& files) const {
  auto options = decide_options(files, choice_, *costs_);
  for (const auto& backend : all_)
    if (choice_ == EngineChoice::automatic && options.native == nullptr && backend->has_native())
      options.native = backend->native();
  return options;
}

const Backend& Backends::deciding(const OperandFiles& files) const {
  Decision product{};
  product.plan = SplitPlan::balanced(7, 7, 8);
  product.m = files.real_m(), product.n = files.n(), product.k = files.real_k();
  return *all_[costs_->engine_for(product)];
}

}  // namespace ozbound::cli
