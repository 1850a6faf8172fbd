// SPDX-License-Identifier: BSD-3-Clause
#include "started_residues.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "cuda_device.hpp"
#include "device_plan_bound.hpp"
#include "fast_residues.hpp"
#include "marked_entries.hpp"
#include "product_on_device.hpp"
#include "recovered_facts.hpp"
#include "recovery.hpp"
#include "residue_choice.hpp"
#include "residues.hpp"
#include "started_copy.hpp"

namespace ozbound::gpu {
namespace {

/// RecoveredFacts with their memory.
struct FactsOfC {
  Memory memory;
  RecoveredFacts of;
  std::optional<StartedCopy> copy;

  FactsOfC(const BoundWithScales& error, const RoundingError& rounding, cudaStream_t stream) {
    const Index m = error.bound.m, n = error.bound.n;
    Arena needed;
    RecoveredFacts::take(needed, m, n);
    memory = Memory(needed.used(), stream);
    auto arena = memory.arena();
    of = RecoveredFacts::take(arena, m, n);
    of.error = error, of.rounding = rounding;
  }

  void start_copy(cudaStream_t stream) { copy.emplace(of.work.best, of.work.best + RecoveredFacts::words, stream); }

  [[nodiscard]] ResultFacts wait() const {
    const auto found = RecoveredFacts::result(copy->wait().at(of.work.best));
    return {found.print, found.entry.value, found.infinite};
  }
};

}  // namespace

std::unique_ptr<StartedResidues> StartedResidues::of(const RealProduct& product, const ProductStart& start,
                                                     const Source& source) {
  const ResidueForm form{start.most_moduli, most_narrow_bits};
  const auto a = matrix_of(product.a), b = transposed(matrix_of(product.b));
  if (std::max(start.known.bits_a, start.known.bits_b) > most_narrow_bits) return nullptr;
  if (!has_clusters() || !fast_residues_apply(a, form) || !fast_residues_apply(b, form)) return nullptr;
  ProductLauncher launcher(ResiduePlan{form.moduli, form.bits, form.bits}, product.m(), product.n(), product.k(),
                           source.engine.sum_bytes, source.engine.path, source.kernels);
  const auto needed = bytes(product, start.most_moduli, launcher);
  if (launcher.path() != Path::fused || source.own->numbers() == nullptr || source.own->lacks(needed)) return nullptr;
  try {
    return std::unique_ptr<StartedResidues>(new StartedResidues(product, start, source, std::move(launcher)));
  } catch (const OutOfMemory&) {  // the product may still fit when nothing else takes memory
    source.own->note_lack(needed);
    return nullptr;
  }
}

StartedResidues::StartedResidues(const RealProduct& product, const ProductStart& start, const Source& source,
                                 ProductLauncher launcher)
    : launcher_(std::move(launcher)),
      device_(source.engine.device),
      stream_(source.stream),
      own_(source.own),
      looks_(source.looks.memory()),
      specials_{source.looks.a().digits.special, source.looks.b().digits.special},
      memory_(bytes(product, start.most_moduli, launcher_), own_->stream()),
      waiting_(own_->stream()) {
  auto arena = memory_.arena();
  parts_ = take(arena, product, start.most_moduli, launcher_);
  const auto own = own_->stream();
  source.level_one.wait_in(own);
  const auto& looks = source.looks;
  const auto& known = start.known;
  if (known.moduli > 0) {
    launch_known_plan(known, parts_.chosen, own);
    std::ranges::copy(std::array{known.moduli, known.bits_a, known.bits_b}, own_->numbers());
  } else {
    launch_residue_choice({looks.a(), looks.b(), looks.row_least(), looks.column_least(), looks.loose(), looks.largest_units(),
                           product.k(), source.factor, start, parts_.chosen, own_->numbers()},
                          own);
  }
  chose_.emplace(own);
  launch_scaled_residues({{matrix_of(product.a), parts_.a}, looks.a().digits},
                         {{transposed(matrix_of(product.b)), parts_.b}, looks.b().digits}, parts_.chosen, own);
  const int expected = known.moduli > 0 ? known.moduli : expected_moduli(source.factor, product.k(), start.most_moduli);
  const LaterPlan later{parts_.chosen, expected, start.least_moduli};
  first_ = launcher_.start(parts_.a, parts_.b, later, parts_.sums, own);
}

StartedResidues::Parts StartedResidues::take(Arena& arena, const RealProduct& product, int moduli,
                                             const ProductLauncher& launcher) {
  const ResidueForm form{moduli, most_narrow_bits};
  const auto sum_bytes = static_cast<std::size_t>(launcher.bytes());
  Parts parts;
  parts.a = take_residues(arena, form, product.m(), product.k());
  parts.b = take_residues(arena, form, product.n(), product.k());
  parts.chosen = arena.take<ChosenResidues>(1);
  parts.sums = Arena(arena.take<std::uint8_t>(static_cast<Index>(sum_bytes)), sum_bytes);
  return parts;
}

std::size_t StartedResidues::bytes(const RealProduct& product, int moduli, const ProductLauncher& launcher) {
  Arena needed;
  take(needed, product, moduli, launcher);
  return needed.used();
}

std::optional<ResiduePlan> StartedResidues::plan() const {
  chose_->wait();
  const auto* const numbers = own_->numbers();
  if (numbers[0] == 0) return std::nullopt;
  return ResiduePlan{numbers[0], numbers[1], numbers[2]};
}

std::function<ResultFacts()> StartedResidues::finish(const RealProduct& product, const RoundingError& rounding,
                                                     const RemotePlanBound* bound) {
  const CudaDevice current(device_);
  const DeviceEpilogue epilogue{
      .alpha = product.alpha, .beta = product.beta, .c0 = matrix_of(product.c0), .c = matrix_of(product.c.as_input())};
  std::shared_ptr<FactsOfC> facts;
  // The scales of such a bound are those of the residues.
  const auto* const kept = dynamic_cast<const LookedPlanBound*>(DevicePlanBound::kept_on(device_, bound));
  if (finds_facts(epilogue) && kept != nullptr && kept->bound().bound.terms == 2 && kept->outer_products() == 2) {
    try {
      facts = std::make_shared<FactsOfC>(kept->bound(), rounding, stream_);
      facts->of.prepare(specials_, stream_);
    } catch (const OutOfMemory&) {  // leaves them to the caller, whose C is then complete
      facts.reset();
    }
  }
  recover([&](const Combination& combination, int moduli, const Block& block, const FusedResidues::Bytes& bytes) {
    if (facts == nullptr)
      launch_recovery(combination, moduli, parts_.a, parts_.b, block, bytes, epilogue, {}, stream_);
    else
      launch_recovery(combination, moduli, parts_.a, parts_.b, block, bytes, epilogue, {}, nullptr, facts->of, stream_);
  });
  if (facts == nullptr) return nullptr;
  facts->start_copy(stream_);
  return [facts = std::move(facts), device = device_] {
    const CudaDevice of_search(device);
    return facts->wait();
  };
}

std::optional<std::vector<Entry>> StartedResidues::finish_decided(const RealProduct& product, ZivBound error) {
  const CudaDevice current(device_);
  DeviceEpilogue epilogue{
      .alpha = product.alpha, .beta = product.beta, .c0 = matrix_of(product.c0), .c = matrix_of(product.c.as_input())};
  std::optional<ZivBoundOnDevice> bound;
  std::optional<MarkedEntries> open;
  try {
    epilogue.bound = bound.emplace(error, product.m(), product.n(), device_, stream_).data();
    open.emplace(product.m(), product.n(), stream_).add_to(epilogue);
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
  recover([&](const Combination& combination, int moduli, const Block& block, const FusedResidues::Bytes& bytes) {
    launch_recovery(combination, moduli, parts_.a, parts_.b, block, bytes, epilogue, {}, stream_);
  });
  auto entries = open->in_order(stream_);
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  return entries;
}

void StartedResidues::recover(const ProductLauncher::Recovery& block) {
  waiting_.also = stream_;  // until the other stream waits for this one
  StreamMark(own_->stream()).wait_in(stream_);
  launcher_.finish(*plan(), first_, parts_.a, parts_.b, parts_.sums, stream_, block);
  StreamMark(stream_).wait_in(own_->stream());
  waiting_.also = nullptr;
}

}  // namespace ozbound::gpu
