// SPDX-License-Identifier: BSD-3-Clause
#include "started_residues.hpp"

#include <utility>

#include "cuda_device.hpp"
#include "fast_residues.hpp"
#include "product_on_device.hpp"
#include "residue_choice.hpp"
#include "residues.hpp"

namespace ozbound::gpu {
std::unique_ptr<StartedResidues> StartedResidues::of(const RealProduct& product, const ProductStart& start,
                                                     const Source& source) {
  const ResidueForm form{start.most_moduli, most_narrow_bits};
  const auto a = matrix_of(product.a), b = transposed(matrix_of(product.b));
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
      memory_(bytes(product, start.most_moduli, launcher_), own_->stream()),
      waiting_(own_->stream()) {
  auto arena = memory_.arena();
  parts_ = take(arena, product, start.most_moduli, launcher_);
  const auto own = own_->stream();
  source.level_one.wait_in(own);
  const auto& looks = source.looks;
  launch_residue_choice({looks.a(), looks.b(), looks.row_least(), looks.column_least(), looks.loose(), looks.largest_units(),
                         product.k(), source.factor, start, parts_.chosen, own_->numbers()},
                        own);
  chose_.emplace(own);
  launch_scaled_residues({{matrix_of(product.a), parts_.a}, looks.a().digits},
                         {{transposed(matrix_of(product.b)), parts_.b}, looks.b().digits}, parts_.chosen, own);
  const LaterPlan later{parts_.chosen, expected_moduli(source.factor, product.k(), start.most_moduli), start.least_moduli};
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

void StartedResidues::finish(const RealProduct& product) {
  const CudaDevice current(device_);
  const DeviceEpilogue epilogue{
      .alpha = product.alpha, .beta = product.beta, .c0 = matrix_of(product.c0), .c = matrix_of(product.c.as_input())};
  waiting_.also = stream_;  // until the other stream waits for this one
  StreamMark(own_->stream()).wait_in(stream_);
  launcher_.finish(*plan(), first_, parts_.a, parts_.b, epilogue, parts_.sums, stream_);
  StreamMark(stream_).wait_in(own_->stream());
  waiting_.also = nullptr;
}

}  // namespace ozbound::gpu
