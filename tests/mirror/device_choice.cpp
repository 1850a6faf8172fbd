// SPDX-License-Identifier: BSD-3-Clause
// Products whose plan a kernel chooses: products that start before the host's decision, against that decision; products that
// are dropped; certified products of several host threads at once; and CertifiedGemm, in streams and in a graph that is
// replayed with other data. C, decisions and certificates are those of the CPU, bit for bit.
//
// Usage: device_choice. Exits with 0 if all agree, 1 if some do not, 77 without a device.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "mirror/counting.hpp"
#include "mirror/placed.hpp"
#include "mirror/products.hpp"
#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/detail/target_share.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/gpu/certified_gemm.hpp"

namespace ozbound::mirror {
namespace {

/// Operands of one kind.
struct Kind {
  const char* name;
  int spread;      ///< binary exponents over which elements are spread
  int bits;        ///< of significands
  int row_spread;  ///< binary exponents over which rows, and columns, are spread
  bool zeros, specials;
};
constexpr Kind kinds[] = {{"alike", 0, 53, 0, false, false},         {"small integers", 0, 3, 0, false, false},
                          {"spread", 12, 53, 0, false, false},       {"rows of all scales", 2, 53, 900, false, false},
                          {"short numbers", 3, 11, 40, true, false}, {"specials", 4, 53, 0, true, true}};

struct Shape {
  Index m, n, k;
};
// In two of them vectors are longer than kernels hold; the last one is cut into blocks.
constexpr Shape shapes[] = {{1, 1, 1},        {3, 5, 7},      {128, 128, 128}, {129, 300, 257},
                            {640, 513, 1000}, {33, 40, 4200}, {20, 30, 9001},  {2100, 2200, 130}};

/// How the matrices of a product are stored.
struct Storage {
  bool a_floats, b_floats, by_columns;
};
constexpr Storage plainly{false, false, false};
constexpr Storage storages[] = {plainly, {false, false, true}, {true, false, false}, {false, true, true}};

/// One of the storages, by a seed. Numbers of all scales do not fit floats.
Storage storage_for(const Kind& kind, std::uint64_t seed) { return storages[kind.row_spread < 100 ? seed % 4 : seed % 2]; }

/// A copy of a matrix in a storage, and a view of it.
class Stored {
 public:
  Stored(const Matrix<double>& x, bool floats, bool by_columns)
      : floats_(floats),
        by_columns_(by_columns),
        doubles_(by_columns ? x.cols() : x.rows(), by_columns ? x.rows() : x.cols()),
        singles_(doubles_.rows(), doubles_.cols()) {
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j) {
        const Index row = by_columns ? j : i, column = by_columns ? i : j;
        doubles_(row, column) = x(i, j), singles_(row, column) = static_cast<float>(x(i, j));
      }
  }
  [[nodiscard]] InputView view() const {
    const auto stored = floats_ ? InputView(singles_) : InputView(doubles_);
    return by_columns_ ? stored.transposed() : stored;
  }

 private:
  bool floats_, by_columns_;
  Matrix<double> doubles_;
  Matrix<float> singles_;
};

Matrix<double> sampled(Index rows, Index cols, bool by_row, const Kind& kind, RandomBits& random) {
  Matrix<double> x(rows, cols);
  std::vector<int> scales;
  for (Index v = 0; v < (by_row ? rows : cols); ++v)
    scales.push_back(random.between(-kind.row_spread / 2, kind.row_spread / 2));
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const int scale = scales[static_cast<std::size_t>(by_row ? i : j)];
      const double significand =
          std::ldexp(std::floor(std::ldexp(0.5 + random.below(1 << 30) * 0x1p-31, kind.bits)), -kind.bits);
      const double value = (random.once_in(2) ? -1 : 1) * std::ldexp(significand, scale - random.below(kind.spread + 1));
      x(i, j) = kind.zeros && ((by_row ? i : j) % 50 == 7 || random.once_in(9)) ? 0 : value;
    }
  if (kind.specials && rows > 2 && cols > 2) {  // NaNs of several bits, which all count as the same
    x(rows / 2, cols / 2) = by_row ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    x(0, cols - 1) = double_from_bits(0xfff8000000000123);
    x(rows - 1, 0) = double_from_bits(0x7ff4000000000001);
  }
  return x;
}

