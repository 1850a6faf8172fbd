// SPDX-License-Identifier: BSD-3-Clause
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

#include "command_line.hpp"
#include "cublas.hpp"
#include "cuda_check.hpp"
#include "device_array.hpp"
#include "device_operands.hpp"
#include "fast_slicing.hpp"
#include "fused.hpp"
#include "lt_product.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "ozbound/gpu/device_gemm.hpp"
#include "product.hpp"
#include "random_matrix.hpp"
#include "slicing.hpp"
#include "transfer.hpp"

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
  std::size_t workspace = 0;       ///< bytes of device memory beside the operands; 0: not known
  bool is_phase = false;           ///< a part of a whole product, of which its share is reported
  std::vector<double> times = {};  ///< of each repetition, in seconds
};

/// `speed`: the baseline's time over the subject's; `share`: the subject's over the baseline's.
enum class Kind { speed, share };

struct Measurement {
  std::string name, baseline;
  Kind kind;
  Shape shape;
  double median, lower_quartile, upper_quartile;
  double seconds, baseline_seconds;
  int repetitions;
  std::size_t workspace;
};

struct Goal {
  std::string name;
  double limit;
  std::optional<double> measured;

  [[nodiscard]] const char* status() const { return !measured ? "not measured" : *measured >= limit ? "met" : "missed"; }
};

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(part * static_cast<double>(values.size() - 1)))];
}

/// Times subjects in turn, there and back, so that a steady drift cancels.
class Timer {
 public:
  /// Samples of as many calls as take a millisecond, one after the other, or of one call that nothing precedes.
  enum class Sample { back_to_back, one_call };

  Timer(cudaStream_t stream, Sample sample) : stream_(stream), most_calls_(sample == Sample::one_call ? 1 : 64) {
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
      // NOLINTNEXTLINE(modernize-loop-convert): clang 14 cannot read libstdc++'s reverse_view
      for (auto subject = subjects.rbegin(); subject != subjects.rend(); ++subject)
        subject->times.back() += sample(*subject) / 2;
    }
  }

 private:
  /// Seconds of one call.
  [[nodiscard]] double sample(const Subject& subject) const {
    for (int calls = 1;; calls *= 4) {
      check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
      for (int call = 0; call < calls; ++call) subject.launch(stream_);
      check(cudaEventRecord(end_, stream_), "cudaEventRecord");
      check(cudaEventSynchronize(end_), "cudaEventSynchronize");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
      if (milliseconds >= 1 || calls >= most_calls_) return static_cast<double>(milliseconds) / 1000 / calls;
    }
  }

  cudaStream_t stream_;
  int most_calls_;
  cudaEvent_t begin_{}, end_{};
};

