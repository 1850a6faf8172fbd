// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/gpu/certified_gemm.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arena.hpp"
#include "conditional_work.hpp"
#include "cuda_device.hpp"
#include "device_fingerprint.hpp"
#include "fast_residues.hpp"
#include "first_looks.hpp"
#include "largest.hpp"
#include "level_one.hpp"
#include "native_launcher.hpp"
#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/detail/residue_facts.hpp"
#include "ozbound/bounds/detail/target_share.hpp"
#include "ozbound/core/float_environment.hpp"
#include "product_launcher.hpp"
#include "product_on_device.hpp"
#include "recovered_facts.hpp"
#include "residue_bounds.hpp"
#include "residue_choice.hpp"
#include "residues.hpp"
#include "side_stream.hpp"
#include "specials.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

constexpr Index residue_outer_products = 2;

Index checked(Index size, const char* name) {
  if (size < 1) throw std::invalid_argument(std::string(name) + " must be positive: " + std::to_string(size));
  return size;
}

Target checked(const Target& target) {
  using Kind = Target::Kind;
  if (target.kind != Kind::dgemm && target.kind != Kind::dgemm_typical && target.kind != Kind::componentwise)
    throw std::invalid_argument("target: must be dgemm, dgemm-typical or componentwise, not " + to_string(target));
  if (std::isnan(target.tau)) throw std::invalid_argument("target: tau must not be NaN");
  return target;
}

int checked_moduli(int moduli, int most, const char* name) {
  if (moduli < 2 || moduli > most)
    throw std::invalid_argument(std::string(name) + " must be 2 … " + std::to_string(most) + ": " + std::to_string(moduli));
  return moduli;
}

double checked_bytes(double sum_bytes) {
  if (!(sum_bytes > 0)) throw std::invalid_argument("sum_bytes must be positive");
  return sum_bytes;
}

/// The least number of moduli for which kernels are launched.
int least_moduli(const CertifiedGemm::Options& options, double factor, Index k) {
  constexpr int fewer = 4;  // than expected: operands that are alike in all vectors, and short numbers
  if (options.least_moduli != 0) return checked_moduli(options.least_moduli, options.most_moduli, "least_moduli");
  return std::max(2, expected_moduli(factor, k, options.most_moduli) - fewer);
}

/// The number of the capture that a stream belongs to: 0 if there is none, ~0 if the capture has failed.
unsigned long long capture_of(cudaStream_t stream) {
  constexpr auto failed = ~0ULL;
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
  check(cudaStreamGetCaptureInfo(stream, &status, &id), "cudaStreamGetCaptureInfo");
  return status == cudaStreamCaptureStatusNone ? 0 : status == cudaStreamCaptureStatusActive ? id : failed;
}

/// Streams for work beside that of a caller's stream, for one call at a time.
struct SideStreams {
  static constexpr std::size_t most = 7;

  std::array<SideStream, most> all;
  std::mutex in_use;
};

/// Some of these streams. Their work begins after that of the caller's stream, which waits for it when this object is
/// destroyed. There are fewer streams than wanted, or none, while another call uses them or they belong to another capture.
class Beside {
 public:
  Beside(SideStreams& sides, cudaStream_t stream, std::size_t wanted) : stream_(stream) {
    if (wanted == 0) return;  // the caller may have locked the streams already
    one_call_ = std::unique_lock(sides.in_use, std::try_to_lock);
    if (!one_call_.owns_lock()) return;
    const auto capture = capture_of(stream);
    const StreamMark until_now(stream);
    for (const auto& side : sides.all) {
      if (streams_.size() == wanted) break;
      const auto own = capture_of(side.stream());
      if (own != 0 && own != capture) continue;
      until_now.wait_in(side.stream());
      streams_.push_back(side.stream());
    }
  }

  /// Waits also after an exception, and then ignores errors: the caller's stream must not seem to be done.
  ~Beside() {
    try {
      join();
    } catch (const std::exception&) {
    }
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  [[nodiscard]] const std::vector<cudaStream_t>& streams() const { return streams_; }

  /// Makes the caller's stream wait for the work on these streams.
  void join() {
    for (; !streams_.empty(); streams_.pop_back()) StreamMark(streams_.back()).wait_in(stream_);
  }

 private:
  std::unique_lock<std::mutex> one_call_;
  cudaStream_t stream_;
  std::vector<cudaStream_t> streams_;
};

/// The parts of a workspace. Without a block, they only count.
struct Parts {
  FirstLooks looks;
  DeviceSlices a, b;
  ChosenResidues* chosen;
  std::int32_t* told;
  LargestWork worst;
  RecoveredFacts facts;
  std::int32_t* native;  ///< 1 if native DGEMM computes C
  Arena level_one, sums, bound, of_native;

