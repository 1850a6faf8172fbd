// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/calibrate.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "nonnegative_fit.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Shape {
  Index m, n, k;
};

constexpr std::array<Shape, 20> shapes{
    {{8, 8, 8},       {32, 32, 32},    {96, 8, 64},     {8, 96, 64},      {64, 64, 64},    {256, 256, 8},     {16, 16, 2048},
     {128, 128, 128}, {512, 16, 256},  {16, 512, 256},  {192, 192, 192},  {512, 512, 32},  {64, 64, 4096},    {256, 256, 256},
     {1024, 48, 512}, {48, 1024, 512}, {384, 384, 384}, {256, 256, 2048}, {512, 512, 512}, {1024, 1024, 1024}}};

/// For a device. Long products are as many as short ones; otherwise the device's rate would not show in the fit.
constexpr std::array<Shape, 22> large_shapes{
    {{64, 64, 64},       {128, 128, 128},    {1024, 48, 512},    {48, 1024, 512},    {64, 64, 4096},     {512, 512, 32},
     {256, 256, 256},    {256, 256, 2048},   {512, 512, 512},    {1024, 1024, 1024}, {2048, 2048, 256},  {2048, 2048, 2048},
     {4096, 256, 4096},  {256, 4096, 4096},  {4096, 4096, 512},  {3072, 3072, 3072}, {4096, 4096, 4096}, {4096, 4096, 8192},
     {8192, 8192, 1024}, {6144, 6144, 6144}, {8192, 2048, 8192}, {8192, 8192, 8192}}};

double work(const Sample& sample) {
  const double products = sample.plan ? sample.plan->products() : 1;
  return static_cast<double>(sample.m) * static_cast<double>(sample.n) * static_cast<double>(sample.k) * products;
}

/// Operands of a shape, kept while consecutive samples have that shape.
class SampleOperands {
 public:
  void take(const Sample& sample) {
    if (c_.rows() == sample.m && c_.cols() == sample.n && a_.cols() == sample.k) return;
    a_ = random(sample.m, sample.k), b_ = random(sample.k, sample.n), c_ = Matrix<double>(sample.m, sample.n);
  }

  [[nodiscard]] RealProduct product() { return {a_, b_, c_}; }

 private:
  static Matrix<double> random(Index rows, Index columns) {
    std::mt19937_64 bits(1);
    Matrix<double> matrix(rows, columns);
    std::generate_n(matrix.data(), rows * columns, [&bits] { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1; });
    return matrix;
  }

  Matrix<double> a_, b_, c_;
};

/// The seconds that samples are expected to take, at the best rate seen for their method.
class Expectation {
 public:
  [[nodiscard]] double of(const Sample& sample) const {
    const auto rate = rates_.find(sample.method);
    return rate == rates_.end() || work(sample) < always_timed ? 0 : work(sample) * rate->second;
  }
  void learn(const Sample& sample) {
    const double rate = sample.seconds / work(sample);
    const auto known = rates_.try_emplace(sample.method, rate).first;
    known->second = std::min(known->second, rate);
  }

 private:
  static constexpr double always_timed = 1e5;  ///< in units of work: a noisy start must not end the calibration

  std::map<Method, double> rates_;
};

bool by_slices(const Sample& sample) { return sample.plan && !sample.plan->by_residues(); }
bool by_residues(const Sample& sample) { return sample.plan && sample.plan->by_residues(); }
bool by_native(const Sample& sample) { return sample.method == Method::native; }
bool exactly(const Sample& sample) { return sample.method == Method::exact; }

using Kind = bool (*)(const Sample&);

template <std::size_t n, class Counts>
std::optional<std::array<double, n>> fitted(const std::vector<Sample>& samples, Kind kind, Counts counts) {
  std::vector<std::vector<double>> rows;
  std::vector<double> seconds;
  for (const auto& sample : samples) {
    if (!kind(sample) || sample.seconds <= 0) continue;
    const std::array<double, n> row = counts(sample);
    rows.emplace_back(row.begin(), row.end());
    seconds.push_back(sample.seconds);
  }
  if (rows.empty()) return std::nullopt;
  std::array<double, n> terms{};
  std::ranges::copy(nonnegative_fit(rows, seconds), terms.begin());
  return terms;
}

/// An upper limit of the seconds per product, from all samples of a method. Short or disturbed times may be fitted with
/// products that cost nothing. All plans, and DGEMM of any size, would then cost nothing too.
template <class Counts>
double most_for_products(const std::vector<Sample>& samples, Kind kind, std::size_t term, Counts counts) {
  double most = std::numeric_limits<double>::infinity();
  for (const auto& sample : samples)
    if (kind(sample) && sample.seconds > 0) most = std::min(most, sample.seconds / counts(sample)[term]);
  return most;
}

}  // namespace

