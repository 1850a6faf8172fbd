// The CUDA engine beside cuBLAS, timed by events on random data, as ratios formed within each repetition (docs/benchmarks.md).
//
// Usage: ozbound-bench-gpu [--quick] [--json FILE]. Exits with 0 whatever was measured, 2 for a wrong argument or without a
// device.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cublas.hpp"
#include "cuda_check.hpp"
#include "device_array.hpp"
#include "lt_product.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "ozbound/gpu/device_gemm.hpp"
#include "random_matrix.hpp"

namespace ozbound::bench {
namespace {

using gpu::check;
using gpu::DeviceArray;
using gpu::Path;

struct Shape {
  Index m, n, k;

  [[nodiscard]] double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

/// Something that is timed: what it launches on a stream.
struct Subject {
  std::string name;
  double products = 0;  ///< of INT8, for each multiplication and addition of the product; 0: not counted
  std::function<void(cudaStream_t)> launch;
  std::vector<double> times = {};  ///< of each repetition, in seconds
};

struct Measurement {
  std::string name, baseline;
  Shape shape;
  double median, lower_quartile, upper_quartile;  ///< of the baseline's time over the subject's
  double seconds, baseline_seconds;
  int repetitions;
};

struct Goal {
  std::string name;
  double limit;
  std::optional<double> measured;

  [[nodiscard]] const char* status() const { return !measured ? "not measured" : *measured >= limit ? "met" : "missed"; }
};

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
}

/// Times subjects in turn, there and back, so that a steady drift cancels.
class Timer {
 public:
  explicit Timer(cudaStream_t stream) : stream_(stream) {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void run(std::vector<Subject>& subjects, double seconds) const {
    double together = 0;
    for (const auto& subject : subjects) {
      static_cast<void>(sample(subject));  // warms up
      together += 2 * sample(subject);
    }
    const int repetitions = std::clamp(static_cast<int>(seconds / together), 5, 31);
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      for (auto& subject : subjects) subject.times.push_back(sample(subject) / 2);
      for (auto subject = subjects.rbegin(); subject != subjects.rend(); ++subject)
        subject->times.back() += sample(*subject) / 2;
    }
  }

 private:
  /// Seconds of one call, of as many as take a millisecond.
  [[nodiscard]] double sample(const Subject& subject) const {
    for (int calls = 1;; calls *= 4) {
      check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
      for (int call = 0; call < calls; ++call) subject.launch(stream_);
      check(cudaEventRecord(end_, stream_), "cudaEventRecord");
      check(cudaEventSynchronize(end_), "cudaEventSynchronize");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
      if (milliseconds >= 1 || calls >= 64) return static_cast<double>(milliseconds) / 1000 / calls;
    }
  }