  struct Bytes {
    std::size_t level_one = 0, sums = 0, bound = 0, of_native = 0;
  };

  Parts(Index m, Index n, Index k, int moduli, const Bytes& bytes, Arena& arena)
      : looks(m, n, k, arena),
        a(take_residues(arena, {moduli, most_narrow_bits}, m, k)),
        b(take_residues(arena, {moduli, most_narrow_bits}, n, k)),
        chosen(arena.take<ChosenResidues>(1)),
        told(arena.take<std::int32_t>(3)),
        worst(LargestWork::take(arena, residue_outer_products, m, n)),
        facts(RecoveredFacts::take(arena, m, n)),
        native(arena.take<std::int32_t>(1)),
        level_one(part(arena, bytes.level_one)),
        sums(part(arena, bytes.sums)),
        bound(part(arena, bytes.bound)),
        of_native(part(arena, bytes.of_native)) {}

 private:
  static Arena part(Arena& arena, std::size_t bytes) { return {arena.take<std::uint8_t>(static_cast<Index>(bytes)), bytes}; }
};

}  // namespace

struct CertifiedGemm::Work {
  const CudaBackend& backend;
  int device;
  Target target;
  Index m, n, k;
  int most_moduli;
  double tau, factor;
  Kernels& kernels;
  LevelOne level_one;
  ProductLauncher launcher;
  std::size_t bytes = 0;
  Parts::Bytes of_parts;
  ProductStart start;
  mutable SideStreams sides;

  /// Native DGEMM, where it may certify the target.
  struct Native {
    std::unique_ptr<const NativeLauncher> launcher;
    ExponentRange range;  ///< native_range
    ConditionalWork conditionally;
  };
  std::unique_ptr<const Native> native;  ///< null if native DGEMM is never chosen

  Work(const CudaBackend& of, int on, Kernels& with, const Target& for_target, Index rows, Index columns, Index inner,
       const Options& options)
      : backend(of),
        device(on),
        target(checked(for_target)),
        m(checked(rows, "m")),
        n(checked(columns, "n")),
        k(checked(inner, "k")),
        most_moduli(checked_moduli(options.most_moduli, max_moduli, "most_moduli")),
        tau(target_tau(target, k, binary64, false)),
        factor(share_before_rounding_lower(tau, unit_roundoff(binary64))),
        kernels(with),
        level_one(m, n, k, kernels),
        launcher(ResiduePlan{most_moduli, most_narrow_bits, most_narrow_bits}, m, n, k, checked_bytes(options.sum_bytes),
                 Path::automatic, kernels),
        start{most_moduli, least_moduli(options, factor, k), {}, {0, 0, 0}} {
    check_attainable(target, tau, unit_roundoff(binary64));
    if (launcher.path() != Path::fused || !has_clusters() || !level_one.narrow())
      throw std::invalid_argument("the device has no kernels for certified products of " + std::to_string(m) + " x " +
                                  std::to_string(n) + " x " + std::to_string(k) + " that choose their plan");
    level_one.prepare();
    if (options.native) native = native_for_target();
    limit_moduli();
    Arena of_looks, of_level, of_bound, all;
    const FirstLooks looks(m, n, k, of_looks);
    level_one.launch(looks, of_level, nullptr);
    launch_residue_bound({ResidueBoundKind::Of::plan}, looks.a(), looks.b(), k, of_bound, nullptr);
    of_parts = {of_level.used(), static_cast<std::size_t>(launcher.bytes()), of_bound.used(),
                native == nullptr ? 0 : NativeLauncher::workspace_bytes};
    static_cast<void>(parts(all));
    bytes = (all.used() + Arena::alignment - 1) / Arena::alignment * Arena::alignment;
  }

  /// Null if native DGEMM certifies the target for no operands, or cannot be launched so.
  [[nodiscard]] std::unique_ptr<const Native> native_for_target() const {
    const auto* const known = backend.backend().native();
    const auto range = known == nullptr ? std::nullopt : native_range(*known, k, target);
    if (!range || !ConditionalWork::available()) return nullptr;
    auto launching = make_cublas_launcher(device);
    if (launching == nullptr) return nullptr;
    auto made = std::make_unique<Native>();
    made->launcher = std::move(launching), made->range = *range;
    return made;
  }

  /// Limits the moduli of a plan to those at which it costs no more than native DGEMM, if that certifies.
  void limit_moduli() {
    const auto of_backend = backend.backend();
    const auto& costs = of_backend.costs();
    const double limit = native == nullptr ? std::numeric_limits<double>::infinity() : costs.native(m, n, k);
    for (int bits = 0; bits <= most_residue_bits; ++bits) {
      int most = 1;  // no plan has a single modulus
      while (most < most_moduli && costs.planned(ResiduePlan{most + 1, bits, bits}, m, n, k) <= limit) ++most;
      start.most_by_bits[bits] = static_cast<std::uint8_t>(most);
    }
  }

