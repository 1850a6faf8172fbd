// SPDX-License-Identifier: BSD-3-Clause
#include "device_examination.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "cuda_device.hpp"
#include "device_plan_bound.hpp"
#include "host_facts.hpp"
#include "largest_memory.hpp"
#include "norm_search.hpp"
#include "ozbound/bounds/detail/entry_allowance.hpp"
#include "ozbound/bounds/detail/residue_facts.hpp"
#include "ozbound/bounds/detail/search_assumption.hpp"
#include "ozbound/bounds/residue_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "product_on_device.hpp"
#include "started_residues.hpp"

namespace ozbound::gpu {
namespace {

PlanBound remote_bound(std::shared_ptr<const RemotePlanBound> remote) { return {{}, {}, {}, std::move(remote)}; }

}  // namespace

const DeviceFacts& DeviceFactsCache::all(const Slicing& slicing, FactParts parts) {
  for (const auto& measured : all_)
    if (measured->facts.slicing == slicing && measured->parts.covers(parts)) return measured->facts;
  Arena needed;
  take_facts(needed, slicing, count_);
  auto& measured = *all_.emplace_back(std::make_unique<Measured>());
  measured.memory = Memory(needed.used(), stream_);
  measured.parts = parts;
  auto arena = measured.memory.arena();
  measured.facts = take_facts(arena, slicing, count_);
  // A look's tops need not be exact below the size that matters for the scales of these encodings.
  const auto kind = slicing.encoding.kind;
  const bool tops_known = kind == Encoding::Kind::balanced || kind == Encoding::Kind::truncated;
  if (tops_known) measured.facts.tops = look_.digits.tops;
  launch_facts(vectors_, inner_, measured.facts, stream_, parts, tops_known);
  return measured.facts;
}

/// Enclosures of |A||B|, with their memory.
struct DeviceExamination::Enclosure {
  Memory memory, more, leading;
  DeviceMagnitudes magnitudes;

  Enclosure(const FirstLooks& looks, const LevelOne& level, cudaStream_t stream) {
    level.prepare();
    memory = taken(stream, [&](Arena& arena) { magnitudes.one = level.launch(looks, arena, stream); });
  }

  void add(const LevelTwo& level, const DeviceMatrix& a, const DeviceMatrix& b, cudaStream_t stream) {
    const auto one = magnitudes.one;
    more = taken(stream, [&](Arena& arena) { magnitudes = level.launch(one, a, b, arena, stream); });
  }

  void add_leading(const LevelTwo& level, cudaStream_t stream) {
    level.prepare();
    leading = taken(stream, [&](Arena& arena) { level.launch_leading(magnitudes, arena, stream); });
  }

 private:
  /// Allocates the memory that `take` takes, after a first pass of `take` that only counts.
  template <class Take>
  static Memory taken(cudaStream_t stream, const Take& take) {
    Arena needed;
    take(needed);
    Memory result(needed.used(), stream);
    auto arena = result.arena();
    take(arena);
    return result;
  }
};

/// An allowance computed on the device, for every kind of target. Results that the host may ask for again are kept.
class DeviceAllowance final : public Allowance {
 public:
  DeviceAllowance(DeviceExamination& examination, const Target& target, double factor)
      : examination_(examination),
        magnitudes_(examination.enclosure_->magnitudes),
        stream_(examination.stream_),
        probing_(0, m(), n(), stream_) {
    target_.factor = factor;
    target_.alpha = examination.of_.alpha, target_.beta = examination.of_.beta;
    target_.c0 = examination.c0_.matrix();
    if (target.kind == Target::Kind::rowcol) {
      row_norms_ = norms_of(examination.rows_), column_norms_ = norms_of(examination.columns_);
      target_.row_norms = row_norms_.data(), target_.column_norms = column_norms_.data();
    }
    if (target.kind == Target::Kind::normwise) set_norm();
  }

  [[nodiscard]] Probe probe(Index i, Index j) const override {
    const CudaDevice current(examination_.device_);
    examination_.settle();
    const bool in_report = by_level_one_sums() && !magnitudes_.loose() && i == m() / 2 && j == n() / 2;
    const double allowed = in_report ? allowed_in_middle() : SingleProbe(*this, i, j).allowed();
    allowed_.insert_or_assign({i, j}, allowed);
    return {i, j, allowed};
  }

