// SPDX-License-Identifier: BSD-3-Clause
// Products that are decided, multiplied and certified on the device, end to end, relative to cublasDgemm. Times are on the
// host's clock, from before the call until the device is done. Ratios are formed within each repetition (docs/benchmarks.md).
//
// Usage: ozbound-bench-gpu-certified [--quick] [--json FILE]. Exits with 0 for any measurement, 2 for a wrong argument or
// without a device.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "cublas.hpp"
#include "cuda_check.hpp"
#include "device_array.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/gpu/certified_gemm.hpp"
#include "ozbound/gpu/cuda_backend.hpp"
#include "ozbound/gpu/device_gemm.hpp"
#include "random_matrix.hpp"

namespace ozbound::bench {
namespace {

using gpu::check;

const cudaStream_t stream = cudaStreamPerThread;

struct Case {
  const char* target;
  double phi;  ///< entries (U - 1/2) e^(phi N)
  Index n, k;  ///< A is n x k, B is k x n
};

struct Measured {
  Case of;
  std::string plan;
  int products;
  bool holds;
  double over_dgemm;  ///< time of cublasDgemm over the time of the certified product, deciding included
  double certifying;  ///< share of that time outside the product under its plan
  double seconds;     ///< of the certified product
  double captured;    ///< time of cublasDgemm over the time of a captured CertifiedGemm; 0: it does not take the target, or
                      ///< chooses no plan
};

/// Operands and results of some products, column-major, in device memory.
class Problem {
 public:
  explicit Problem(const Case& of, Index count = 1)
      : n_(of.n),
        k_(of.k),
        count_(count),
        a_(count * n_ * k_, stream),
        b_(count * n_ * k_, stream),
        c_(count * n_ * n_, stream) {
    fill_random(a_.data(), count * n_ * k_, 1, stream, of.phi);
    fill_random(b_.data(), count * n_ * k_, 2, stream, of.phi);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  [[nodiscard]] RealProduct product(Index t = 0) const {
    const auto input = [](const double* x, Index rows, Index columns) {
      return InputView(MatrixView<const double>(x, rows, columns, 1, rows));
    };
    auto* const c = c_.data() + t * n_ * n_;
    return {input(a_.data() + t * n_ * k_, n_, k_), input(b_.data() + t * n_ * k_, k_, n_),
            OutputView(MatrixView<double>(c, n_, n_, 1, n_))};
  }
  void dgemm(const Cublas& cublas) const { cublas(a_.data(), b_.data(), c_.data(), n_, n_, k_, stream); }
  /// All products. @pre n = k
  void dgemm_batch(const Cublas& cublas) const { cublas.batch(a_.data(), b_.data(), c_.data(), n_, count_, stream); }

 private:
  Index n_, k_, count_;
  gpu::DeviceArray<double> a_, b_, c_;
};

/// A captured CertifiedGemm of one product, or of a batch.
class Captured {
 public:
  Captured(const gpu::CudaBackend& device, const Target& target, const std::vector<RealProduct>& calls)
      : gemm_(device, target, calls[0].m(), calls[0].n(), calls[0].k(), {.native = false}),
        bytes_(calls.size() * gemm_.workspace()),
        memory_(static_cast<Index>(bytes_ + alignment), stream) {
    void* data = memory_.data();
    auto room = bytes_ + alignment;
    auto* const workspace = static_cast<std::uint8_t*>(std::align(alignment, bytes_, data, room));
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    gemm_(calls, workspace, stream);
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&run_, graph, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(graph);
    launch();
    for (std::size_t t = 0; t < calls.size(); ++t) {
      const auto record = gemm_.record(calls[t], workspace + t * gemm_.workspace(), stream);
      certified_ += record && record->certificate.holds ? 1 : 0;
    }
  }
  ~Captured() { cudaGraphExecDestroy(run_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  void launch() const { check(cudaGraphLaunch(run_, stream), "cudaGraphLaunch"); }
  /// The number of products that have a certificate which holds.
  [[nodiscard]] Index certified() const { return certified_; }

  static bool takes(const Target& target) {
    return target.kind == Target::Kind::dgemm || target.kind == Target::Kind::componentwise;
  }

 private:
  static constexpr std::size_t alignment = 1024;

  gpu::CertifiedGemm gemm_;
  std::size_t bytes_;
  gpu::DeviceArray<std::uint8_t> memory_;
  cudaGraphExec_t run_ = nullptr;
  Index certified_ = 0;
};

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Costs are numbers of products. Plans are thus the same for every calibration of the device. Native DGEMM is considered; it
/// counts as 28 products, more than residues take.
Choices by_products() {
  static const ProductCount products;
  Choices choices;
  choices.costs = &products;
  return choices;
}

Measured measure(const Case& of, const gpu::CudaBackend& device, const Cublas& cublas, int repetitions) {
  const auto backend = device.backend();
  const Problem problem(of);
  const auto call = problem.product();
  const auto target = parse_target(of.target);
  const auto [decision, certificate] = multiply(call, target, backend, by_products());  // warms up
  gpu::DeviceGemm product(certificate.plans.at(0), of.n, of.n, of.k, {.held = true});
  product(call, stream);
  problem.dgemm(cublas);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  std::optional<Captured> captured;
  if (Captured::takes(target)) captured.emplace(device, target, std::vector{call});
  std::vector<double> speeds, shares, times, captured_speeds;
  for (int t = 0; t < repetitions; ++t) {
    const double native = seconds([&] { problem.dgemm(cublas); });
    const double certified = seconds([&] { static_cast<void>(multiply(call, target, backend, by_products())); });
    const double plain = seconds([&] { product(call, stream); });
    const double again = seconds([&] { problem.dgemm(cublas); });
    const bool certified_there = captured && captured->certified() == 1;
    const double replayed = certified_there ? seconds([&] { captured->launch(); }) : 0;
    captured_speeds.push_back(certified_there ? (native + again) / 2 / replayed : 0);
    speeds.push_back((native + again) / 2 / certified);
    shares.push_back(1 - plain / certified);
    times.push_back(certified);
  }
  return {of,
          to_string(certificate.plans[0]),
          certificate.plans[0].products(),
          certificate.holds,
          median(speeds),
          median(shares),
          median(times),
          median(captured_speeds)};
}

/// A batch of products of n x n matrices, phi = 1/2, target dgemm.
struct Batch {
  Index n, count;
  Index certified;    ///< products that have a certificate which holds
  double over_dgemm;  ///< time of cublasDgemmStridedBatched over that of one captured CertifiedGemm
  double over_calls;  ///< time of one call of `multiply` after the other over that of the captured CertifiedGemm
  double seconds;     ///< of the captured CertifiedGemm
};

Batch measure_batch(Index n, Index count, const gpu::CudaBackend& device, const Cublas& cublas) {
  constexpr int repetitions = 11;
  const Problem problem({"dgemm", 0.5, n, n}, count);
  const auto target = parse_target("dgemm");
  const auto backend = device.backend();
  std::vector<RealProduct> calls;
  for (Index t = 0; t < count; ++t) calls.push_back(problem.product(t));
  const auto dgemm = [&] { problem.dgemm_batch(cublas); };
  const auto each = [&] {
    for (const auto& call : calls) static_cast<void>(multiply(call, target, backend, by_products()));
  };
  dgemm();
  each();
  const Captured captured(device, target, calls);
  std::vector<double> over_dgemm, over_calls, times;
  for (int t = 0; t < repetitions; ++t) {
    const double native = seconds(dgemm), one_by_one = seconds(each), together = seconds([&] { captured.launch(); });
    const double again = seconds(dgemm);
    over_dgemm.push_back((native + again) / 2 / together);
    over_calls.push_back(one_by_one / together);
    times.push_back(together);
  }
  return {n, count, captured.certified(), median(over_dgemm), median(over_calls), median(times)};
}

struct Goal {
  std::string name;
  double limit;
  bool at_least;
  double measured;

  [[nodiscard]] bool met() const { return at_least ? measured >= limit : measured <= limit; }
};

constexpr Index square_sizes[] = {1024, 2048, 4096, 8192, 16384};
constexpr Index skinny_inner = 1024;  // of a product of 16384 x 16384

/// Goals for certified products relative to cublasDgemm, by size; 0: no goal.
struct GoalsOf {
  const char* target;
  double phi;
  double squares[5];
  double skinny;
};
constexpr GoalsOf all_goals_of[] = {{"dgemm", 0, {0.35, 0.75, 1.15, 1.5, 1.75}, 1.0},
                                    {"dgemm", 0.5, {0.35, 0.75, 1.15, 1.5, 1.75}, 1.0},
                                    {"componentwise:1e-7", 0.5, {0.45, 1.0, 1.8, 2.2, 2.6}, 1.5},
                                    {"componentwise:1e-7", 2, {0, 0.4, 0.9, 1.1, 1.3}, 0},
                                    {"normwise:1e-9", 0.5, {0, 0.4, 0.9, 1.1, 1.3}, 0},
                                    {"cr", 0, {0.2, 0.45, 0.75, 0.95, 1.05}, 0.55}};

std::string phi_text(double phi) { return phi == 0.5 ? "1/2" : std::to_string(static_cast<int>(phi)); }

std::vector<Goal> goals(const std::vector<Measured>& all) {
  std::vector<Goal> result;
  for (const auto& [target, phi, squares, skinny] : all_goals_of)
    for (const auto& one : all) {
      if (std::string(one.of.target) != target || one.of.phi != phi) continue;
      const auto size = std::find(std::begin(square_sizes), std::end(square_sizes), one.of.n) - std::begin(square_sizes);
      const double goal = one.of.k == one.of.n ? squares[size] : skinny;
      const auto shape = "n = " + std::to_string(one.of.n) + (one.of.k == one.of.n ? "" : ", k = " + std::to_string(one.of.k));
      const auto name = "over cublasDgemm: " + std::string(target) + ", phi = " + phi_text(phi) + ", " + shape;
      if (goal > 0) result.push_back({name, goal, true, one.over_dgemm});
    }
  return result;
}

void print(const Measured& one) {
  const auto captured = one.captured == 0 ? "" : ", captured " + std::to_string(one.captured).substr(0, 5);
  std::printf(
      "%-20s phi %3.1f  n = %5ld  k = %5ld  %-20s %2d products, %s: %9.3f ms, %6.3f of cublasDgemm, %5.3f certifying%s\n",
      one.of.target, one.of.phi, one.of.n, one.of.k, one.plan.c_str(), one.products, one.holds ? "holds" : "FAILS",
      1e3 * one.seconds, one.over_dgemm, one.certifying, captured.c_str());
  std::fflush(stdout);
}

void print(const Batch& batch) {
  std::printf(
      "batch of %3ld products, n = %4ld, %3ld certified: %9.3f ms, %6.3f of cublasDgemmStridedBatched, %6.2f of single "
      "calls\n",
      batch.count, batch.n, batch.certified, 1e3 * batch.seconds, batch.over_dgemm, batch.over_calls);
  std::fflush(stdout);
}

nlohmann::json record(const std::string& device, const std::vector<Measured>& all, const std::vector<Batch>& all_batches,
                      const std::vector<Goal>& all_goals) {
  auto listed = nlohmann::json::array(), measurements = nlohmann::json::array(), batches = nlohmann::json::array();
  for (const auto& batch : all_batches)
    batches.push_back({{"n", batch.n},
                       {"count", batch.count},
                       {"certified", batch.certified},
                       {"over_cublasDgemmStridedBatched", batch.over_dgemm},
                       {"over_single_calls", batch.over_calls},
                       {"seconds", batch.seconds}});
  for (const auto& goal : all_goals)
    listed.push_back({{"name", goal.name},
                      {"goal", goal.limit},
                      {"direction", goal.at_least ? "at least" : "at most"},
                      {"measured", goal.measured},
                      {"met", goal.met()},
                      {"status", goal.met() ? "met" : "missed"}});
  for (const auto& one : all)
    measurements.push_back({{"name", one.of.target},
                            {"phi", one.of.phi},
                            {"m", one.of.n},
                            {"n", one.of.n},
                            {"k", one.of.k},
                            {"plan", one.plan},
                            {"products", one.products},
                            {"holds", one.holds},
                            {"over_cublasDgemm", one.over_dgemm},
                            {"certifying", one.certifying},
                            {"seconds", one.seconds},
                            {"captured_over_cublasDgemm", one.captured}});
  return {{"schema", "ozbound-bench-gpu-certified-1"},
          {"machine", {{"device", device}, {"library", cublas_version()}}},
          {"goals", listed},
          {"measurements", measurements},
          {"batches", batches}};
}

int run(bool quick, const char* json) {
  const gpu::CudaBackend device;
  const Cublas cublas(Cublas::Way::native);
  std::printf("%s, %s\n", device.engine().device_name().c_str(), cublas_version());
  std::vector<Measured> all;
  const auto add = [&](const Case& of) {
    all.push_back(measure(of, device, cublas, of.n <= 4096 ? 11 : 5));
    print(all.back());
    gpu::release_memory();
  };
  for (const auto& [target, phi, squares, skinny] : all_goals_of) {
    for (const Index n : square_sizes)
      if (!quick || n <= 2048) add({target, phi, n, n});
    if (!quick) add({target, phi, square_sizes[4], skinny_inner});
  }
  std::vector<Batch> batches;
  for (const Index n : {128, 256, 512, 1024}) {
    if (quick && n > 256) continue;
    batches.push_back(measure_batch(n, 64, device, cublas));
    print(batches.back());
    gpu::release_memory();
  }
  const auto all_goals = goals(all);
  for (const auto& goal : all_goals)
    std::printf("%-56s %s %5.2f: %6.3f %s\n", goal.name.c_str(), goal.at_least ? "at least" : "at most ", goal.limit,
                goal.measured, goal.met() ? "met" : "missed");
  if (json == nullptr) return 0;
  std::ofstream out(json);
  out << record(device.engine().device_name(), all, batches, all_goals).dump(1) << '\n';
  out.close();
  if (out) return 0;
  std::fprintf(stderr, "%s cannot be written\n", json);
  return 2;
}

}  // namespace
}  // namespace ozbound::bench

int main(int count, char** arguments) {
  return ozbound::bench::run_benchmark("ozbound-bench-gpu-certified", count, arguments, ozbound::bench::run);
}