  [[nodiscard]] Parts parts(Arena& arena) const { return {m, n, k, most_moduli, of_parts, arena}; }

  void check_kind(const RealProduct& product) const {
    if (product.m() != m || product.n() != n || product.k() != k)
      throw std::invalid_argument("the call must be " + std::to_string(m) + " x " + std::to_string(n) + " x " +
                                  std::to_string(k));
    if (product.alpha != 1 || product.beta != 0 || !product.c.is_double())
      throw std::invalid_argument("alpha must be 1, beta 0, and c of doubles");
  }

  void check_call(const RealProduct& product) const {
    check_kind(product);
    product.check();
    if (!all_on_device(product)) throw std::invalid_argument("a, b and c must lie in the device's memory");
    const ResidueForm any{most_moduli, most_narrow_bits};
    // The kernels of the looks, too, then need no memory of their own.
    if (!fast_residues_apply(matrix_of(product.a), any) || !fast_residues_apply(transposed(matrix_of(product.b)), any))
      throw std::invalid_argument("a and b must be row-major or column-major");
  }

  /// @param most_beside streams that the product may use beside this one: 0 or 1
  void launch(const RealProduct& product, Arena arena, cudaStream_t stream, std::size_t most_beside) const {
    auto part = parts(arena);
    const auto a = matrix_of(product.a), b = matrix_of(product.b);
    const auto& looks = part.looks;
    looks.launch(a, b, k, stream);
    const DeviceMagnitudes magnitudes{level_one.launch(looks, part.level_one, stream), {}, {}};
    const bool may_be_native = native != nullptr && native->launcher->takes(product);
    auto limits = start;
    if (!may_be_native) std::ranges::fill(limits.most_by_bits, static_cast<std::uint8_t>(most_moduli));
    check(cudaMemsetAsync(part.native, 0, sizeof *part.native, stream), "cudaMemsetAsync");
    launch_residue_choice({looks.a(), looks.b(), looks.row_least(), looks.column_least(), looks.loose(), looks.largest_units(),
                           k, factor, limits, part.chosen, part.told,
                           may_be_native ? NativeChoice{part.native, native->range.least, native->range.top} : NativeChoice{}},
                          stream);
    Beside beside(sides, stream, most_beside);  // where the worst entry is found while the product is multiplied
    const auto searching = beside.streams().empty() ? stream : beside.streams()[0];
    const auto made =
        launch_residue_bound({ResidueBoundKind::Of::plan, 0, 0, part.chosen}, looks.a(), looks.b(), k, part.bound, searching);
    const BoundWithScales bound{made.bound, made.row_exponents, made.column_exponents};
    EntryTarget of_entries;
    of_entries.factor = factor;
    auto& facts = part.facts;
    facts.error = bound;
    facts.prepare({looks.a().digits.special, looks.b().digits.special}, searching);
    launch_worst_entry(bound, magnitudes, of_entries, part.worst, searching);
    launch_scaled_residues({{a, part.a}, looks.a().digits}, {{transposed(b), part.b}, looks.b().digits}, part.chosen, stream);
    const DeviceEpilogue epilogue{.c = matrix_of(product.c.as_input())};
    bool joined = false;
    const auto recover = [&](const Combination& combination, int moduli, const Block& block,
                             const FusedResidues::Bytes& residues) {
      if (!joined) beside.join(), joined = true;  // the kernels compare with estimates of the bound
      launch_recovery(combination, moduli, part.a, part.b, block, residues, epilogue, {a, b, k}, part.chosen, facts, stream);
    };
    launcher.launch_later(part.a, part.b, {part.chosen, expected_moduli(factor, k, most_moduli), start.least_moduli}, part.sums,
                          stream, recover);
    if (may_be_native) launch_native(product, part, {a, b, k}, epilogue, stream);
  }

