// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/machine.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "native_at_once.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/bounds/detail/cheapest_costs.hpp"
#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/core/detail/call_checks.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/native.hpp"
#include "ozbound/plugin/load.hpp"

namespace ozbound {
namespace {

/// The machine's costs, read from file once per kernel, number of threads and library, so that products read no files.
const CostModel& known_cpu_costs(const CpuEngine& engine, const NativeGemm* native) {
  struct Known {
    std::mutex mutex;
    std::map<std::tuple<std::string_view, int, std::string>, CalibratedCosts> costs;  // its elements never move
  };
  static auto& known = *new Known;  // never destroyed: programs may multiply during their exit
  const std::tuple key(engine.kernel().name, engine.threads(), native == nullptr ? "" : native->name());
  const std::scoped_lock lock(known.mutex);
  const auto found = known.costs.find(key);
  return found != known.costs.end() ? found->second : known.costs.emplace(key, machine_costs(engine, native)).first->second;
}

/// The same costs, looked up on first use: carrying out a decision needs no costs.
class CpuCosts final : public CostModel {
 public:
  CpuCosts(const CpuEngine& engine, const NativeGemm* native) : engine_(engine), native_(native) {}

  [[nodiscard]] CostOrigin origin() const override { return known().origin(); }
  [[nodiscard]] double planned(const Plan& plan, Index m, Index n, Index k) const override {
    return known().planned(plan, m, n, k);
  }
  [[nodiscard]] double native(Index m, Index n, Index k) const override { return known().native(m, n, k); }
  [[nodiscard]] double exact(Index m, Index n, Index k) const override { return known().exact(m, n, k); }

 private:
  [[nodiscard]] const CostModel& known() const {
    const auto* costs = known_.load();
    if (costs == nullptr) known_.store(costs = &known_cpu_costs(engine_, native_));
    return *costs;
  }

  const CpuEngine& engine_;
  const NativeGemm* native_;
  mutable std::atomic<const CostModel*> known_ = nullptr;
};

struct Cpu {
  Cpu(int threads, const NativeGemm* native) : engine({.threads = threads}), costs(engine, native) {}

  CpuEngine engine;
  CpuCosts costs;
};

CheapestCosts cheapest_of(const std::vector<const Backend*>& backends) {
  std::vector<CheapestCosts::Of> costs;
  for (const auto* backend : backends)
    costs.push_back({&backend->costs(), backend->native() != nullptr, backend->engine().has_residues()});
  return CheapestCosts(std::move(costs));
}

/// The backends of a machine that take matrices in one memory. @throws std::invalid_argument if there are none.
std::vector<const Backend*> reaching(const Machine& machine, Place place) {
  std::vector<const Backend*> result;
  for (const auto& backend : machine.backends())
    if (backend.reaches(place)) result.push_back(&backend);
  if (result.empty())
    throw std::invalid_argument("a, b and c must lie where the machine takes them from, not in " + to_string(place));
  return result;
}

/// These backends, and each way's cost on the best of them.
class Reaching {
 public:
  Reaching(const Machine& machine, Place place) : backends_(reaching(machine, place)), costs_(cheapest_of(backends_)) {}

  [[nodiscard]] const CheapestCosts& costs() const { return costs_; }

  [[nodiscard]] const Backend& backend_for(const Decision& decision) const { return *backends_[costs_.engine_for(decision)]; }

  /// Sets the decision's backend, and its costs there if the machine's own costs made it. Otherwise the cost of finishing
  /// entries exactly is left out.
  void take(Decision& decision, bool by_own_costs = true) const {
    auto priced = decision;
    if (!by_own_costs && decision.plan)
      priced.cost = costs_.planned(*decision.plan, decision.real_m(), decision.n, decision.real_k());
    const auto chosen = costs_.engine_for(priced);
    decision.engine = backends_[chosen]->id();
    if (!by_own_costs) return;
    decision.cost = costs_.cost_on(chosen, decision);
    decision.costs = backends_[chosen]->costs().origin();
  }