std::vector<Sample> calibration_samples(bool large) {
  const FloatEnvironment environment;
  const std::span<const Shape> all = large ? std::span<const Shape>(large_shapes) : shapes;
  std::vector<Sample> samples;
  for (const auto [m, n, k] : all) {
    for (const auto& plan :
         {ResiduePlan{2, 1, 1}, ResiduePlan{4, 8, 8}, ResiduePlan{8, 24, 24}, ResiduePlan{13, 44, 44}, ResiduePlan{18, 60, 60}})
      samples.push_back({Method::one_plan, plan, m, n, k});  // these plans hold the random operands
    for (const auto& plan : {SplitPlan::balanced(1, 1, 2), SplitPlan::balanced(2, 5, 6), SplitPlan::balanced(5, 5, 6),
                             SplitPlan::balanced(7, 7, 8), SplitPlan::balanced(9, 9, 10)})
      samples.push_back({Method::one_plan, plan, m, n, k});
    samples.push_back({Method::native, {}, m, n, k});
    samples.push_back({Method::exact, {}, m, n, k});
  }
  std::ranges::stable_sort(samples, {}, work);
  return samples;
}

Rates fit_rates(const std::vector<Sample>& samples, int threads, KernelTile tile) {
  const FloatEnvironment environment;
  const auto counts = [tile](const Sample& sample) {
    return slice_counts(sample.plan->split(), sample.m, sample.n, sample.k, tile);
  };
  const auto counts_of_residues = [tile](const Sample& sample) {
    const auto plan =
        sample.plan->visit([](const SplitPlan&) { return ResiduePlan{}; }, [](const ResiduePlan& of) { return of; });
    return residue_counts(plan, sample.m, sample.n, sample.k, tile);
  };
  auto slices = fitted<slice_terms.size()>(samples, by_slices, counts);
  auto residues = fitted<residue_terms.size()>(samples, by_residues, counts_of_residues);
  if (residues && residues->at(residue_product_term) == 0)
    residues->at(residue_product_term) = most_for_products(samples, by_residues, residue_product_term, counts_of_residues);
  const auto exact = fitted<exact_terms.size()>(
      samples, exactly, [](const Sample& sample) { return exact_counts(sample.m, sample.n, sample.k); });
  if (!slices || !exact) throw std::invalid_argument("samples must have times of slices and of the superaccumulator");
  if (auto& product = slices->at(slice_product_term); product == 0)
    product = most_for_products(samples, by_slices, slice_product_term, counts);
  const auto native_of = [](const Sample& sample) { return native_counts(sample.m, sample.n, sample.k); };
  auto native = fitted<native_terms.size()>(samples, by_native, native_of);
  if (native && native->back() == 0) native->back() = most_for_products(samples, by_native, native_terms.size() - 1, native_of);
  return {threads, *slices, *exact, native, residues};
}

double median_seconds(const std::function<void()>& run, double budget) {
  const FloatEnvironment environment;
  const auto timed = [&run] {
    const auto start = Clock::now();
    run();
    return since(start);
  };
  const double first = timed();
  std::vector<double> others;
  for (double spent = 2 * first; others.size() < 7 && spent <= budget; spent += others.back()) others.push_back(timed());
  if (others.empty()) return first;
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::ranges::nth_element(others, middle);
  return *middle;
}

void time_samples(std::vector<Sample>& samples, const Backend& backend, const CalibrationOptions& options) {
  const FloatEnvironment environment;
  const auto certified = [](const RealProduct& product, const Decision& decision, const Backend& on) {
    static_cast<void>(ozbound::multiply(product, decision, on));
  };
  const auto multiply = options.multiply ? options.multiply : certified;
  const auto start = Clock::now();
  SampleOperands operands;
  Expectation expectation;
  for (auto& sample : samples) {
    const double left = options.seconds - since(start);
    if (options.progress) options.progress(1 - std::max(left, 0.0) / options.seconds);
    if (by_native(sample) && backend.native() == nullptr) continue;
    if (by_residues(sample) && !backend.engine().has_residues()) continue;
    if (expectation.of(sample) > left / 3) continue;
    operands.take(sample);
    const Decision decision{Target::dgemm(), sample.method, sample.plan, sample.m, sample.n, sample.k, 0, 0, {}, {}};
    sample.seconds = median_seconds([&] { multiply(operands.product(), decision, backend); }, options.seconds / 40);
    expectation.learn(sample);
  }
}

Rates measure_rates(const CpuEngine& engine, const NativeGemm* native, const CalibrationOptions& options) {
  auto samples = calibration_samples();
  return measure_rates(samples, {engine, native}, this_machine(engine).tile, options);
}

Rates measure_rates(std::vector<Sample>& samples, const Backend& backend, KernelTile tile, const CalibrationOptions& options) {
  time_samples(samples, backend, options);
  return fit_rates(samples, backend.engine().threads(), tile);
}

}  // namespace ozbound