/// A product of device matrices, and its operands on the host.
struct Sample {
  std::string origin;
  Matrix<double> a, b, c;

 private:
  std::unique_ptr<const Stored> a_stored_, b_stored_;  ///< null: stored plainly, and tests may change a and b
  Matrix<double> c_columns_;

 public:
  Placed a_there, b_there, c_there;
  double alpha;
  bool specials;

  Sample(const Shape& shape, const Kind& kind, double factor, std::uint64_t seed, const Storage& storage = plainly)
      : Sample(shape, kind, factor, RandomBits(seed), storage) {}

  [[nodiscard]] RealProduct here() { return {a_here(), b_here(), c, alpha}; }
  [[nodiscard]] RealProduct there() const { return {a_there.input(), b_there.input(), c_there.view(), alpha}; }

 private:
  [[nodiscard]] InputView a_here() const { return a_stored_ ? a_stored_->view() : InputView(a); }
  [[nodiscard]] InputView b_here() const { return b_stored_ ? b_stored_->view() : InputView(b); }

  Sample(const Shape& shape, const Kind& kind, double factor, RandomBits random, const Storage& storage)
      : origin(std::string(kind.name) + ", " + std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " +
               std::to_string(shape.k) + (storage.a_floats ? ", A of floats" : "") + (storage.b_floats ? ", B of floats" : "") +
               (storage.by_columns ? ", by columns" : "")),
        a(sampled(shape.m, shape.k, true, kind, random)),
        b(sampled(shape.k, shape.n, false, kind, random)),
        c(shape.m, shape.n),
        a_stored_(stored(a, storage.a_floats, storage.by_columns)),
        b_stored_(stored(b, storage.b_floats, storage.by_columns)),
        c_columns_(shape.n, shape.m),
        a_there(a_here(), true),
        b_there(b_here(), true),
        c_there(storage.by_columns ? InputView(c_columns_).transposed() : InputView(c), true),
        alpha(factor),
        specials(kind.specials) {}

  static std::unique_ptr<const Stored> stored(const Matrix<double>& x, bool floats, bool by_columns) {
    return floats || by_columns ? std::make_unique<const Stored>(x, floats, by_columns) : nullptr;
  }
};

/// The candidate by residues of a decision on the host; nothing if there is none.
std::optional<ResiduePlan> plan_on_host(const RealProduct& product, const Target& target, const Backend& cpu) {
  for (const auto& candidate : decide(product, target, cpu).candidates)
    if (candidate.plan && candidate.plan->by_residues())
      return candidate.plan->visit([](const SplitPlan&) { return ResiduePlan{}; },
                                   [](const ResiduePlan& plan) { return plan; });
  return std::nullopt;
}

std::string text_of(const std::optional<ResiduePlan>& plan) { return plan ? to_string(Plan(*plan)) : "none"; }