  /// The backend that makes the decision: one where products of this size are cheap. The decision is the same on every backend.
  [[nodiscard]] Backend deciding(const Product& product, const Choices& choices) const {
    Decision of_its_size{};
    of_its_size.plan = SplitPlan::balanced(7, 7, 8);
    of_its_size.m = product.m(), of_its_size.n = product.n(), of_its_size.k = product.k();
    of_its_size.complex = product.is_complex();
    const auto& backend = backend_for(of_its_size);
    return {backend.engine(), backend.examiner(), native(), choices.costs != nullptr ? choices.costs : &costs_, backend.id()};
  }

 private:
  /// A native GEMM that may be considered; the one that runs is chosen later.
  [[nodiscard]] const NativeGemm* native() const {
    for (const auto* backend : backends_)
      if (backend->native() != nullptr) return backend->native();
    return nullptr;
  }

  std::vector<const Backend*> backends_;
  CheapestCosts costs_;
};

/// The first device of a plug-in, and the costs of products there.
struct Device {
  Device(const plugin::Plugin& plugin, int threads)
      : computing(std::make_shared<const plugin::PluginBackend>(plugin, 0, threads)),
        costs(known_costs(plugin.device(0).calibration, threads)) {}

  [[nodiscard]] Backend backend() const { return computing->backend(costs ? &*costs : nullptr); }

