// SPDX-License-Identifier: BSD-3-Clause
// Whole products of the fused kernel and its slices against the CPU engine, bit for bit, in every situation in which this
// kernel could lose a bit. Exits with 77 if no device runs it. An argument excludes products with more terms m n k than it
// says, for slow tools.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fast_slicing.hpp"
#include "fused.hpp"
#include "fused_schedule.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/combine.hpp"

namespace {

using namespace ozbound;
using gpu::DeviceEpilogue;
using gpu::DeviceMatrix;
using gpu::DeviceSlices;

void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("FAIL %s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t count) : count_(count) { must(cudaMalloc(&data_, count * sizeof(T) + 1), "cudaMalloc"); }
  explicit OnDevice(const std::vector<T>& host) : OnDevice(host.size()) {
    must(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  [[nodiscard]] T* get() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::vector<T> host() const {
    std::vector<T> result(count_);
    must(cudaMemcpy(result.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

/// The kind of a vector's elements.
enum class Kind { ordinary, tiny, huge, wide, integers, special, subnormal };

struct Case {
  std::string plan;
  Index m, n, k;
  Kind kind = Kind::ordinary;
  double alpha = 1, beta = 0;
  bool is_float = false;
  bool row_major_c = false;
  bool transposed = false;  ///< operands are stored transposed
  double error = 0;         ///< of every entry, relative to rho_i sigma_j; 0: without Ziv's test
};

std::vector<double> elements(Index count, Kind kind, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  std::normal_distribution<double> normal;
  std::vector<double> x(static_cast<std::size_t>(count));
  for (auto& value : x) {
    value = uniform(random) * std::exp(0.5 * normal(random));
    if (kind == Kind::tiny) value = std::ldexp(value, -537 + static_cast<int>(random() % 12));
    if (kind == Kind::huge) value = std::ldexp(value, 509 + static_cast<int>(random() % 4));
    if (kind == Kind::subnormal) value = std::ldexp(value, -1050 - static_cast<int>(random() % 30));
    if (kind == Kind::wide) value *= std::exp(40 * normal(random));
    if (kind == Kind::integers) value = static_cast<double>(static_cast<int>(random() % 7) - 3);
    if (kind == Kind::special && random() % 997 == 0) value = random() % 2 == 0 ? NAN : -INFINITY;
  }
  return x;
}

/// Zeroed device memory for the slices of an operand.
class Room {
 public:
  Room(bool reversed, int count_of_slices, Index count, Index inner)
      : padded_(std::max<Index>(128, (inner + 127) / 128 * 128)),
        digits_(static_cast<std::size_t>((count + 127) / 128 * 128 * count_of_slices * padded_)),
        exponents_(static_cast<std::size_t>(count)),
        special_(static_cast<std::size_t>(count)),
        any_special_(1) {
    must(cudaMemset(digits_.get(), 0, digits_.size()), "cudaMemset");
    slices_.digits = digits_.get();
    slices_.exponents = exponents_.get();
    slices_.special = special_.get();
    slices_.any_special = any_special_.get();
    slices_.count = count;
    slices_.inner = inner;
    slices_.padded = padded_;
    slices_.slices = count_of_slices;
    slices_.reversed = reversed;
  }
  [[nodiscard]] const DeviceSlices& get() const { return slices_; }

  /// Copies slices made by the CPU.
  void take(const SlicedMatrix& sliced) {
    std::vector<std::int8_t> digits(digits_.size());
    std::vector<std::int32_t> exponents;
    std::vector<std::uint8_t> special;
    for (Index i = 0; i < slices_.count; ++i) {
      exponents.push_back(sliced.exponent(i));
      special.push_back(sliced.special(i) ? 1 : 0);
      for (int p = 1; p <= slices_.slices; ++p)
        for (Index l = 0; l < slices_.inner; ++l)
          digits[static_cast<std::size_t>(i * slices_.pitch() + slices_.place(p) * padded_ + l)] =
              static_cast<std::int8_t>(sliced.digit(i, p, l));
    }
    upload(digits, exponents, special);
  }
  void upload(const std::vector<std::int8_t>& digits, const std::vector<std::int32_t>& exponents,
              const std::vector<std::uint8_t>& special) {
    must(cudaMemcpy(digits_.get(), digits.data(), digits.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemcpy(exponents_.get(), exponents.data(), 4 * exponents.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemcpy(special_.get(), special.data(), special.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  [[nodiscard]] bool equals(const Room& other) const {
    return digits_.host() == other.digits_.host() && exponents_.host() == other.exponents_.host() &&
           special_.host() == other.special_.host();
  }

 private:
  Index padded_;
  OnDevice<std::int8_t> digits_;
  OnDevice<std::int32_t> exponents_;
  OnDevice<std::uint8_t> special_;
  OnDevice<std::uint32_t> any_special_;
  DeviceSlices slices_;
};

std::string name(const Case& c) {
  char text[256];
  std::snprintf(text, sizeof text, "%s %ldx%ldx%ld kind %d alpha %a beta %a%s%s%s error %a", c.plan.c_str(), c.m, c.n, c.k,
                static_cast<int>(c.kind), c.alpha, c.beta, c.is_float ? " float" : "", c.row_major_c ? " row-major C" : "",
                c.transposed ? " transposed" : "", c.error);
  return text;
}

int failures = 0;
void report(bool passed, const std::string& what) {
  if (!passed) ++failures;
  std::printf("%s %s\n", passed ? "PASS" : "FAIL", what.c_str());
  std::fflush(stdout);
}

const gpu::FusedProduct& fused() {
  static const gpu::FusedProduct product(0);
  return product;
}

/// The bits of C after a launch of each shape, and the entries left open.
template <class T>
struct Launch {
  std::vector<T> c;
  std::vector<std::uint32_t> open;
  unsigned long long count;
};

template <class T>
Launch<T> launch(const Case& c, const SplitPlan& plan, const DeviceSlices& a, const DeviceSlices& b,
                 const std::vector<T>& before, const gpu::FusedProduct::Tuning& tuning) {
  OnDevice<T> result(before);
  OnDevice<std::uint32_t> open(std::vector<std::uint32_t>(static_cast<std::size_t>(c.m * c.n / 32 + 1)));
  OnDevice<unsigned long long> count(std::vector<unsigned long long>(1));
  gpu::DeviceBound bound;
  bound.uniform = c.error;
  bound.terms = 1;
  OnDevice<double> rows(std::vector<double>(static_cast<std::size_t>(c.m), INFINITY));
  OnDevice<double> columns(std::vector<double>(static_cast<std::size_t>(c.n), 1));
  OnDevice<int> ends(std::vector<int>{1});
  bound.rows = rows.get(), bound.columns = columns.get(), bound.ends = ends.get(), bound.m = c.m, bound.n = c.n;
  OnDevice<gpu::DeviceBound> bounds(std::vector<gpu::DeviceBound>{bound});
  DeviceEpilogue epilogue;
  epilogue.alpha = c.alpha;
  epilogue.beta = c.beta;
  epilogue.c = {result.get(), c.row_major_c ? c.n + 3 : 1, c.row_major_c ? 1 : c.m + 3, !c.is_float};
  epilogue.c0 = epilogue.c;
  epilogue.bound = c.error > 0 ? bounds.get() : nullptr;
  epilogue.open = open.get();
  epilogue.open_count = count.get();
  OnDevice<std::uint8_t> workspace(fused().workspace(plan));
  must(cudaMemset(workspace.get(), 0xa5, fused().workspace(plan)), "cudaMemset");
  fused().launch(a, b, plan, epilogue, {}, workspace.get(), nullptr, tuning);
  must(cudaDeviceSynchronize(), name(c).c_str());
  return {result.host(), open.host(), count.host()[0]};
}

template <class T>
void compare(const Case& c, const SplitPlan& plan, const Room& a, const Room& b, const std::vector<T>& before,
             const std::vector<T>& expected, const std::vector<Entry>& undecided) {
  for (const int cluster : {1, 2, 3}) {
    gpu::FusedProduct::Tuning tuning;
    tuning.cluster = cluster;
    tuning.head_start = cluster;
    const auto got = launch(c, plan, a.get(), b.get(), before, tuning);
    std::size_t differ = 0, first = 0;
    for (std::size_t t = expected.size(); t-- > 0;)
      if (std::memcmp(&expected[t], &got.c[t], sizeof(T)) != 0) ++differ, first = t;
    std::vector<std::uint32_t> open(got.open.size());
    for (const auto& entry : undecided) {
      const auto bit = static_cast<std::size_t>(entry.i * c.n + entry.j);
      open[bit / 32] |= 1u << (bit % 32);
    }
    const bool same_open = open == got.open && got.count == undecided.size();
    char text[512];
    if (differ == 0)
      std::snprintf(text, sizeof text, "%s cluster %d, %zu open%s", name(c).c_str(), cluster, undecided.size(),
                    same_open ? "" : ": others are open");
    else
      std::snprintf(text, sizeof text, "%s cluster %d: %zu of %zu differ, first at %zu: %a, expected %a", name(c).c_str(),
                    cluster, differ, expected.size(), first, static_cast<double>(got.c[first]),
                    static_cast<double>(expected[first]));
    report(differ == 0 && same_open, text);
  }
}

template <class T>
std::vector<T> initial(const Case& c) {
  const auto size = (c.m + 3) * (c.n + 3);
  const auto values = elements(size, c.kind == Kind::huge || c.kind == Kind::tiny ? c.kind : Kind::ordinary, 7);
  return {values.begin(), values.end()};
}

template <class T>
void check_with(const Case& c, const CpuEngine& engine) {
  const auto plan = parse_plan(c.plan).split();
  const auto a = elements(c.m * c.k, c.kind, 1), b = elements(c.k * c.n, c.kind, 2);
  const auto a_view = c.transposed ? row_major(a.data(), c.m, c.k, std::max<Index>(1, c.k))
                                   : column_major(a.data(), c.m, c.k, std::max<Index>(1, c.m));
  const auto b_view = c.transposed ? row_major(b.data(), c.k, c.n, std::max<Index>(1, c.n))
                                   : column_major(b.data(), c.k, c.n, std::max<Index>(1, c.k));
  const auto a_sliced = engine.slice(a_view, Side::rows_of_a, plan.a),
             b_sliced = engine.slice(b_view, Side::columns_of_b, plan.b);
  Room a_room(false, plan.a.slices, c.m, c.k), b_room(true, plan.b.slices, c.n, c.k);
  a_room.take(a_sliced);
  b_room.take(b_sliced);

  auto on_device = [](const std::vector<double>& x) { return OnDevice<double>(x); };
  const auto a_device = on_device(a), b_device = on_device(b);
  const DeviceMatrix a_vectors{a_device.get(), a_view.row_stride(), a_view.col_stride(), true};
  const DeviceMatrix b_vectors{b_device.get(), b_view.col_stride(), b_view.row_stride(), true};
  if (gpu::fast_slicing_applies(a_vectors, plan.a) && gpu::fast_slicing_applies(b_vectors, plan.b)) {
    Room a_fast(false, plan.a.slices, c.m, c.k), b_fast(true, plan.b.slices, c.n, c.k);
    gpu::launch_fast_slicing({a_vectors, a_fast.get()}, {b_vectors, b_fast.get()}, nullptr);
    must(cudaDeviceSynchronize(), "slicing");
    report(a_fast.equals(a_room), name(c) + " slices of A");
    report(b_fast.equals(b_room), name(c) + " slices of B");
  }

  const auto before = initial<T>(c);
  auto expected = before;
  const MatrixView<T> c_view{expected.data(), c.m, c.n, c.row_major_c ? c.n + 3 : 1, c.row_major_c ? 1 : c.m + 3};
  EntryBound bound;
  bound.uniform = c.error;
  bound.terms.push_back({"all",
                         {{std::vector<double>(static_cast<std::size_t>(c.m), INFINITY),
                           std::vector<double>(static_cast<std::size_t>(c.n), 1)}}});
  Epilogue epilogue{c.alpha, c.beta, InputView(c_view), c.error > 0 ? &bound : nullptr};
  const auto undecided = engine.multiply(a_sliced, b_sliced, plan, epilogue, OutputView(c_view));
  compare(c, plan, a_room, b_room, before, expected, undecided);
}

void check(const Case& c, const CpuEngine& engine) {
  c.is_float ? check_with<float>(c, engine) : check_with<double>(c, engine);
}

/// Checks digits of one value everywhere, where INT32 is fullest: entries are combine's of the sums that follow from the
/// digits.
void check_extreme(const std::string& text, Index k, int digit_a, int digit_b) {
  const auto plan = parse_plan(text).split();
  const Index m = 130, n = 260;
  Room a(false, plan.a.slices, m, k), b(true, plan.b.slices, n, k);
  const auto fill = [&](Room& room, int digit) {
    const auto& slices = room.get();
    std::vector<std::int8_t> digits(static_cast<std::size_t>((slices.count + 127) / 128 * 128 * slices.pitch()));
    for (Index i = 0; i < slices.count; ++i)
      for (int p = 0; p < slices.slices; ++p)
        for (Index l = 0; l < k; ++l)
          digits[static_cast<std::size_t>(i * slices.pitch() + p * slices.padded + l)] = static_cast<std::int8_t>(digit);
    room.upload(digits, std::vector<std::int32_t>(static_cast<std::size_t>(slices.count)),
                std::vector<std::uint8_t>(static_cast<std::size_t>(slices.count)));
  };
  fill(a, digit_a);
  fill(b, digit_b);
  const auto layout = sum_layout(plan, k);
  std::vector<std::int64_t> sums;
  for (const auto& group : plan.groups(k)) sums.push_back(std::int64_t{group.pairs()} * k * digit_a * digit_b);
  const Scalars scalars{to_dyadic(1.0), to_dyadic(0.0), binary64};
  const auto entry = double_from_bits(combine(sums.data(), 1, layout, 0, scalars, to_dyadic(0.0), 0).bits);
  const Case c{text, m, n, k};
  auto before = initial<double>(c), expected = before;
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i) expected[static_cast<std::size_t>(j * (m + 3) + i)] = entry;
  compare(c, plan, a, b, before, expected, {});
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto* plan : {"balanced:7x7:cut=8:exact",   "balanced:6x6:cut=7:exact",    "balanced:8x8:cut=9:exact",
                           "balanced:9x9:cut=10:exact",  "balanced:2x2:cut=3:exact",    "balanced:1x1:full:exact",
                           "balanced:7x7:full:exact",    "balanced:3x5:cut=6:exact",    "balanced:5x3:full:exact",
                           "balanced:1x7:cut=8:exact",   "balanced:7x1:cut=8:exact",    "balanced:4x4:cut=4:exact",
                           "balanced:2x9:cut=11:exact",  "balanced:12x12:cut=13:exact", "balanced:20x20:full:exact",
                           "truncated7:8x8:cut=9:exact", "nearest7:9x9:cut=10:exact",   "truncated7,nearest7:4x5:full:exact",
                           "nearest4:6x7:cut=9:exact",   "ozimmu7:5x5:cut=6:exact",     "truncated1:3x3:full:exact"})
    all.push_back({plan, 200, 300, 500});
  const std::string seven = "balanced:7x7:cut=8:exact";
  for (const Index m : {1, 127, 129, 513})
    for (const Index k : {0, 1, 129, 700}) all.push_back({seven, m, 258 - m / 3, k});
  for (const auto kind : {Kind::tiny, Kind::huge, Kind::wide, Kind::integers, Kind::special})
    for (const auto* plan : {"balanced:7x7:cut=8:exact", "balanced:8x8:cut=9:exact", "nearest7:9x9:cut=10:exact"})
      for (const bool is_float : {false, true}) all.push_back({plan, 140, 150, 300, kind, 1, 0, is_float});
  for (const auto& [alpha, beta] :
       {std::pair{-0.25, 0.0}, {3.0, 0.0}, {1.0, 1.0}, {0x1.8p-1, -0x1.3p5}, {0.0, 2.0}, {0x1p900, 0.0}})
    for (const bool is_float : {false, true})
      for (const bool row_major : {false, true})
        all.push_back(
            {row_major ? "balanced:8x8:cut=9:exact" : seven, 140, 150, 300, Kind::ordinary, alpha, beta, is_float, row_major});
  for (const double error : {0x1p-50, 0x1p-44, 0x1p-40, 0x1p0})
    for (const auto* plan : {"balanced:7x7:cut=8:exact", "balanced:12x12:cut=13:exact"})
      all.push_back({plan, 140, 150, 300, Kind::special, 1, error == 0x1p-44 ? 1.0 : 0.0, false, false, false, error});
  all.push_back({seven, 140, 150, 300, Kind::ordinary, 1, 0, false, false, true});
  for (const auto kind : {Kind::wide, Kind::integers, Kind::ordinary})  // several words, the last of which holds a sticky bit
    for (const bool is_float : {false, true}) {
      all.push_back({"truncated7,nearest7:8x9:full:exact", 140, 150, 13, kind, 1, 0, is_float});
      all.push_back({"nearest4:9x9:full:exact", 140, 150, 30, kind, 1, 0, is_float});
      all.push_back({"balanced:7x7:full:exact", 140, 150, 5, kind, 1, 0, is_float});
    }
  all.push_back({seven, 140, 150, 1, Kind::integers});  // vectors of zeros
  for (const bool transposed : {false, true})
    all.push_back({seven, 140, 150, 300, Kind::subnormal, 0x1p1000, 0, false, false, transposed});
  all.push_back({seven, 300, 150, 18560});  // the last that INT32 holds
  all.push_back({seven, 300, 150, 18700});
  all.push_back({seven, 300, 150, 60000});
  all.push_back({"nearest7:9x9:cut=10:exact", 100, 150, 60000});
  all.push_back({"balanced:1x1:full:exact", 100, 150, 300000});
  return all;
}

void check_all(double most_terms) {
  const CpuEngine engine;
  for (const auto& c : cases())
    if (static_cast<double>(c.m * c.n) * static_cast<double>(c.k) <= most_terms) check(c, engine);
  if (std::isfinite(most_terms)) return;
  for (const auto& [a, b] : {std::pair{127, 127}, {-128, -128}, {-128, 127}})
    for (const auto* plan :
         {"balanced:7x7:cut=8:exact", "balanced:7x7:full:exact", "balanced:8x8:cut=9:exact", "balanced:2x2:cut=3:exact"})
      for (const Index k : {18560, 18688, 40000}) check_extreme(plan, k, a, b);
}

/// Checks that the schedule multiplies each of the plan's products once and on its diagonal.
void check_schedule(const SplitPlan& plan) {
  const auto schedule = gpu::fused_schedule(plan);
  std::vector<int> seen(static_cast<std::size_t>((plan.a.slices + 1) * (plan.b.slices + 1)));
  bool right = schedule.diagonals == plan.cut - 1 && schedule.held_bits() <= 48 &&
               schedule.tail_bits() == schedule.held_bits() + schedule.words() * schedule.word_bits();
  const auto multiply = [&](int p, int q, int diagonal) {
    if (q > plan.b.slices) return;  // zeros
    right = right && p >= 1 && p <= plan.a.slices && q >= 1 && p + q == diagonal;
    if (right) ++seen[static_cast<std::size_t>(p * (plan.b.slices + 1) + q)];
  };
  for (int t = 0; t < schedule.pair_count; ++t) {
    const auto& pair = schedule.pairs[t];
    for (int h = 0; h < pair.tiles; ++h) {
      if (!(pair.ends_with_b && h + 1 == pair.tiles)) multiply(pair.first_a + h, pair.first_b - h, plan.cut - 2 * t);
      if (h + 1 < pair.tiles) multiply(pair.first_a + h, pair.first_b - h - 1, plan.cut - 2 * t - 1);
    }
  }
  if (schedule.last_alone()) multiply(1, 1, 2);
  for (int p = 1; p <= plan.a.slices; ++p)
    for (int q = 1; q <= plan.b.slices; ++q)
      right = right && seen[static_cast<std::size_t>(p * (plan.b.slices + 1) + q)] == (p + q <= plan.cut ? 1 : 0);
  if (!right) report(false, "schedule of " + to_string(plan));
}

void check_schedules() {
  for (const int s_a : {1, 2, 3, 4, 5, 6, 7, 8, 9, 20})
    for (const int s_b : {1, 2, 3, 4, 5, 6, 7, 8, 9, 20})
      for (int cut = 2; cut <= s_a + s_b; ++cut) check_schedule(SplitPlan::balanced(s_a, s_b, cut));
}

}  // namespace

int main(int count, char** arguments) {
  check_schedules();
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 || !fused().applies(SplitPlan::balanced(7, 7, 8), 1, 1, 1)) {
    std::printf("Skipped: no device runs the fused kernel\n");
    return failures == 0 ? 77 : 1;
  }
  check_all(count > 1 ? std::atof(arguments[1]) : INFINITY);
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