  [[nodiscard]] Worst worst(const PlanBound& bound) const override {
    const CudaDevice current(examination_.device_);
    examination_.settle();
    if (const auto* const kept = DevicePlanBound::kept_on(examination_.device_, bound.remote.get()))
      return worst_of_bound(*kept);
    if (const auto* const sums = sums_of_looks(bound)) return worst_of_bound(looked(*sums));
    return worst_of_bound(CopiedPlanBound(fetched(bound), examination_.device_, stream_));
  }

  [[nodiscard]] std::function<Worst()> search_worst(const PlanBound& bound) const override {
    const CudaDevice current(examination_.device_);
    examination_.settle();
    const auto* const kept = DevicePlanBound::kept_on(examination_.device_, bound.remote.get());
    if (kept == nullptr) return nullptr;
    try {
      const auto search = std::make_shared<const Search>(*this, *kept);
      return [search, bound_in_use = bound.remote, device = examination_.device_] {
        const CudaDevice of_search(device);
        return search->worst();
      };
    } catch (const OutOfMemory&) {  // another way may be chosen
      return nullptr;
    }
  }

  /// The ratios of operands' sums come from the least sums of level 1, without a search, where an entry's allowance is a
  /// function of its sum alone. Otherwise, all searches are launched before the host waits for one, each on a stream of its own
  /// if there are two: a search takes the time of a few long dot products, and leaves room beside it.
  [[nodiscard]] std::vector<double> largest_ratios(const std::vector<const PlanBound*>& bounds) const override {
    const CudaDevice current(examination_.device_);
    examination_.settle();
    const bool by_sums = by_level_one_sums() && !magnitudes_.loose();
    std::vector<double> ratios(bounds.size());
    std::vector<LookedPlanBound> made;
    std::vector<double*> of_made;
    made.reserve(bounds.size());
    for (std::size_t t = 0; t < bounds.size(); ++t) {
      const auto* const sums = sums_of_looks(*bounds[t]);
      if (sums == nullptr || normwise())
        ratios[t] = worst(*bounds[t]).ratio;
      else if (by_sums)
        ratios[t] = largest_ratio(*sums);
      else
        made.push_back(looked(*sums)), of_made.push_back(&ratios[t]);
    }
    std::optional<StreamGuard> of_made_bounds;
    std::vector<Search> searches;
    searches.reserve(made.size());
    if (made.size() > 1) {
      if (searches_sums()) examination_.find_leading();
      of_made_bounds.emplace(examination_.beside()->stream());
      StreamMark(stream_).wait_in(examination_.beside()->stream());
    }
    for (std::size_t t = 0; t < made.size(); ++t)
      searches.emplace_back(*this, made[t], t % 2 == 0 ? stream_ : examination_.beside()->stream());
    for (std::size_t t = 0; t < made.size(); ++t) *of_made[t] = searches[t].worst().ratio;
    return ratios;
  }

  [[nodiscard]] std::unique_ptr<StartedProduct> start_product(const RealProduct& product,
                                                              const ProductStart& start) const override {
    const CudaDevice current(examination_.device_);
    const bool known = start.known.moduli > 0;
    if ((!known && !by_level_one_sums()) || !all_on_device(product)) return nullptr;
    auto& from = examination_;
    std::shared_ptr<const LentStream> own;
    try {
      own = known ? from.streams_->lend() : from.beside();  // slices may be probed beside a known product
    } catch (const OutOfMemory&) {
      return nullptr;
    }
    return StartedResidues::of(product, start,
                               {from.looks_, *from.level_one_, target_.factor, from.kernels_, from.engine_, stream_, own});
  }

  [[nodiscard]] bool normwise() const override { return target_.of_norm; }

  [[nodiscard]] double normwise_share(Index i, Index j, double error) const override {
    const auto known = allowed_.find({i, j});
    const double allowed = known != allowed_.end() ? known->second : probe(i, j).allowed;
    if (allowed == std::numeric_limits<double>::infinity()) return 0;  // special, or zero for good
    return norm_share_upper(error, examination_.exponent(i, j) - norm_scale_, norm_allowed_);
  }

  [[nodiscard]] std::vector<Probe> probes(Index per_side) const override {
    if (m() == 0 || n() == 0) return {};
    const CudaDevice current(examination_.device_);
    auto found = probe_some(per_side);
    if (examination_.settle() && magnitudes_.loose()) found = probe_some(per_side);
    for (const auto& [i, j, allowed] : found) allowed_.insert_or_assign({i, j}, allowed);
    return found;
  }