  std::shared_ptr<const plugin::PluginBackend> computing;
  std::optional<CalibratedCosts> costs;
};

/// The part of one backend's findings that another backend can use: without the examination, and with the bound and the worst
/// entry in host memory.
Findings portable(Findings found) {
  found.examination.reset(), found.started.reset();
  if (!found.evidence) return found;
  auto& [bound, worst] = *found.evidence;
  bound = fetched(std::move(bound));
  if (worst) worst = [found_worst = worst()] { return found_worst; };
  return found;
}

}  // namespace

Machine Machine::detect(int threads) {
  auto cpu = Machine::cpu(threads);
  const auto* plugin = plugin::cuda_plugin();
  if (plugin == nullptr) return cpu;
  struct Owner {
    Machine cpu;
    Device device;
  };
  try {
    auto owner = std::make_shared<const Owner>(Owner{cpu, Device(*plugin, cpu.backends().front().engine().threads())});
    if (!owner->device.costs) return cpu;
    return {{owner->cpu.backends().front(), owner->device.backend()}, owner};
  } catch (const std::runtime_error&) {  // the device exists but cannot be used: it is full, or reserved
    return cpu;
  }
}

Machine Machine::cuda(int threads) {
  const auto* plugin = plugin::cuda_plugin();
  if (plugin == nullptr) throw std::invalid_argument(plugin::plugin_obstacle());
  auto device = std::make_shared<const Device>(*plugin, CpuEngine({.threads = threads}).threads());
  return {{device->backend()}, device};
}

Machine Machine::cpu(int threads) { return cpu(threads, native_gemm()); }

Machine Machine::cpu(int threads, const NativeGemm* native) {
  auto cpu = std::make_shared<const Cpu>(threads, native);
  Machine machine({Backend(cpu->engine, native, &cpu->costs)}, cpu);
  machine.is_cpu_ = true;
  return machine;
}

Machine::Machine(std::vector<Backend> backends) : Machine(std::move(backends), nullptr) {}

Machine::Machine(std::vector<Backend> backends, std::shared_ptr<const void> owner)
    : backends_(std::move(backends)), owner_(std::move(owner)) {
  if (backends_.empty()) throw std::invalid_argument("backends must not be empty");
  if (backends_.size() == 1) return;
  std::vector<const Backend*> all;
  for (const auto& backend : backends_) all.push_back(&backend);
  cheapest_of(all);  // refuses different units
}

const Backend& Machine::backend_of(const Decision& decision, Place place) const {
  const auto reached = reaching(*this, place);
  const auto is_named = [&](const Backend* backend) { return decision.engine && backend->id().kind == decision.engine->kind; };
  if (const auto named = std::ranges::find_if(reached, is_named); named != reached.end()) return **named;
  // Slices and exact sums have the same bits everywhere; a native DGEMM's bits depend on its library.
  if (decision.engine && decision.method == Method::native)
    throw std::invalid_argument("decision: is for the native DGEMM of '" + to_string(*decision.engine) +
                                "', which is not here");
  return reached.size() == 1 ? *reached.front() : Reaching(*this, place).backend_for(decision);
}

const Backend& Machine::backend_of(const Candidate& candidate, Decision decision, Place place) const {
  decision.method = candidate.method, decision.plan = candidate.plan, decision.cost = candidate.cost;
  return Reaching(*this, place).backend_for(decision);
}

void Machine::choose_backend(Decision& decision, Place place) const { Reaching(*this, place).take(decision); }

Decision decide(const Product& product, const Target& target, const Machine& machine, const Choices& choices) {
  const FloatEnvironment environment;
  product.check_shapes();
  const Reaching reaching(machine, product.place());
  auto decision = decide(product, target, reaching.deciding(product, choices), choices);
  reaching.take(decision, choices.costs == nullptr);
  return decision;
}

Certificate multiply(const Product& product, const Decision& decision, const Machine& machine, const MultiplyOptions& options) {
  const FloatEnvironment environment;
  product.check();
  return multiply(product, decision, machine.backend_of(decision, product.place()), options);
}

Multiplied multiply(const Product& product, const Target& target, const Machine& machine, const Choices& choices,
                    const MultiplyOptions& options) {
  const FloatEnvironment environment;
  product.check();
  const Reaching reaching(machine, product.place());
  const auto here = reaching.deciding(product, choices);
  if (has_complex_scalars(product)) {
    auto decision = decide_with_complex_scalars(product.complex(), target, here, choices);
    reaching.take(decision, choices.costs == nullptr);
    if (options.decided) options.decided(decision);
    auto certificate = multiply(product, decision, machine.backend_of(decision, product.place()), options);
    return {std::move(decision), std::move(certificate)};
  }
  const bool bring = options.prepared_a == nullptr && options.prepared_b == nullptr;
  const NearProduct near(product, here, bring);
  auto [decision, found] = decide_with_findings(near.product(), product, target, here, choices, Purpose::product,
                                                Encoding::balanced(), bring ? options.workspace : 0);
  reaching.take(decision, choices.costs == nullptr);
  if (options.decided) options.decided(decision);
  const auto& runs = machine.backend_of(decision, product.place());
  if (&runs.engine() == &here.engine()) {
    auto certificate = multiply_real(near.product(), product, decision, runs, options, std::move(found));
    near.write_back();
    return {std::move(decision), std::move(certificate)};
  }
  const NearProduct there(product, runs, bring);
  auto certificate = multiply_real(there.product(), product, decision, runs, options, portable(std::move(found)));
  there.write_back();
  return {std::move(decision), std::move(certificate)};
}

std::optional<Certificate> multiply_without_record(const Product& product, const Target& target, const Machine& machine,
                                                   const Choices& choices, const MultiplyOptions& options) {
  const FloatEnvironment environment;
  const auto& backend = machine.backends().front();
  const bool usual = choices.slices && choices.residues && choices.native && choices.costs == nullptr &&
                     options.prepared_a == nullptr && options.prepared_b == nullptr && !options.decided;
  if (usual && machine.is_cpu() && backend.native() != nullptr && backend.native() == native_gemm()) {
    product.check();
    if (product.place().is_host() && multiply_at_once(product, target, *backend.native(), backend.engine().threads()))
      return std::nullopt;
  }
  return multiply(product, target, machine, choices, options).certificate;
}

CertifiedResult multiply(InputView a, InputView b, const Target& target, const Machine& machine, const Choices& choices,
                         const MultiplyOptions& options) {
  check_factors(a, b);
  CertifiedResult result{Matrix<double>(a.rows(), b.cols()), {}, {}};
  auto [decision, certificate] = multiply(Product{a, b, result.c}, target, machine, choices, options);
  result.decision = std::move(decision), result.certificate = std::move(certificate);
  return result;
}

}  // namespace ozbound
