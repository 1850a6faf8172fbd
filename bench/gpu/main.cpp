// SPDX-License-Identifier: BSD-3-Clause
// The CUDA engine relative to cuBLAS, timed by events on random data. Ratios are formed within each repetition
// (docs/benchmarks.md).
//
// Usage: ozbound-bench-gpu [--quick] [--json FILE], or ozbound-bench-gpu --power [--json FILE] for the energy of products.
// Exits with 0 for any measurement, 2 for a wrong argument or without a device.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "cuda_check.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "power.hpp"
#include "subjects.hpp"

namespace ozbound::bench {
namespace {

using gpu::check;

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
  /// A sample is as many calls as take a millisecond, one after the other, or one call with nothing before it.
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

void print(const Measurement& one, const Subject& subject) {
  const auto& shape = one.shape;
  std::printf("%6ld x %6ld x %6ld  %-48s %10.4f ms", shape.m, shape.n, shape.k, one.name.c_str(), 1e3 * one.seconds);
  std::printf(one.kind == Kind::speed ? " %7.3f of the speed of %s" : " %7.3f of the time of %s", one.median,
              one.baseline.c_str());
  if (subject.products > 0) std::printf(", %.0f TOPS", 1e-12 * subject.products * shape.operations() / one.seconds);
  if (one.workspace > 0) std::printf(", %.0f MB", 1e-6 * static_cast<double>(one.workspace));
  std::printf("\n");
}

/// Compares subjects with cublasDgemm, phases with their product, which precedes them, and 28 products with cuBLAS's emulation.
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

constexpr Index largest_one_call = 2048;
constexpr const char* one_call = ", one call at a time";

void measure(const Shape& shape, double seconds, std::vector<Measurement>& measurements) {
  const auto stream = cudaStreamPerThread;
  const Problem problem(shape, stream);
  auto subjects = subjects_for(problem, stream);
  Timer(stream, Timer::Sample::back_to_back).run(subjects, seconds);
  evaluate(subjects, shape, "", measurements);
  if (std::max({shape.m, shape.n, shape.k}) > largest_one_call) return;
  for (auto& subject : subjects) subject.times.clear();
  Timer(stream, Timer::Sample::one_call).run(subjects, seconds / 2);
  evaluate(subjects, shape, one_call, measurements);
}

/// The smallest ratio among the measurements of a goal.
Goal judged(const std::string& name, double limit, const std::string& subject, const std::string& baseline,
            const std::vector<Measurement>& all, const std::function<bool(const Shape&)>& concerns) {
  Goal goal{name, limit, {}};
  for (const auto& one : all)
    if (one.name == subject && one.baseline == baseline && one.kind == Kind::speed && concerns(one.shape))
      goal.measured = std::min(goal.measured.value_or(std::numeric_limits<double>::infinity()), one.median);
  return goal;
}

/// Goals of products with a number of moduli relative to cublasDgemm, by shape.
struct ResidueGoals {
  int moduli;
  double squares[5];  ///< of n = 1024, 2048, 4096, 8192, 16384
  double flat;        ///< of 16384 x 16384 x 1024
};
constexpr ResidueGoals residue_goals[] = {
    {13, {0.7, 1.1, 1.4, 1.7, 1.95}, 1.2}, {8, {0.95, 1.6, 2.2, 2.7, 3.1}, 1.9}, {18, {0.45, 0.75, 1.0, 1.2, 1.35}, 0.75}};

void add_residue_goals(const std::vector<Measurement>& all, std::vector<Goal>& result) {
  for (const auto& [moduli, squares, flat] : residue_goals) {
    const auto add = [&, moduli = moduli](const std::string& of, double limit, const Shape& shape) {
      result.push_back(judged(std::to_string(moduli) + " moduli over cublasDgemm, " + of, limit,
                              widest_residues(moduli, shape.k), "cublasDgemm", all,
                              [&](const Shape& s) { return s.m == shape.m && s.n == shape.n && s.k == shape.k; }));
    };
    for (int i = 0; i < 5; ++i) {
      const Index n = Index{1024} << i;
      add("n = " + std::to_string(n), squares[i], {n, n, n});
    }
    add("16384^2 x 1024", flat, {16384, 16384, 1024});
  }
}

std::vector<Goal> goals(const std::vector<Measurement>& all) {
  std::vector<Goal> result;
  add_residue_goals(all, result);
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

/// Writes the JSON without escapes, since names and devices hold no character that needs them.
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
  using namespace ozbound::bench;
  if (count > 1 && std::string(arguments[1]) == "--power")
    return run_benchmark("ozbound-bench-gpu --power", count - 1, arguments + 1, measure_power);
  return run_benchmark("ozbound-bench-gpu", count, arguments, run);
}