 private:
  /// A search for the worst entry of a bound, or for a normwise ratio. The constructor launches the work.
  class Search {
   public:
    Search(const DeviceAllowance& allowance, const DevicePlanBound& bound) : Search(allowance, bound, allowance.stream_) {}
    /// @param stream that of the allowance or, if the target is not normwise, one that waits for the bound and the enclosure
    Search(const DeviceAllowance& allowance, const DevicePlanBound& bound, cudaStream_t stream)
        : memory_(bound.outer_products(), allowance.m(), allowance.n(), stream), m_(allowance.m()), n_(allowance.n()) {
      if (m_ == 0 || n_ == 0) return;
      if (allowance.normwise())
        launch_norm(allowance, bound);
      else
        launch_entry(allowance, bound, stream);
      const auto* const result = memory_.work().result;
      copy_.emplace(result, result + 1, stream);
    }

    /// Waits for the search.
    [[nodiscard]] Worst worst() const {
      if (!copy_) return {};
      auto worst = worst_of(copy_->wait().at(memory_.work().result)->entry, n_);
      worst.assumes = assumes_;
      if (!row_sums_) return worst;
      double total = 0;
      const double* const sums = row_sums_->wait().at(row_sums_there_);
      for (Index i = 0; i < m_; ++i) total = add_upper(total, sums[i]);
      worst.ratio = total == 0 ? 0 : next_up(std::sqrt(total));
      return worst;
    }

   private:
    void launch_entry(const DeviceAllowance& allowance, const DevicePlanBound& bound, cudaStream_t stream) {
      const bool of_sums = allowance.searches_sums();
      if (of_sums) allowance.examination_.find_leading();
      launch_worst_entry(bound.bound(), allowance.magnitudes_, allowance.target_, memory_.work(), stream);
      if (of_sums && allowance.magnitudes_.leading != nullptr) assumes_ = assumed_of_tensor_cores;
    }
    void launch_norm(const DeviceAllowance& allowance, const DevicePlanBound& bound) {
      const DeviceArray<double> shares(m_ * n_, allowance.stream_);
      launch_norm_shares(bound.bound(), allowance.magnitudes_, allowance.norm_, allowance.norm_allowed_, shares.data(),
                         memory_.work(), allowance.stream_);
      row_sums_there_ = allowance.norm_.row_sums;
      row_sums_.emplace(row_sums_there_, row_sums_there_ + m_, allowance.stream_);
    }

    LargestMemory memory_;
    Index m_, n_;
    std::string assumes_;
    std::optional<StartedCopy> copy_;         ///< of the result; nothing without entries
    const double* row_sums_there_ = nullptr;  ///< in device memory that others may use again
    std::optional<StartedCopy> row_sums_;     ///< for normwise targets
  };

  /// True if searches need the sums of level 2.
  [[nodiscard]] bool searches_sums() const { return magnitudes_.loose() && target_.row_norms == nullptr; }

  /// The allowance of one entry, by the levels that are launched. The constructor launches the work, and also that of measuring
  /// the entry's row and column, on which plans are tried next. The sum of level 2 takes a while; a search may run beside it.
  class SingleProbe {
   public:
    SingleProbe(const DeviceAllowance& allowance, Index i, Index j) {
      auto& examination = allowance.examination_;
      auto stream = allowance.stream_;
      if (allowance.magnitudes_.loose()) {
        stream = examination.beside()->stream();
        of_enclosure_.emplace(stream);
        examination.level_two_->wait_in(stream);
      }
      allowed_ = examination.measured(examination.encoding_).start(i, j, stream, [&](double* there) {
        launch_probe(allowance.magnitudes_, allowance.target_, i * allowance.n() + j, there, stream);
      });
    }

    /// Waits for the work.
    [[nodiscard]] double allowed() const { return allowed_.value(); }

   private:
    std::optional<StreamGuard> of_enclosure_;  ///< if another stream reads it
    MeasuredVectors::Number allowed_;
  };

  /// The allowance of the entry in the middle, whose sum of level 1 is in the report. @pre its allowance depends on that alone.
  [[nodiscard]] double allowed_in_middle() const {
    const auto& found = examination_.report();
    const auto row = found.a.vector(m() / 2), column = found.b.vector(n() / 2);
    const bool no_error = row.scale.special || column.scale.special || row.norms.zero() || column.norms.zero();
    if (no_error) return std::numeric_limits<double>::infinity();
    return multiply_lower(target_.factor, level_one(found.middle, 1, 1, examination_.k_).lower);
  }