  /// Launches native DGEMM, the special entries that it would get wrong, and the fingerprint of C.
  void launch_native(const RealProduct& product, Parts& part, const OperandPair& operands, const DeviceEpilogue& epilogue,
                     cudaStream_t stream) const {
    auto* const workspace = part.of_native.take<std::uint8_t>(NativeLauncher::workspace_bytes);
    auto rows = part.looks.a().digits, columns = part.looks.b().digits;
    rows.any_special = columns.any_special = nullptr;  // a look does not tell
    ConditionalWork::Key key{reinterpret_cast<std::uintptr_t>(workspace)};
    for (const auto& matrix : {operands.a, operands.b, epilogue.c}) {
      key.push_back(reinterpret_cast<std::uintptr_t>(matrix.data));
      key.push_back(static_cast<std::uint64_t>(matrix.row_stride)),
          key.push_back(static_cast<std::uint64_t>(matrix.col_stride));
    }
    native->conditionally(
        part.native, key,
        [&](cudaStream_t body) {
          native->launcher->launch(product, workspace, body);
          launch_specials(operands, rows, columns, epilogue, body);
          launch_fingerprint(epilogue.c, m, n, part.facts.work.prints, body);
        },
        stream);
  }

  [[nodiscard]] std::optional<StreamRecord> record(Arena arena, cudaStream_t stream) const {
    auto part = parts(arena);
    part.looks.start_report(stream);
    const auto told = copy_to_host(part.told, 3, stream);
    StreamRecord record;
    record.native = copy_to_host(part.native, 1, stream)[0] != 0;
    const auto largest = copy_to_host(part.worst.result, 1, stream)[0].entry;
    const auto facts = RecoveredFacts::result(copy_to_host(part.facts.work.best, RecoveredFacts::words, stream).data());
    const auto report = part.looks.report(stream);
    record.plan = {told[0], told[1], told[2]};
    record.operands = {report.a.print(), report.b.print(), report.a.special(), report.b.special()};
    record.ranges = {report.a.outer_range(), report.b.outer_range()};
    record.of_c = {facts.print, facts.entry.value, facts.infinite};
    if (record.native) return record;
    if (record.plan.moduli == 0) return std::nullopt;
    record.bound = residue_plan_bound(report, record.plan, k);
    if (largest.value > 0) record.worst = {largest.value, largest.place / n, largest.place % n};
    return record;
  }
};

CertifiedGemm::CertifiedGemm(const CudaBackend& backend, const Target& target, Index m, Index n, Index k, Options options) {
  const FloatEnvironment environment;
  const auto& engine = backend.engine();
  const CudaDevice device(engine.options_.device);
  work_ = std::make_unique<const Work>(backend, engine.options_.device, *engine.kernels_, target, m, n, k, options);
}

CertifiedGemm::~CertifiedGemm() = default;

std::size_t CertifiedGemm::workspace() const { return work_->bytes; }

namespace {

Arena arena_in(const void* workspace, std::size_t bytes) {
  if (workspace == nullptr) throw std::invalid_argument("workspace must not be null");
  if (reinterpret_cast<std::uintptr_t>(workspace) % Arena::alignment != 0)
    throw std::invalid_argument("workspace must be aligned to " + std::to_string(Arena::alignment) + " bytes");
  return {const_cast<void*>(workspace), bytes};
}

}  // namespace

void CertifiedGemm::operator()(const RealProduct& product, void* workspace, Stream stream) const {
  const FloatEnvironment environment;
  const CudaDevice device(work_->device);
  work_->check_call(product);
  work_->launch(product, arena_in(workspace, work_->bytes), stream, 1);
}

void CertifiedGemm::operator()(std::span<const RealProduct> products, void* workspace, Stream stream) const {
  const FloatEnvironment environment;
  const CudaDevice device(work_->device);
  for (const auto& product : products) work_->check_call(product);
  if (products.empty()) return;
  static_cast<void>(arena_in(workspace, work_->bytes));  // checks the address
  if (products.size() == 1) return (*this)(products[0], workspace, stream);
  Beside beside(work_->sides, stream, std::min(products.size() - 1, SideStreams::most));
  const auto sides = beside.streams();
  for (std::size_t t = 0; t < products.size(); ++t) {
    const std::size_t lane = t % (sides.size() + 1);
    auto* const own = static_cast<std::uint8_t*>(workspace) + t * work_->bytes;
    work_->launch(products[t], arena_in(own, work_->bytes), lane == 0 ? cudaStream_t{stream} : sides[lane - 1], 0);
  }
  beside.join();
}

std::optional<Multiplied> CertifiedGemm::record(const RealProduct& product, const void* workspace, Stream stream) const {
  const FloatEnvironment environment;
  const CudaDevice device(work_->device);
  work_->check_kind(product);
  auto found = work_->record(arena_in(workspace, work_->bytes), stream);
  return found ? multiplied_in_stream(product, work_->target, work_->backend.backend(), *std::move(found)) : std::nullopt;
}

std::optional<StreamRecord> CertifiedGemm::stream_record(const void* workspace, Stream stream) const {
  const FloatEnvironment environment;
  const CudaDevice device(work_->device);
  return work_->record(arena_in(workspace, work_->bytes), stream);
}

}  // namespace ozbound::gpu
