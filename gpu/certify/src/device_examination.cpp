#include "device_examination.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cuda_device.hpp"
#include "host_facts.hpp"
#include "largest_memory.hpp"
#include "ozbound/bounds/entry_allowance.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "plan_bound_there.hpp"

namespace ozbound::gpu {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

const DeviceFacts& DeviceFactsCache::all(const Slicing& slicing) {
  for (const auto& measured : all_)
    if (measured->facts.slicing == slicing) return measured->facts;
  Arena needed;
  take_facts(needed, slicing, count_);
  auto& measured = *all_.emplace_back(std::make_unique<Measured>());
  measured.memory = Memory(needed.used(), stream_);
  auto arena = measured.memory.arena();
  measured.facts = take_facts(arena, slicing, count_);
  launch_facts(vectors_, inner_, measured.facts, stream_);
  return measured.facts;
}

void DeviceFactsCache::measure(Encoding encoding, std::vector<Index> indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  std::erase_if(indices, [&](Index i) { return single_.contains(i) && single_.at(i).encoding == encoding; });
  if (indices.empty()) return;
  const CudaDevice current(device_);
  const auto count = static_cast<Index>(indices.size());
  Arena needed;
  FactsOfAllSlicings::take(needed, encoding, count, inner_);
  const Memory memory(needed.used(), stream_);
  auto arena = memory.arena();
  const auto facts = FactsOfAllSlicings::take(arena, encoding, count, inner_);
  const auto there = copy_to_device(indices, stream_);
  launch_facts_of_some(vectors_, inner_, there.data(), facts, stream_);
  auto measured = copy_facts_to_host(facts, stream_);
  for (std::size_t t = 0; t < indices.size(); ++t) {
    Single single{encoding, {}};
    for (auto& of : measured) single.of.push_back(std::move(of.vectors[t]));
    single_.insert_or_assign(indices[t], std::move(single));
  }
}

const VectorFacts& DeviceFactsCache::one(Index i, const Slicing& slicing) {
  const auto known = single_.find(i);
  if (known == single_.end() || !(known->second.encoding == slicing.encoding)) measure(slicing.encoding, {i});
  return single_.at(i).of[at(slicing.slices - 1)];
}

/// Level 1 of |A||B|, and what of it the host asks for.
struct DeviceExamination::Product {
  Memory memory;
  LevelOneSums sums;
  std::vector<std::int32_t> row_exponents, column_exponents;
  bool loose;

  Product(const DeviceMatrix& a, const DeviceMatrix& b, const LevelOne& level, cudaStream_t stream) {
    level.prepare();
    Arena needed;
    level.launch(a, b, needed, stream);
    memory = Memory(needed.used(), stream);
    auto arena = memory.arena();
    sums = level.launch(a, b, arena, stream);
    row_exponents = copy_to_host(sums.rows.exponents, sums.m, stream);
    column_exponents = copy_to_host(sums.columns.exponents, sums.n, stream);
    loose = copy_to_host(sums.loose, 1, stream)[0] != 0;
  }
};

/// For targets stated for every entry, where level 1 is not loose.
class DeviceAllowance final : public Allowance {
 public:
  DeviceAllowance(DeviceExamination& examination, const Target& target, double factor)
      : examination_(examination),
        product_(examination.product_->sums),
        stream_(examination.stream_),
        probing_(0, product_.m, product_.n, stream_) {
    const auto& options = examination.options_;
    target_.factor = factor;
    target_.alpha = options.alpha, target_.beta = options.beta;
    target_.c0 = examination.c0_.matrix();
    if (target.kind != Target::Kind::rowcol) return;
    row_norms_ = norms_of(examination.rows_), column_norms_ = norms_of(examination.columns_);
    target_.row_norms = row_norms_.data(), target_.column_norms = column_norms_.data();
  }

  [[nodiscard]] Probe probe(Index i, Index j) const override {
    const CudaDevice current(examination_.device_);
    const auto probes = probes_of({{i, j}});
    return probes.front();
  }

  [[nodiscard]] Worst worst(const PlanBound& bound) const override {
    const CudaDevice current(examination_.device_);
    const auto& there = static_cast<const PlanBoundThere&>(*bound.there);
    const LargestMemory search(there.outer_products(), product_.m, product_.n, stream_);
    launch_worst_entry(there.bound(), product_, target_, search.work(), stream_);
    const auto largest = copy_to_host(search.work().result, 1, stream_)[0];
    if (!(largest.value > 0)) return {};
    return {largest.value, largest.place / product_.n, largest.place % product_.n};
  }

  [[nodiscard]] bool normwise() const override { return false; }
  [[nodiscard]] double normwise_share(Index, Index, double) const override { return 0; }