  /// True if an entry's allowance depends on its level 1 alone, unless level 1 is loose.
  [[nodiscard]] bool by_level_one_sums() const {
    return !normwise() && magnitudes_.one.narrow != nullptr && target_.row_norms == nullptr && target_.beta == 0;
  }

  /// @pre an entry's allowance depends on its level 1 alone.
  [[nodiscard]] double largest_ratio(const SumsBound& bound) const {
    const auto& side = bound.of() == ResidueBoundKind::Of::row_sums ? bound.report().a : bound.report().b;
    constexpr double below = 1 - 0x1p-40;  // a much larger margin than the roundings of a ratio
    double largest = 0, most = 0;          // the ratio, and the quotient of sums from which it comes
    for (Index i = 0; i < side.count(); ++i) {
      const auto least = side.least_sum(i);
      if (!least || static_cast<double>(side.sum(i)) < most * *least * below) continue;
      most = std::max(most, static_cast<double>(side.sum(i)) / *least);
      const double error = multiply_upper(side.sum_upper(i), 1);
      const double allowed = multiply_lower(target_.factor, level_one(*least, 1, 1, examination_.k_).lower);
      largest = std::max(largest, ratio_upper(error, allowed));
    }
    return largest;
  }

  [[nodiscard]] Worst worst_of_bound(const DevicePlanBound& bound) const { return Search(*this, bound).worst(); }

  /// The bound as sums of this examination's looks; null for other bounds.
  [[nodiscard]] const SumsBound* sums_of_looks(const PlanBound& bound) const {
    const auto* const sums = dynamic_cast<const SumsBound*>(bound.remote.get());
    return sums != nullptr && &sums->report() == &examination_.report() ? sums : nullptr;
  }

  /// The same sums in device memory.
  [[nodiscard]] LookedPlanBound looked(const SumsBound& sums) const {
    return {{sums.of()}, examination_.looks_, examination_.k_, [&sums] { return sums.fetch(); }, examination_.device_, stream_};
  }