Measurement ratio(const Subject& subject, const Subject& baseline, const Shape& shape, Kind kind = Kind::speed) {
  std::vector<double> ratios;
  for (std::size_t t = 0; t < subject.times.size(); ++t) {
    const double speed = baseline.times[t] / subject.times[t];
    ratios.push_back(kind == Kind::speed ? speed : 1 / speed);
  }
  return {subject.name,
          baseline.name,
          kind,
          shape,
          quantile(ratios, 0.5),
          quantile(ratios, 0.25),
          quantile(ratios, 0.75),
          quantile(subject.times, 0.5),
          quantile(baseline.times, 0.5),
          static_cast<int>(ratios.size()),
          subject.workspace};
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

const char* suffix(Path path) { return path == Path::cublaslt ? "/cuBLASLt" : path == Path::portable ? "/portable" : ""; }

/// The whole product under a plan, with the slices or residues of its operands.
Subject product(const std::string& plan, Path path, const Shape& shape, const RealProduct& call, cudaStream_t stream) {
  const auto parsed = parse_plan(plan);
  const auto gemm =
      std::make_shared<gpu::DeviceGemm>(parsed, shape.m, shape.n, shape.k, gpu::DeviceGemm::Options{.path = path});
  const auto launch = captured([gemm, call](cudaStream_t on) { (*gemm)(call, on); }, stream);
  return {plan + suffix(path), static_cast<double>(parsed.products()), [gemm, launch](cudaStream_t on) { launch(on); },
          gemm->workspace()};
}

/// Slicing of both operands, and what follows it, of a plan that the fused kernel multiplies; without that, none.
std::vector<Subject> phases(const std::string& plan, const Shape& shape, const RealProduct& call, cudaStream_t stream) {
  struct Work {
    gpu::FusedProduct fused{0};
    DeviceArray<std::uint8_t> memory;
    gpu::SlicingJob a, b;
    gpu::DeviceEpilogue epilogue;
    void* workspace;
  };
  const auto work = std::make_shared<Work>();
  const auto parsed = parse_plan(plan).split();
  if (!work->fused.applies(parsed, shape.m, shape.n, shape.k)) return {};
  const auto matrix = [](const auto& view) {
    return gpu::DeviceMatrix{const_cast<double*>(view.data()), view.row_stride(), view.col_stride(), true};
  };
  const auto take = [&](gpu::Arena arena) {
    work->a = {matrix(std::get<0>(call.a.typed())), gpu::take_slices(arena, false, parsed.a, shape.m, shape.k)};
    work->b = {matrix(std::get<0>(call.b.typed())), gpu::take_slices(arena, true, parsed.b, shape.n, shape.k)};
    std::swap(work->b.vectors.row_stride, work->b.vectors.col_stride);
    work->workspace = arena.take<std::uint8_t>(static_cast<Index>(work->fused.workspace(parsed)));
    return arena.used();
  };
  const auto bytes = take(gpu::Arena{});
  work->memory = {static_cast<Index>(bytes + gpu::Arena::alignment), stream};
  take(gpu::Arena::aligned(work->memory.data(), bytes));
  work->epilogue.c = matrix(std::get<0>(call.c.typed()));
  const auto slice = [work](cudaStream_t on) { gpu::launch_fast_slicing(work->a, work->b, on); };
  const auto multiply = [work, parsed](cudaStream_t on) {
    work->fused.launch(work->a.slices, work->b.slices, parsed, work->epilogue, {}, work->workspace, on);
  };
  const auto kept = [work](std::function<void(cudaStream_t)> launch) {
    return [work, launch = std::move(launch)](cudaStream_t on) { launch(on); };
  };
  slice(stream);
  return {{plan + "/slicing", 0, kept(captured(slice, stream)), 0, true},
          {plan + "/multiplying+combining", static_cast<double>(parsed.products()), kept(captured(multiply, stream)), 0, true}};
}

/// Residues of both operands, and what follows them.
std::vector<Subject> residue_phases(const std::string& plan, const Shape& shape, const RealProduct& call, cudaStream_t stream) {
  struct Work {
    gpu::Kernels kernels{0};
    std::optional<gpu::Product> product;
    DeviceArray<std::uint8_t> memory;
    gpu::SlicingJob a, b;
    std::uint8_t* sums = nullptr;
  };
  const auto work = std::make_shared<Work>();
  const auto parsed = parse_plan(plan);
  constexpr double sum_bytes = 0x1p30;
  work->product.emplace(parsed, shape.m, shape.n, shape.k, sum_bytes, Path::automatic, work->kernels);
  work->product->prepare();
  const auto take = [&](gpu::Arena arena) {
    const auto forms = operand_forms(parsed);
    work->a = {gpu::matrix_of(call.a), gpu::take_operand(arena, forms.a, Side::rows_of_a, shape.m, shape.k)};
    work->b = {gpu::transposed(gpu::matrix_of(call.b)),
               gpu::take_operand(arena, forms.b, Side::columns_of_b, shape.n, shape.k)};
    work->sums = arena.take<std::uint8_t>(static_cast<Index>(work->product->bytes()));
    return arena.used();
  };
  const auto bytes = take(gpu::Arena{});
  work->memory = {static_cast<Index>(bytes + gpu::Arena::alignment), stream};
  take(gpu::Arena::aligned(work->memory.data(), bytes));
  const auto make = [work, parsed](cudaStream_t on) {
    gpu::launch_operands(parsed, &work->a, &work->b, work->product->path(), on);
  };
  const auto multiply = [work, c = gpu::matrix_of(call.c.as_input())](cudaStream_t on) {
    const gpu::Arena arena(work->sums, static_cast<std::size_t>(work->product->bytes()));
    work->product->launch(work->a.slices, work->b.slices, {.c = c}, {}, arena, on);
  };
  const auto kept = [work](std::function<void(cudaStream_t)> launch) {
    return [work, launch = std::move(launch)](cudaStream_t on) { launch(on); };
  };
  make(stream);
  return {
      {plan + "/residues", 0, kept(captured(make, stream)), 0, true},
      {plan + "/multiplying+recovering", static_cast<double>(parsed.products()), kept(captured(multiply, stream)), 0, true}};
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
constexpr const char* others[] = {plan_of_21,
                                  "balanced:8x8:cut=9:exact",
                                  "balanced:5x5:cut=6:exact",
                                  "balanced:4x4:cut=5:exact",
                                  "balanced:3x3:cut=4:exact",
                                  "balanced:2x2:cut=3:exact",
                                  "nearest7:8x8:cut=9:exact"};
constexpr int moduli[] = {8, 13, 15, 18};
constexpr int divided_moduli = 13;  ///< whose phases are timed by themselves too
constexpr Index largest_portable = 512, least_ceiling = 2048, largest_one_call = 2048;

/// The plan of N moduli with as many bits of both operands as hold whatever these are.
std::string widest_residues(int count, Index k) {
  const int both = ResidueBase::of(count).half.bits() - 1 - bit_length(static_cast<std::uint64_t>(k));
  return to_string(Plan(ResiduePlan{count, (both + 1) / 2, both / 2}));
}

/// Random operands of a shape, and their product.
class Problem {
 public:
  Problem(const Shape& shape, cudaStream_t stream)
      : shape_(shape), a_(shape.m * shape.k, stream), b_(shape.k * shape.n, stream), c_(shape.m * shape.n, stream) {
    fill_random(a_.data(), shape.m * shape.k, 1, stream);
    fill_random(b_.data(), shape.k * shape.n, 2, stream);
  }

  [[nodiscard]] RealProduct call() const {
    return {InputView(MatrixView<const double>(a_.data(), shape_.m, shape_.k, 1, shape_.m)),
            InputView(MatrixView<const double>(b_.data(), shape_.k, shape_.n, 1, shape_.k)),
            OutputView(MatrixView<double>(c_.data(), shape_.m, shape_.n, 1, shape_.m))};
  }
  [[nodiscard]] Subject blas(const std::string& name, Cublas::Way way) const {
    const auto dgemm = std::make_shared<Cublas>(way);
    return {name, 0, [dgemm, shape = shape_, x = a_.data(), y = b_.data(), z = c_.data()](cudaStream_t on) {
              (*dgemm)(x, y, z, shape.m, shape.n, shape.k, on);
            }};
  }

 private:
  Shape shape_;
  DeviceArray<double> a_, b_, c_;
};

/// Everything that is timed side by side; cublasDgemm first, then what else cuBLAS has.
std::vector<Subject> subjects_for(const Problem& problem, const Shape& shape, cudaStream_t stream) {
  const auto call = problem.call();
  std::vector<Subject> subjects{problem.blas("cublasDgemm", Cublas::Way::native)};
  if (Cublas::can_emulate()) subjects.push_back(problem.blas("cuBLAS emulation, 55 bits", Cublas::Way::emulated));
  const auto add = [&](const char* plan, Path path) { subjects.push_back(product(plan, path, shape, call, stream)); };
  add(plan_of_28, Path::automatic);
  for (auto& phase : phases(plan_of_28, shape, call, stream)) subjects.push_back(std::move(phase));
  if (gpu::LtProduct::applies(parse_plan(plan_of_28).split())) {
    add(plan_of_28, Path::cublaslt);
    if (std::min(shape.m, shape.n) >= least_ceiling) subjects.push_back(ceiling(shape));
  }
  if (std::max({shape.m, shape.n, shape.k}) <= largest_portable) add(plan_of_28, Path::portable);
  for (const auto* plan : others) add(plan, Path::automatic);
  for (const int count : moduli) try {
      const auto plan = widest_residues(count, shape.k);
      add(plan.c_str(), Path::automatic);
      if (count == divided_moduli)
        for (auto& phase : residue_phases(plan, shape, call, stream)) subjects.push_back(std::move(phase));
      add(plan.c_str(), Path::cublaslt);
    } catch (const OutOfMemory&) {
      std::printf("left out for want of device memory: %d moduli\n", count);
    }
  return subjects;
}

void print(const Measurement& one, const Subject& subject) {
  const auto& shape = one.shape;
  std::printf("%6ld x %6ld x %6ld  %-48s %10.4f ms", shape.m, shape.n, shape.k, one.name.c_str(), 1e3 * one.seconds);
  std::printf(one.kind == Kind::speed ? " %7.3f of the speed of %s" : " %7.3f of the time of %s", one.median,
              one.baseline.c_str());
  if (subject.products > 0) std::printf(", %.0f TOPS", 1e-12 * subject.products * shape.operations() / one.seconds);
  if (one.workspace > 0) std::printf(", %.0f MB", 1e-6 * static_cast<double>(one.workspace));
  std::printf("\n");
}

/// What is timed over cublasDgemm; phases over their product, which comes before them; 28 products over cuBLAS's emulation.
void evaluate(const std::vector<Subject>& subjects, const Shape& shape, const char* note,
              std::vector<Measurement>& measurements) {
  const Subject* whole = nullptr;
  const auto add = [&](const Subject& subject, const Subject& baseline, Kind kind) {
    measurements.push_back(ratio(subject, baseline, shape, kind));
    measurements.back().name += note;
    print(measurements.back(), subject);
  };
  for (const auto& subject : subjects) {
    if (!subject.is_phase && subject.products > 0) whole = &subject;
    if (subject.is_phase)
      add(subject, *whole, Kind::share);
    else
      add(subject, subjects[0], Kind::speed);
    if (Cublas::can_emulate() && subject.name == plan_of_28) add(subject, subjects[1], Kind::speed);
  }
  std::fflush(stdout);
}

constexpr const char* one_call = ", one call at a time";

void measure(const Shape& shape, double seconds, std::vector<Measurement>& measurements) {
  const auto stream = cudaStreamPerThread;
  const Problem problem(shape, stream);
  auto subjects = subjects_for(problem, shape, stream);
  Timer(stream, Timer::Sample::back_to_back).run(subjects, seconds);
  evaluate(subjects, shape, "", measurements);
  if (std::max({shape.m, shape.n, shape.k}) > largest_one_call) return;
  for (auto& subject : subjects) subject.times.clear();
  Timer(stream, Timer::Sample::one_call).run(subjects, seconds / 2);
  evaluate(subjects, shape, one_call, measurements);
}

/// The least ratio of the measurements that a goal is about.
Goal judged(const std::string& name, double limit, const std::string& subject, const std::string& baseline,
            const std::vector<Measurement>& all, const std::function<bool(const Shape&)>& concerns) {
  Goal goal{name, limit, {}};
  for (const auto& one : all)
    if (one.name == subject && one.baseline == baseline && one.kind == Kind::speed && concerns(one.shape))
      goal.measured = std::min(goal.measured.value_or(std::numeric_limits<double>::infinity()), one.median);
  return goal;
}

std::vector<Goal> goals(const std::vector<Measurement>& all) {
  std::vector<Goal> result;
  const auto square = [](Index n) { return [n](const Shape& s) { return s.m == n && s.n == n && s.k == n; }; };
  for (const auto& [n, limit] :
       {std::pair<Index, double>{1024, 0.75}, {2048, 0.87}, {4096, 0.93}, {8192, 0.95}, {16384, 1.0}}) {
    const auto name = "28 products over cublasDgemm, n = " + std::to_string(n);
    result.push_back(judged(name, limit, plan_of_28, "cublasDgemm", all, square(n)));
    if (n > largest_one_call) continue;
    result.push_back(judged(name + one_call, limit, std::string(plan_of_28) + one_call, "cublasDgemm", all, square(n)));
  }
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
    std::fprintf(out, "%s{\"name\": \"%s\", \"baseline\": \"%s\", \"kind\": \"%s\", \"m\": %ld, \"n\": %ld, \"k\": %ld, ",
                 separator, one.name.c_str(), one.baseline.c_str(), one.kind == Kind::speed ? "speed" : "share", one.shape.m,
                 one.shape.n, one.shape.k);
    std::fprintf(out, "\"repetitions\": %d, \"median\": %.6g, \"lower_quartile\": %.6g, \"upper_quartile\": %.6g, ",
                 one.repetitions, one.median, one.lower_quartile, one.upper_quartile);
    std::fprintf(out, "\"seconds\": %.6g, \"baseline_seconds\": %.6g, \"workspace\": %zu}", one.seconds, one.baseline_seconds,
                 one.workspace);
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
  for (const auto& shape : shapes) measure(shape, quick ? 0.2 : 2.0, measurements);
  const auto all = goals(measurements);
  print(all);
  if (json == nullptr || write_json(json, device, quick, all, measurements)) return 0;
  std::fprintf(stderr, "%s cannot be written\n", json);
  return 2;
}

}  // namespace
}  // namespace ozbound::bench

int main(int count, char** arguments) {
  return ozbound::bench::run_benchmark("ozbound-bench-gpu", count, arguments, ozbound::bench::run);
}