/// Compares the kernel's plans with those of decisions on the host, and drops the products.
bool compare_plans(const Backend& cpu, const Backend& cuda) {
  Section plans("chosen plans"), dropped("C of dropped products");
  Index known = 0, none = 0;
  std::uint64_t seed = 1;
  for (const auto& shape : shapes)
    for (const auto& kind : kinds)
      for (const auto* const text :
           {"dgemm", "dgemm-typical", "componentwise:1e-3", "componentwise:1e-7", "componentwise:1e-13"}) {
        const FloatEnvironment environment;
        ++seed;
        Sample sample(shape, kind, 1, seed, storage_for(kind, seed));
        const auto describe = [&] { return std::string(text) + ", " + sample.origin; };
        const auto target = parse_target(text);
        const auto call = sample.there();
        const double tau = target_tau(target, shape.k, binary64, false);
        if (tau < 0x1p-53) continue;
        const auto before = sample.c_there.bits();
        const auto examination = cuda.examiner().examine(call);
        const auto allowance = examination->allowance(target, share_before_rounding_lower(tau, 0x1p-53));
        ProductStart any{15, 2, {}, {0, 0, 0}};
        std::ranges::fill(any.most_by_bits, std::uint8_t{15});
        auto started = allowance->start_product(call, any);
        plans.expect(started != nullptr, [&] { return "not started, " + describe(); });
        if (started == nullptr) continue;
        const auto chosen = started->plan();
        const auto expected = plan_on_host(sample.here(), target, cpu);
        (chosen ? known : none) += 1;
        if (chosen)
          plans.expect(chosen == expected, [&] { return text_of(chosen) + ", " + text_of(expected) + ", " + describe(); });
        started.reset();
        if (expected) {
          const auto known_there = allowance->start_product(call, {expected->moduli, expected->moduli, {}, *expected});
          plans.expect(known_there != nullptr && known_there->plan() == expected, [&] { return "known plan, " + describe(); });
        }
        dropped.expect(sample.c_there.bits() == before, describe);
      }
  std::printf("%lld plans were chosen, %lld not\n", static_cast<long long>(known), static_cast<long long>(none));
  plans.expect(known > none, [] { return "few plans are chosen"; });
  const bool good = plans.report();
  return dropped.report() && good;
}

/// Batches of a CertifiedGemm, and the comparison of their products with the CPU.
class BatchChoice {
 public:
  BatchChoice(const gpu::CudaBackend& device, const Backend& cpu, const char* target, const Shape& shape, std::size_t count,
              bool native = false)
      : cpu_(cpu),
        target_(parse_target(target)),
        gemm_(device, target_, shape.m, shape.n, shape.k, {.sum_bytes = 0x1p25, .native = native}),
        workspace_(static_cast<Index>(count * gemm_.workspace() + 1024), cudaStreamPerThread) {
    void* data = workspace_.data();
    auto room = count * gemm_.workspace() + 1024;
    aligned_ = static_cast<std::uint8_t*>(std::align(1024, count * gemm_.workspace(), data, room));
    gpu::check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  }

  void launch(std::span<const RealProduct> calls, cudaStream_t stream) const { gemm_(calls, aligned_, stream); }
  /// Launches one product, with the workspace of a batch's product t.
  void launch(const RealProduct& call, std::size_t t, cudaStream_t stream) const {
    gemm_(call, aligned_ + t * gemm_.workspace(), stream);
  }

  [[nodiscard]] std::optional<Multiplied> record(std::size_t t, const Sample& sample, cudaStream_t stream) const {
    return gemm_.record(sample.there(), aligned_ + t * gemm_.workspace(), stream);
  }

  /// Compares C and the record of a batch's product t with the product on the CPU under the plan that was chosen. Returns true
  /// if one was. @param before C's bits before the call
  bool compare(std::size_t t, Sample& sample, const std::vector<std::uint64_t>& before, cudaStream_t stream,
               Section& section) const {
    const auto record = this->record(t, sample, stream);
    const auto c = sample.c_there.bits();
    if (!record) {
      section.expect(c == before, [&] { return "C is written without a plan, " + sample.origin; });
      return false;
    }
    const auto expected = multiply(sample.here(), record->decision, cpu_);
    section.expect(c == Placed(sample.c, false).bits(), [&] { return "C, " + sample.origin; });
    section.expect(record->certificate.holds, [&] { return "certificate does not hold, " + sample.origin; });
    section.expect(to_json(record->certificate) == to_json(expected), [&] {
      return "certificate, " + sample.origin + "\n" + to_json(expected).dump() + "\n" + to_json(record->certificate).dump();
    });
    const auto plan = plan_on_host(sample.here(), target_, cpu_);
    const bool fewer = plan && plan->moduli < record->decision.plan->products();  // than the kernels are launched for
    section.expect(plan && (fewer || record->decision.plan == Plan(*plan)),
                   [&] { return to_string(*record->decision.plan) + ", " + text_of(plan) + ", " + sample.origin; });
    return true;
  }