  /// Probes with the levels that are launched. Launches everything before the host waits for any result.
  [[nodiscard]] std::vector<Probe> probe_some(Index per_side) const {
    const Index rows = std::min(per_side, m()), columns = std::min(per_side, n());
    std::vector<Index> of_rows, of_columns, places{0};
    for (Index s = 0; s < rows; ++s) of_rows.push_back(s * m() / rows);
    for (Index t = 0; t < columns; ++t) of_columns.push_back(t * n() / columns);
    for (const Index i : of_rows)
      for (const Index j : of_columns) places.push_back(i * n() + j);
    launch_least_allowing(magnitudes_, target_, probing_.work(), stream_);
    const DeviceArray<PlaceOfEntry> least(1, stream_);
    launch_taking_place(probing_.work(), n(), least.data(), stream_);
    const auto there = copy_to_device(places, stream_);
    const auto copy = [this](void* to, const void* from) {
      check(cudaMemcpyAsync(to, from, sizeof(Index), cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
    };
    copy(there.data(), &least.data()->place);
    const auto count = static_cast<Index>(places.size());
    const DeviceArray<double> allowed_there(count + 1, stream_);  // the bits of the least one's place come last
    launch_probes(magnitudes_, target_, there.data(), count, allowed_there.data(), stream_);
    copy(allowed_there.data() + count, there.data());
    const auto allowed = copy_to_host(allowed_there.data(), count + 1, stream_);
    places[0] = std::bit_cast<Index>(allowed.back());
    of_rows.push_back(places[0] / n()), of_columns.push_back(places[0] % n());
    examination_.measured(examination_.encoding_).expect(std::move(of_rows), std::move(of_columns));
    std::vector<Probe> probes;
    for (std::size_t t = 0; t < places.size(); ++t) probes.push_back({places[t] / n(), places[t] % n(), allowed[t]});
    return probes;
  }

  [[nodiscard]] Index m() const { return magnitudes_.one.m; }
  [[nodiscard]] Index n() const { return magnitudes_.one.n; }

  static Worst worst_of(const LargestEntry& largest, Index n) {
    if (!(largest.value > 0)) return {};
    return {largest.value, largest.place / n, largest.place % n};
  }

  void set_norm() {
    examination_.settle();
    target_.of_norm = true;
    double squares = 0;
    if (m() > 0 && n() > 0) {
      Arena needed;
      NormMatrix::take(needed, m(), n());
      norm_memory_ = Memory(needed.used(), stream_);
      auto arena = norm_memory_.arena();
      norm_ = NormMatrix::take(arena, m(), n());
      launch_norm_matrix(norm_, magnitudes_, target_, stream_);
      for (const double sum : copy_to_host(norm_.row_sums, m(), stream_)) squares = add_lower(squares, sum);
      const auto scale = copy_to_host(norm_.scale, 1, stream_)[0];
      if (scale != 0) norm_scale_ = static_cast<std::int64_t>(scale) - static_cast<std::int64_t>(NormMatrix::no_scale);
    }
    norm_allowed_ = multiply_lower(target_.factor, squares == 0 ? 0 : next_down(std::sqrt(squares)));
  }

  [[nodiscard]] DeviceArray<double> norms_of(DeviceFactsCache& vectors) const {
    const auto& facts = vectors.all({{Encoding::Kind::truncated, 7}, 1}, {0, 0});
    std::vector<double> norms;
    for (const auto squares : copy_to_host(facts.floor_squares, facts.count, stream_))
      norms.push_back(euclidean_lower(squares));
    auto copied = copy_to_device(norms, stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return copied;
  }

  DeviceExamination& examination_;
  const DeviceMagnitudes& magnitudes_;
  cudaStream_t stream_;
  LargestMemory probing_;
  DeviceArray<double> row_norms_, column_norms_;
  EntryTarget target_;
  Memory norm_memory_;
  NormMatrix norm_;  ///< for normwise targets, as is norm_scale_
  std::int64_t norm_scale_ = 0;
  double norm_allowed_ = 0;
  mutable std::map<std::pair<Index, Index>, double> allowed_;  ///< allowances of probed entries
};

DeviceExamination::DeviceExamination(const RealProduct& product, const Encoding& encoding, Kernels& kernels,
                                     const CudaEngine::Options& engine, cudaStream_t stream,
                                     std::shared_ptr<const SideStream> side, std::shared_ptr<LentStreams> streams)
    : of_(product),
      encoding_(encoding),
      kernels_(kernels),
      engine_(engine),
      device_(engine.device),
      by_tensor_cores_(engine.search_by_tensor_cores),
      stream_(stream),
      m_(of_.a.rows()),
      n_(of_.b.cols()),
      k_(of_.a.cols()),
      a_(of_.a, "a", stream),
      b_(of_.b, "b", stream),
      c0_(is_zero(of_.beta) ? InputView() : of_.c0, "c0", stream),
      side_(std::move(side)),
      streams_(std::move(streams)),
      looks_(a_.matrix(), b_.matrix(), m_, n_, k_, stream),
      rows_(a_.matrix(), m_, k_, looks_.a(), stream),
      columns_(transposed(b_.matrix()), n_, k_, looks_.b(), stream) {}

DeviceExamination::~DeviceExamination() = default;

PlanBound DeviceExamination::bound(const Plan& plan) {
  return plan.visit([this](const SplitPlan& slices) { return bound_of_slices(slices); },
                    [this](const ResiduePlan& residues) { return bound_of_residues(residues); });
}

double DeviceExamination::error_at(const Plan& plan, double uniform, Index i, Index j) {
  return plan.visit([&](const SplitPlan& slices) { return error_of_slices_at(slices, uniform, i, j); },
                    [&](const ResiduePlan& residues) {  // the scales of residues are the product's
                      return residue_entry_error_upper(report().a.vector(i), report().b.vector(j), residues, k_);
                    });
}

PlanBound DeviceExamination::bound_of_slices(const SplitPlan& plan) {
  const CudaDevice current(device_);
  const PlanTerms terms(plan, k_);
  const auto& rows = rows_.all(plan.a, terms.parts_of_rows());
  const auto& columns = columns_.all(plan.b, terms.parts_of_columns());
  return remote_bound(std::make_shared<const MeasuredPlanBound>(plan, k_, rows, columns, device_, stream_, side_));
}

double DeviceExamination::error_of_slices_at(const SplitPlan& plan, double uniform, Index i, Index j) {
  const auto& row = measured(plan.a.encoding).row(i, plan.a.slices);
  const auto& column = measured(plan.b.encoding).column(j, plan.b.slices);
  const auto shift = std::int64_t{row.scale.exponent} + column.scale.exponent - exponent(i, j);
  return rescaled_upper(entry_error_upper(row, column, plan, k_, uniform), shift);
}

MeasuredVectors& DeviceExamination::measured(Encoding encoding) {
  for (const auto& [of, vectors] : measured_)
    if (of == encoding) return *vectors;
  measured_.emplace_back(encoding, std::make_unique<MeasuredVectors>(a_.matrix(), b_.matrix(), k_, encoding, device_, stream_));
  return *measured_.back().second;
}

std::int64_t DeviceExamination::exponent(Index i, Index j) {
  return std::int64_t{report().a.vector(i).scale.exponent} + report().b.vector(j).scale.exponent;
}

PlanBound DeviceExamination::bound_of_residues(const ResiduePlan& plan) {
  const CudaDevice current(device_);
  auto on_host = [report = shared_report(), plan, k = k_] { return residue_plan_bound(*report, plan, k); };
  const ResidueBoundKind kind{ResidueBoundKind::Of::plan, plan.bits_a, plan.bits_b};
  return remote_bound(std::make_shared<const LookedPlanBound>(kind, looks_, k_, std::move(on_host), device_, stream_));
}

bool DeviceExamination::holds(const ResiduePlan& plan) {
  if (enclosure_ != nullptr && level_one_holds(plan)) return true;  // known results cost nothing
  if (!find_not_held(plan, norms_of(report().a.vectors()), norms_of(report().b.vectors()), k_)) return true;
  return level_one_holds(plan);
}

bool DeviceExamination::level_one_holds(const ResiduePlan& plan) {
  const CudaDevice current(device_);
  find_enclosure();
  const auto& found = report();
  return covers_first_digits(found.a.vectors(), plan.bits_a) && covers_first_digits(found.b.vectors(), plan.bits_b) &&
         first_digits_held(plan, found.largest_units);
}

std::optional<ResidueFacts> DeviceExamination::residue_facts() {
  const CudaDevice current(device_);
  find_enclosure();
  const auto& found = shared_report();
  const auto sums = [&found](ResidueBoundKind::Of of) { return remote_bound(std::make_shared<const SumsBound>(of, found)); };
  return ResidueFacts{sums(ResidueBoundKind::Of::row_sums), sums(ResidueBoundKind::Of::column_sums), found->a.exact_bits(),
                      found->b.exact_bits(), found->largest_units};
}

// The looks suffice; level 1 need not be launched.
std::optional<OuterRanges> DeviceExamination::outer_ranges() {
  return OuterRanges{report().a.outer_range(), report().b.outer_range()};
}

std::unique_ptr<Allowance> DeviceExamination::allowance(const Target& target, double factor) {
  const CudaDevice current(device_);
  find_enclosure();
  if (target.kind != Target::Kind::normwise) measure_middle();
  return std::make_unique<DeviceAllowance>(*this, target, factor);
}

const std::shared_ptr<const LentStream>& DeviceExamination::beside() {
  if (beside_ == nullptr) beside_ = streams_->lend();
  return beside_;
}

// The kernels take few multiprocessors, and fill gaps of level 1.
void DeviceExamination::measure_middle() {
  if (m_ == 0 || n_ == 0) return;
  looked_->wait_in(beside()->stream());
  measured(encoding_).start(m_ / 2, n_ / 2, beside()->stream());
}

void DeviceExamination::find_enclosure() {
  if (enclosure_ != nullptr) return;
  looked_.emplace(stream_);
  auto launched = std::make_unique<Enclosure>(looks_, LevelOne(m_, n_, k_, kernels_), stream_);
  level_one_.emplace(stream_);
  report_.reset();
  looks_.start_report(stream_);
  enclosure_ = std::move(launched);
}

// Without the product, a search looks at more tiles. Lack of memory is therefore no failure.
void DeviceExamination::find_leading() {
  const LevelTwo level(m_, n_, k_, kernels_, by_tensor_cores_);
  if (enclosure_->magnitudes.leading != nullptr || !level.has_leading()) return;
  try {
    enclosure_->add_leading(level, stream_);
  } catch (const OutOfMemory&) {
    by_tensor_cores_ = false;
  }
}

bool DeviceExamination::settle() {
  if (settled_) return false;
  if (report().loose) {
    enclosure_->add(LevelTwo(m_, n_, k_, kernels_, by_tensor_cores_), a_.matrix(), b_.matrix(), stream_);
    level_two_.emplace(stream_);
  }
  return settled_ = true;
}

const std::shared_ptr<const FirstLooks::Report>& DeviceExamination::shared_report() {
  if (report_ == nullptr) {
    const CudaDevice current(device_);
    report_ = std::make_shared<const FirstLooks::Report>(looks_.report(stream_));
  }
  return report_;
}

OperandRecord DeviceExamination::record() {
  const auto& found = report();
  return {found.a.print(), found.b.print(), found.a.special(), found.b.special()};
}

}  // namespace ozbound::gpu