  cudaStream_t stream_;
  cudaEvent_t begin_{}, end_{};
};

Measurement ratio(const Subject& subject, const Subject& baseline, const Shape& shape) {
  std::vector<double> ratios;
  for (std::size_t t = 0; t < subject.times.size(); ++t) ratios.push_back(baseline.times[t] / subject.times[t]);
  return {subject.name,
          baseline.name,
          shape,
          quantile(ratios, 0.5),
          quantile(ratios, 0.25),
          quantile(ratios, 0.75),
          quantile(subject.times, 0.5),
          quantile(baseline.times, 0.5),
          static_cast<int>(ratios.size())};
}

/// A launch as a graph, which takes the host's time out of small products.
std::function<void(cudaStream_t)> captured(const std::function<void(cudaStream_t)>& launch, cudaStream_t stream) {
  launch(stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  cudaGraph_t graph{};
  cudaGraphExec_t executable{};
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  launch(stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  const std::shared_ptr<CUgraphExec_st> owned(executable, cudaGraphExecDestroy);
  return [owned](cudaStream_t on) { check(cudaGraphLaunch(owned.get(), on), "cudaGraphLaunch"); };
}

/// The whole product under a plan, slicing and all.
Subject product(const std::string& plan, Path path, const Shape& shape, const GemmCall& call, cudaStream_t stream) {
  const auto parsed = parse_plan(plan);
  const auto gemm =
      std::make_shared<gpu::DeviceGemm>(parsed, shape.m, shape.n, shape.k, gpu::DeviceGemm::Options{.path = path});
  const char* const suffix = path == Path::cublaslt ? "/cuBLASLt" : "";
  const auto launch = captured([gemm, call](cudaStream_t on) { (*gemm)(call, on); }, stream);
  return {plan + suffix, static_cast<double>(parsed.products()), [gemm, launch](cudaStream_t on) { launch(on); }};
}

/// INT8 products by cuBLASLt with a long inner dimension: what the device reaches.
Subject ceiling(const Shape& shape) {
  struct Work {
    gpu::LtProduct lt{0};
    gpu::LtProduct::Shape shape;
    DeviceArray<double> rows, columns;  // random bits
    DeviceArray<std::int32_t> sums;
    DeviceArray<std::uint8_t> workspace;
  };
  const auto work = std::make_shared<Work>();
  const Index inner = 4 * (shape.k / 16) * 16;
  work->shape = {shape.m, shape.n, inner, inner, inner};
  const auto stream = cudaStreamPerThread;
  work->rows = {shape.m * inner / 8, stream}, work->columns = {shape.n * inner / 8, stream};
  work->sums = {shape.m * shape.n, stream};
  work->workspace = {static_cast<Index>(gpu::LtProduct::workspace_bytes), stream};
  fill_random(work->rows.data(), shape.m * inner / 8, 3, stream);
  fill_random(work->columns.data(), shape.n * inner / 8, 4, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  work->lt.tune(work->shape);
  return {"INT8 by cuBLASLt", 4, [work](cudaStream_t on) {
            work->lt.launch(work->shape, reinterpret_cast<const std::int8_t*>(work->rows.data()),
                            reinterpret_cast<const std::int8_t*>(work->columns.data()), work->sums.data(),
                            work->workspace.data(), on);
          }};
}

constexpr const char* plan_of_28 = "balanced:7x7:cut=8:exact";
constexpr const char* plan_of_21 = "balanced:6x6:cut=7:exact";
constexpr const char* others[] = {plan_of_21, "balanced:8x8:cut=9:exact", "balanced:2x2:cut=3:exact",
                                  "nearest7:8x8:cut=9:exact"};

void measure(const Shape& shape, double seconds, std::vector<Measurement>& measurements) {
  const auto stream = cudaStreamPerThread;
  const DeviceArray<double> a(shape.m * shape.k, stream), b(shape.k * shape.n, stream), c(shape.m * shape.n, stream);
  fill_random(a.data(), shape.m * shape.k, 1, stream);
  fill_random(b.data(), shape.k * shape.n, 2, stream);
  const GemmCall call{InputView(MatrixView<const double>(a.data(), shape.m, shape.k, 1, shape.m)),
                      InputView(MatrixView<const double>(b.data(), shape.k, shape.n, 1, shape.k)),
                      OutputView(MatrixView<double>(c.data(), shape.m, shape.n, 1, shape.m))};
  const auto blas = [&](Cublas::Way way) {
    const auto dgemm = std::make_shared<Cublas>(way);
    return [dgemm, shape, x = a.data(), y = b.data(), z = c.data()](cudaStream_t on) {
      (*dgemm)(x, y, z, shape.m, shape.n, shape.k, on);
    };
  };
  std::vector<Subject> subjects{{"cublasDgemm", 0, blas(Cublas::Way::native)}};
  if (Cublas::can_emulate()) subjects.push_back({"cuBLAS emulation, 55 bits", 0, blas(Cublas::Way::emulated)});
  subjects.push_back(product(plan_of_28, Path::automatic, shape, call, stream));
  if (gpu::LtProduct::applies(parse_plan(plan_of_28))) {
    subjects.push_back(product(plan_of_28, Path::cublaslt, shape, call, stream));
    if (shape.m * shape.n >= Index{1} << 22) subjects.push_back(ceiling(shape));
  }
  for (const auto* plan : others) subjects.push_back(product(plan, Path::automatic, shape, call, stream));
  Timer(stream).run(subjects, seconds);
  for (const auto& subject : subjects) {
    const auto measured = ratio(subject, subjects[0], shape);
    std::printf("%6ld x %6ld x %6ld  %-36s %10.4f ms %8.2f TFLOP/s %7.3f of cublasDgemm", shape.m, shape.n, shape.k,
                subject.name.c_str(), 1e3 * measured.seconds, 1e-12 * shape.operations() / measured.seconds, measured.median);
    if (subject.products > 0) std::printf(" %7.0f TOPS", 1e-12 * subject.products * shape.operations() / measured.seconds);
    std::printf("\n");
    measurements.push_back(measured);
    if (Cublas::can_emulate() && subject.name == plan_of_28) measurements.push_back(ratio(subject, subjects[1], shape));
  }
  std::fflush(stdout);
}

/// The least ratio of the measurements that a goal is about.
Goal judged(const std::string& name, double limit, const std::string& subject, const std::string& baseline,
            const std::vector<Measurement>& all, const std::function<bool(const Shape&)>& concerns) {
  Goal goal{name, limit, {}};
  for (const auto& one : all)
    if (one.name == subject && one.baseline == baseline && concerns(one.shape))
      goal.measured = std::min(goal.measured.value_or(std::numeric_limits<double>::infinity()), one.median);
  return goal;
}

std::vector<Goal> goals(const std::vector<Measurement>& all) {
  std::vector<Goal> result;
  const auto square = [](Index n) { return [n](const Shape& s) { return s.m == n && s.n == n && s.k == n; }; };
  for (const auto& [n, limit] : {std::pair<Index, double>{1024, 0.75}, {2048, 0.87}, {4096, 0.93}, {8192, 0.95}, {16384, 1.0}})
    result.push_back(
        judged("28 products over cublasDgemm, n = " + std::to_string(n), limit, plan_of_28, "cublasDgemm", all, square(n)));
  result.push_back(judged("28 products over cublasDgemm, 16384^2 x 1024", 0.95, plan_of_28, "cublasDgemm", all,
                          [](const Shape& s) { return s.m == 16384 && s.n == 16384 && s.k == 1024; }));
  result.push_back(judged("28 products over cuBLAS's emulation", 1.5, plan_of_28, "cuBLAS emulation, 55 bits", all,
                          [](const Shape&) { return true; }));
  result.push_back(judged("21 products over cublasDgemm, n >= 8192", 1.25, plan_of_21, "cublasDgemm", all,
                          [](const Shape& s) { return s.m >= 8192 && s.n >= 8192 && s.k >= 8192; }));
  result.push_back(judged("3 products over cublasDgemm, n >= 4096", 2, "balanced:2x2:cut=3:exact", "cublasDgemm", all,
                          [](const Shape& s) { return s.m >= 4096 && s.n >= 4096 && s.k >= 4096; }));
  return result;
}

void print(const std::vector<Goal>& all) {
  for (const auto& goal : all)
    std::printf("%-52s at least %5.2f: %6.3f %s\n", goal.name.c_str(), goal.limit, goal.measured.value_or(0), goal.status());
}

/// Names and devices hold no character that JSON escapes.
bool write_json(const char* file, const std::string& device, bool quick, const std::vector<Goal>& all_goals,
                const std::vector<Measurement>& measurements) {
  std::FILE* const out = std::fopen(file, "w");
  if (out == nullptr) return false;
  std::fprintf(
      out, "{\n\"schema\": \"ozbound-bench-gpu-1\", \"quick\": %s,\n\"machine\": {\"device\": \"%s\", \"library\": \"%s\"},\n",
      quick ? "true" : "false", device.c_str(), cublas_version());
  const char* separator = "\"goals\": [\n";
  for (const auto& goal : all_goals) {
    std::fprintf(out, "%s{\"name\": \"%s\", \"goal\": %g, \"direction\": \"at least\", ", separator, goal.name.c_str(),
                 goal.limit);
    if (goal.measured)
      std::fprintf(out, "\"measured\": %.6g, \"met\": %s, ", *goal.measured, *goal.measured >= goal.limit ? "true" : "false");
    else
      std::fprintf(out, "\"measured\": null, \"met\": null, ");
    std::fprintf(out, "\"status\": \"%s\"}", goal.status());
    separator = ",\n";
  }
  separator = "],\n\"measurements\": [\n";
  for (const auto& one : measurements) {
    std::fprintf(out, "%s{\"name\": \"%s\", \"baseline\": \"%s\", \"kind\": \"speed\", \"m\": %ld, \"n\": %ld, \"k\": %ld, ",
                 separator, one.name.c_str(), one.baseline.c_str(), one.shape.m, one.shape.n, one.shape.k);
    std::fprintf(out, "\"repetitions\": %d, \"median\": %.6g, \"lower_quartile\": %.6g, \"upper_quartile\": %.6g, ",
                 one.repetitions, one.median, one.lower_quartile, one.upper_quartile);
    std::fprintf(out, "\"seconds\": %.6g, \"baseline_seconds\": %.6g}", one.seconds, one.baseline_seconds);
    separator = ",\n";
  }
  std::fprintf(out, "]\n}\n");
  return std::fclose(out) == 0;
}

int run(bool quick, const char* json) {
  const auto device = gpu::CudaEngine().device_name();
  std::printf("%s, %s\n", device.c_str(), cublas_version());
  std::vector<Shape> shapes;
  for (const Index n : {256, 512, 1024, 2048, 4096, 8192, 16384})
    if (!quick || n <= 1024) shapes.push_back({n, n, n});
  if (!quick) shapes.push_back({16384, 16384, 1024}), shapes.push_back({16384, 512, 16384});
  std::vector<Measurement> measurements;
  for (const auto& shape : shapes) measure(shape, quick ? 0.2 : 1.0, measurements);
  const auto all = goals(measurements);
  print(all);
  if (json == nullptr || write_json(json, device, quick, all, measurements)) return 0;
  std::fprintf(stderr, "%s cannot be written\n", json);
  return 2;
}

}  // namespace
}  // namespace ozbound::bench

int main(int count, char** arguments) {
  bool quick = false;
  const char* json = nullptr;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--quick") {
      quick = true;
    } else if (argument == "--json" && i + 1 < count) {
      json = arguments[++i];
    } else {
      std::fprintf(stderr, "usage: ozbound-bench-gpu [--quick] [--json FILE]\n");
      return 2;
    }
  }
  if (ozbound::gpu::device_count() == 0) {
    std::fprintf(stderr, "no CUDA device\n");
    return 2;
  }
  try {
    return ozbound::bench::run(quick, json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