 private:
  const Backend& cpu_;
  Target target_;
  gpu::CertifiedGemm gemm_;
  gpu::DeviceArray<std::uint8_t> workspace_;
  std::uint8_t* aligned_;
};

/// A batch of one product.
class DeviceChoice : public BatchChoice {
 public:
  DeviceChoice(const gpu::CudaBackend& device, const Backend& cpu, const char* target, const Shape& shape)
      : BatchChoice(device, cpu, target, shape, 1) {}

  void launch(const RealProduct& call, cudaStream_t stream) const { BatchChoice::launch(call, 0, stream); }

  bool compare(Sample& sample, const std::vector<std::uint64_t>& before, cudaStream_t stream, Section& section) const {
    return BatchChoice::compare(0, sample, before, stream, section);
  }
};

/// A stream that is destroyed with this object.
struct OwnStream {
  cudaStream_t stream = nullptr;

  OwnStream() { gpu::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  ~OwnStream() { cudaStreamDestroy(stream); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
};

/// Products on two streams at once, of every kind, shape and target.
bool compare_streams(const gpu::CudaBackend& device, const Backend& cpu) {
  Section section("products of CertifiedGemm");
  const OwnStream streams[2];
  Index chosen = 0, all = 0;
  std::uint64_t seed = 5000;
  for (const auto& shape : shapes)
    for (const auto* const target : {"dgemm", "dgemm-typical", "componentwise:1e-7"}) {
      if (target_tau(parse_target(target), shape.k, binary64, false) < 0x1p-53) continue;
      const DeviceChoice gemms[2] = {{device, cpu, target, shape}, {device, cpu, target, shape}};
      for (std::size_t t = 0; t < std::size(kinds); t += 2) {
        seed += 2;
        Sample samples[2] = {{shape, kinds[t], 1, seed, storage_for(kinds[t], seed)},
                             {shape, kinds[t + 1], 1, seed + 1, storage_for(kinds[t + 1], seed + 1)}};
        const std::vector<std::uint64_t> before[2] = {samples[0].c_there.bits(), samples[1].c_there.bits()};
        gpu::check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
        for (int s = 0; s < 2; ++s) gemms[s].launch(samples[s].there(), streams[s].stream);
        for (int s = 0; s < 2; ++s) {
          gpu::check(cudaStreamSynchronize(streams[s].stream), "cudaStreamSynchronize");
          chosen += gemms[s].compare(samples[s], before[s], streams[s].stream, section) ? 1 : 0, ++all;
        }
      }
    }
  std::printf("%lld of %lld products had a plan\n", static_cast<long long>(chosen), static_cast<long long>(all));
  section.expect(chosen > all / 2, [] { return "few products have a plan"; });
  return section.report();
}

/// A captured product whose graph runs with other data in the same memory, some of which has no plan.
bool compare_replays(const gpu::CudaBackend& device, const Backend& cpu) {
  Section section("replayed graphs");
  const OwnStream own;
  const auto& shape = shapes[3];
  const DeviceChoice gemm(device, cpu, "dgemm", shape);
  Sample memory(shape, kinds[0], 1, 1);
  const auto call = memory.there();
  gpu::check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t run = nullptr;
  gpu::check(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  gemm.launch(call, own.stream);
  gpu::check(cudaStreamEndCapture(own.stream, &graph), "cudaStreamEndCapture");
  gpu::check(cudaGraphInstantiate(&run, graph, 0), "cudaGraphInstantiate");
  Index chosen = 0, none = 0;
  constexpr Kind far_apart{"far apart", 300, 53, 0, false, false};
  for (const auto& kind : {kinds[0], kinds[1], far_apart, kinds[3], kinds[5], far_apart, kinds[4], kinds[0]}) {
    Sample sample(shape, kind, 1, 7000 + static_cast<std::uint64_t>(chosen + none));
    const auto copy = [](void* to, const Matrix<double>& from) {
      gpu::check(cudaMemcpy(to, &from(0, 0), static_cast<std::size_t>(from.rows() * from.cols()) * sizeof(double),
                            cudaMemcpyHostToDevice),
                 "cudaMemcpy");
    };
    copy(const_cast<void*>(gpu::matrix_of(memory.a_there.input()).data), sample.a);
    copy(const_cast<void*>(gpu::matrix_of(memory.b_there.input()).data), sample.b);
    memory.a = sample.a, memory.b = sample.b, memory.origin = sample.origin;
    const auto before = memory.c_there.bits();
    gpu::check(cudaGraphLaunch(run, own.stream), "cudaGraphLaunch");
    gpu::check(cudaStreamSynchronize(own.stream), "cudaStreamSynchronize");
    (gemm.compare(memory, before, own.stream, section) ? chosen : none) += 1;
  }
  section.expect(chosen == 6 && none == 2,
                 [&] { return std::to_string(chosen) + " plans, " + std::to_string(none) + " none"; });
  cudaGraphExecDestroy(run);
  cudaGraphDestroy(graph);
  return section.report();
}

/// Batches, launched and in a replayed graph. The products are of all kinds, and some have no plan.
bool compare_batches(const gpu::CudaBackend& device, const Backend& cpu) {
  Section section("batches");
  const OwnStream own, other;
  constexpr std::size_t count = 11;  // more than there are streams
  constexpr Kind far_apart{"far apart", 300, 53, 0, false, false};
  std::uint64_t seed = 9000;
  for (const auto& shape : {shapes[2], shapes[3], shapes[4]}) {
    const BatchChoice batch(device, cpu, "dgemm", shape, count + 1);
    std::vector<Sample> samples;
    std::vector<RealProduct> calls;
    samples.reserve(count);
    for (std::size_t t = 0; t < count; ++t) {
      const auto& kind = t % 5 == 4 ? far_apart : kinds[t % std::size(kinds)];
      ++seed;
      calls.push_back(samples.emplace_back(shape, kind, 1, seed, storage_for(kind, seed)).there());
    }
    Sample alone(shape, kinds[0], 1, ++seed);
    const auto before_alone = alone.c_there.bits();
    gpu::check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
    std::vector<std::vector<std::uint64_t>> before;
    for (const auto& sample : samples) before.push_back(sample.c_there.bits());
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t run = nullptr;
    gpu::check(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    batch.launch(calls, own.stream);
    batch.launch(std::span(calls).first(3), own.stream);  // the same streams in the same capture
    batch.launch(alone.there(), count, other.stream);     // not captured, so that it goes without them
    gpu::check(cudaStreamEndCapture(own.stream, &graph), "cudaStreamEndCapture");
    gpu::check(cudaGraphInstantiate(&run, graph, 0), "cudaGraphInstantiate");
    gpu::check(cudaStreamSynchronize(other.stream), "cudaStreamSynchronize");
    section.expect(batch.compare(count, alone, before_alone, other.stream, section), [] { return "no plan during a capture"; });
    for (const bool replayed : {true, false}) {
      if (replayed)
        gpu::check(cudaGraphLaunch(run, own.stream), "cudaGraphLaunch");
      else
        batch.launch(calls, own.stream);
      gpu::check(cudaStreamSynchronize(own.stream), "cudaStreamSynchronize");
      Index chosen = 0;
      for (std::size_t t = 0; t < count; ++t) chosen += batch.compare(t, samples[t], before[t], own.stream, section) ? 1 : 0;
      section.expect(chosen > static_cast<Index>(count / 2), [&] { return std::to_string(chosen) + " plans of a batch"; });
    }
    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
  }
  return section.report();
}

/// Changes the last bit of the first element of a device matrix, or changes it back.
void flip_a_bit(const Placed& of) {
  auto* const first = static_cast<std::uint8_t*>(const_cast<void*>(gpu::matrix_of(of.input()).data));
  std::uint8_t byte = 0;
  gpu::check(cudaMemcpy(&byte, first, 1, cudaMemcpyDeviceToHost), "cudaMemcpy");
  byte ^= 1;
  gpu::check(cudaMemcpy(first, &byte, 1, cudaMemcpyHostToDevice), "cudaMemcpy");
}

/// Sets the elements of a device matrix of doubles to zero.
void clear(const Placed& of, Index elements) {
  gpu::check(cudaMemset(const_cast<void*>(gpu::matrix_of(of.input()).data), 0, static_cast<std::size_t>(elements) * 8),
             "cudaMemset");
}

/// True if native DGEMM takes these matrices, and certifies the target by the ranges that looks find.
bool native_may_be_chosen(const RealProduct& call, const Target& target, const Backend& cuda) {
  const auto range = native_range(*cuda.native(), call.k(), target);
  if (!range || !call.a.is_double() || !call.b.is_double()) return false;
  const auto of = cuda.examiner().examine(call)->outer_ranges();
  return of->a.empty() || of->b.empty() || (of->a.least + of->b.least >= range->least && of->a.top + of->b.top <= range->top);
}

/// Products that may be native: of all kinds, launched and in a replayed graph, alone and in batches. C and certificates are
/// those of `multiply` under the same decision; where nothing is chosen, native DGEMM does not certify the target.
bool compare_native(const gpu::CudaBackend& device, const Backend& cpu) {
  Section section("native products of CertifiedGemm");
  const OwnStream own;
  const auto cuda = device.backend();
  constexpr Kind far_apart{"far apart", 300, 53, 0, false, false},
      far_apart_at_all_scales{"far apart at all scales", 300, 53, 900, false, true},
      rows_of_more_scales{"rows of more scales", 2, 53, 1010, false, false};
  Index native = 0, planned = 0, none = 0, differing = 0;
  std::uint64_t seed = 12000;
  for (const auto& shape : {shapes[1], shapes[3], shapes[4], shapes[5]})
    for (const auto* const target : {"dgemm", "componentwise:1e-7"}) {
      const BatchChoice gemm(device, cpu, target, shape, std::size(kinds) + 3, true);
      std::vector<Sample> samples;
      std::vector<RealProduct> calls;
      samples.reserve(std::size(kinds) + 3);
      const auto add = [&](const Kind& kind) {
        ++seed;
        calls.push_back(samples.emplace_back(shape, kind, 1, seed, storage_for(kind, seed)).there());
      };
      for (const auto& kind : kinds) add(kind);
      add(far_apart), add(far_apart_at_all_scales), add(rows_of_more_scales);
      std::vector<std::vector<std::uint64_t>> before;
      for (const auto& sample : samples) before.push_back(sample.c_there.bits());
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t run = nullptr;
      gpu::check(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
      gemm.launch(calls, own.stream);
      gpu::check(cudaStreamEndCapture(own.stream, &graph), "cudaStreamEndCapture");
      gpu::check(cudaGraphInstantiate(&run, graph, 0), "cudaGraphInstantiate");
      for (const int how : {0, 1, 2, 1}) {
        for (auto& sample : samples) clear(sample.c_there, shape.m * shape.n);
        if (how == 0) gemm.launch(calls, own.stream);
        if (how == 1) gpu::check(cudaGraphLaunch(run, own.stream), "cudaGraphLaunch");
        for (std::size_t t = 0; how == 2 && t < calls.size(); ++t) gemm.launch(calls[t], t, own.stream);
        gpu::check(cudaStreamSynchronize(own.stream), "cudaStreamSynchronize");
        for (std::size_t t = 0; t < calls.size(); ++t) {
          auto& sample = samples[t];
          const auto describe = [&] { return std::string(target) + ", " + sample.origin; };
          const auto record = gemm.record(t, sample, own.stream);
          const bool may_be_native = native_may_be_chosen(calls[t], parse_target(target), cuda);
          if (record && record->decision.method != Method::native) {
            planned += gemm.compare(t, sample, before[t], own.stream, section) ? 1 : 0;
          } else if (record) {
            ++native;
            const auto c = sample.c_there.bits();
            const auto expected = multiply(calls[t], record->decision, cuda);
            // The library's bits may depend on its workspace where k is long. A certificate then has another C.
            const bool same = sample.c_there.bits() == c;
            section.expect(same || shape.k > 1000, [&] { return "native C, " + describe(); });
            if (!same) {
              differing += 1;
              continue;
            }
            section.expect(to_json(expected) == to_json(record->certificate) && expected.holds, [&] {
              return "native certificate, " + describe() + "\n" + to_json(expected).dump() + "\n" +
                     to_json(record->certificate).dump();
            });
            section.expect(may_be_native, [&] { return "native DGEMM does not certify, " + describe(); });
            for (const auto* const changed : {&sample.a_there, &sample.b_there, &sample.c_there}) {
              if (sample.specials) break;  // all NaNs have one fingerprint
              flip_a_bit(*changed);
              section.expect(!gemm.record(t, sample, own.stream), [&] { return "a matrix was changed, " + describe(); });
              flip_a_bit(*changed);
            }
          } else {
            ++none;
            section.expect(sample.c_there.bits() == before[t], [&] { return "C is written without a choice, " + describe(); });
            section.expect(!may_be_native, [&] { return "native DGEMM was not chosen, " + describe(); });
          }
        }
      }
      cudaGraphExecDestroy(run);
      cudaGraphDestroy(graph);
    }
  std::printf("%lld native products, %lld by residues, %lld of neither\n", static_cast<long long>(native),
              static_cast<long long>(planned), static_cast<long long>(none));
  section.expect(native > 2 * differing && planned > 0 && none > 0, [] { return "a way is seldom chosen"; });
  return section.report();
}

/// C, decision and certificate of a product.
struct Result {
  std::vector<std::uint64_t> c;
  std::string text;

  bool operator==(const Result&) const = default;
};

Result multiplied(const RealProduct& call, const Placed& c, const char* target, const Backend& backend) {
  auto [decision, certificate] = multiply(call, parse_target(target), backend);
  certificate.assumed_in_search.clear();
  return {c.bits(), to_json(decision).dump() + to_json(certificate).dump()};
}

constexpr const char* targets[] = {"dgemm", "componentwise:1e-7", "normwise:1e-10", "cr"};

/// Certified products, once by one thread after the other, and then by all at once.
bool compare_threads(const Backend& cpu, const Backend& cuda) {
  constexpr int threads = 4, rounds = 6;
  Section results("products of several threads");
  std::vector<Sample> samples;
  std::vector<Result> expected;
  samples.reserve(threads * rounds);
  for (int s = 0; s < threads * rounds; ++s) {
    const auto& shape = shapes[3 + s % 2];
    const auto& kind = kinds[static_cast<std::size_t>(s) % std::size(kinds)];
    const auto seed = std::uint64_t{1000} + static_cast<std::uint64_t>(s);
    auto& sample = samples.emplace_back(shape, kind, s % 3 == 0 ? -3 : 1, seed, storage_for(kind, seed / 2));
    const auto call = sample.here();
    expected.push_back(multiplied(call, Placed(sample.c, false), targets[s % 4], cpu));
  }
  std::vector<Result> found(samples.size());
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      for (int r = 0; r < rounds; ++r) {
        const auto s = static_cast<std::size_t>(t * rounds + r);
        found[s] = multiplied(samples[s].there(), samples[s].c_there, targets[s % 4], cuda);
      }
    });
  for (auto& thread : team) thread.join();
  for (std::size_t s = 0; s < samples.size(); ++s)
    results.expect(found[s] == expected[s],
                   [&] { return samples[s].origin + ", " + targets[s % 4] + "\n" + expected[s].text + "\n" + found[s].text; });
  return results.report();
}

}  // namespace
}  // namespace ozbound::mirror

int main() {
  using namespace ozbound;
  return mirror::compare_on_device([] {
    const CpuEngine cpu;
    const gpu::CudaBackend device;
    const auto cuda = mirror::counting(device);
    const Backend host(cpu);
    bool good = mirror::compare_plans(host, cuda);
    good = mirror::compare_streams(device, host) && good;
    good = mirror::compare_replays(device, host) && good;
    good = mirror::compare_batches(device, host) && good;
    good = mirror::compare_native(device, host) && good;
    return mirror::compare_threads(host, cuda) && good;
  });
}