  [[nodiscard]] std::vector<Probe> probes(Index per_side) const override {
    const Index m = product_.m, n = product_.n;
    if (m == 0 || n == 0) return {};
    const CudaDevice current(examination_.device_);
    launch_least_allowing(product_, target_, probing_.work(), stream_);
    const auto least = copy_to_host(probing_.work().result, 1, stream_)[0];
    std::vector<Entry> entries{{least.place / n, least.place % n}};
    const Index rows = std::min(per_side, m), columns = std::min(per_side, n);
    for (Index s = 0; s < rows; ++s)
      for (Index t = 0; t < columns; ++t) entries.push_back({s * m / rows, t * n / columns});
    std::vector<Index> of_rows, of_columns;
    for (const auto& [i, j] : entries) of_rows.push_back(i), of_columns.push_back(j);
    const auto& encoding = examination_.options_.encoding;
    examination_.rows_.measure(encoding, std::move(of_rows));
    examination_.columns_.measure(encoding, std::move(of_columns));
    return probes_of(entries);
  }

 private:
  [[nodiscard]] std::vector<Probe> probes_of(const std::vector<Entry>& entries) const {
    std::vector<Index> places;
    for (const auto& [i, j] : entries) places.push_back(i * product_.n + j);
    const auto there = copy_to_device(places, stream_);
    const auto count = static_cast<Index>(places.size());
    const DeviceArray<double> allowed(count, stream_);
    launch_probes(product_, target_, there.data(), count, allowed.data(), stream_);
    const auto values = copy_to_host(allowed.data(), count, stream_);
    std::vector<Probe> probes;
    for (std::size_t t = 0; t < entries.size(); ++t) probes.push_back({entries[t].i, entries[t].j, values[t]});
    return probes;
  }

  [[nodiscard]] DeviceArray<double> norms_of(DeviceFactsCache& vectors) const {
    const auto& facts = vectors.all({{Encoding::Kind::truncated, 7}, 1});
    std::vector<double> norms;
    for (const auto squares : copy_to_host(facts.floor_squares, facts.count, stream_))
      norms.push_back(euclidean_lower(squares));
    auto there = copy_to_device(norms, stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return there;
  }

  DeviceExamination& examination_;
  LevelOneSums product_;
  cudaStream_t stream_;
  LargestMemory probing_;
  DeviceArray<double> row_norms_, column_norms_;
  EntryTarget target_;
};

DeviceExamination::DeviceExamination(const Factors& factors, const DecideOptions& options, Kernels& kernels, Fallback fallback,
                                     int device, cudaStream_t stream)
    : options_(options),
      kernels_(kernels),
      device_(device),
      stream_(stream),
      make_fallback_(std::move(fallback)),
      m_(factors.a.rows()),
      n_(factors.b.cols()),
      k_(factors.a.cols()),
      a_(factors.a, "a", stream),
      b_(factors.b, "b", stream),
      c0_(options.beta == 0 ? InputView() : options.c0, "c0", stream),
      rows_(a_.matrix(), m_, k_, device, stream),
      columns_(transposed(b_.matrix()), n_, k_, device, stream) {}

DeviceExamination::~DeviceExamination() = default;

PlanBound DeviceExamination::bound(const SplitPlan& plan) {
  const CudaDevice current(device_);
  const auto &rows = rows_.all(plan.a), &columns = columns_.all(plan.b);
  return {{}, {}, {}, std::make_shared<const PlanBoundThere>(plan, k_, rows, columns, device_, stream_)};
}

double DeviceExamination::error_at(const SplitPlan& plan, double uniform, Index i, Index j) {
  const auto& row = rows_.one(i, plan.a);
  const auto& column = columns_.one(j, plan.b);
  const auto shift = std::int64_t{row.scale.exponent} + column.scale.exponent - product().row_exponents[at(i)] -
                     product().column_exponents[at(j)];
  return rescaled_upper(entry_error_upper(row, column, plan, k_, uniform), shift);
}

std::unique_ptr<Allowance> DeviceExamination::allowance(const Target& target, double factor) {
  const CudaDevice current(device_);
  if (target.kind != Target::Kind::normwise && !product().loose)
    return std::make_unique<DeviceAllowance>(*this, target, factor);
  if (fallback_ == nullptr) fallback_ = make_fallback_();
  return fallback_->allowance(target, factor);
}

const DeviceExamination::Product& DeviceExamination::product() {
  if (product_ != nullptr) return *product_;
  const CudaDevice current(device_);
  product_ = std::make_unique<Product>(a_.matrix(), b_.matrix(), LevelOne(m_, n_, k_, kernels_), stream_);
  return *product_;
}

}  // namespace ozbound::gpu
