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
  if (launcher.path() != Path::fused) return nullptr;
  try {
    return std::unique_ptr<StartedResidues>(new StartedResidues(product, start, source, std::move(launcher)));
  } catch (const OutOfMemory&) {  // the product may still fit when nothing else takes memory
    return nullptr;
  }
}

StartedResidues::StartedResidues(const RealProduct& product, const ProductStart& start, const Source& source,
                                 ProductLauncher launcher)
    : launcher_(std::move(launcher)),
      stream_(source.stream),
      own_(source.own),
      memory_(bytes(product, start.most_moduli), own_->stream()),
      waiting_(own_->stream()) {
  auto arena = memory_.arena();
  take(arena, product, start.most_moduli);
  const auto own = own_->stream();
  source.level_one.wait_in(own);
  const auto& looks = source.looks;
  launch_residue_choice({looks.a(), looks.b(), looks.row_least(), looks.column_least(), looks.loose(), looks.largest_units(),
                         product.k(), source.factor, start, chosen_, own_->numbers()},
                        own);
  chose_.emplace(own);
  const ResidueForm any{start.most_moduli, most_narrow_bits};
  launch_fast_residues({{matrix_of(product.a), a_}, any}, {{transposed(matrix_of(product.b)), b_}, any}, chosen_, own);
  const LaterPlan later{chosen_, expected_moduli(source.factor, product.k(), start.most_moduli)};
  first_ = launcher_.start(a_, b_, later, sums_, own);
}

std::size_t StartedResidues::bytes(const RealProduct& product, int moduli) {
  Arena needed;
  take(needed, product, moduli);
  return needed.used();
}

void StartedResidues::take(Arena& arena, const RealProduct& product, int moduli) {
  const ResidueForm form{moduli, most_narrow_bits};
  a_ = take_residues(arena, form, product.m(), product.k());
  b_ = take_residues(arena, form, product.n(), product.k());
  chosen_ = arena.take<ChosenResidues>(1);
  const auto bytes = static_cast<std::size_t>(launcher_.bytes());
  sums_ = Arena(arena.take<std::uint8_t>(static_cast<Index>(bytes)), bytes);
}

std::optional<ResiduePlan> StartedResidues::plan() const {
  chose_->wait();
  const auto* const numbers = own_->numbers();
  if (numbers[0] == 0) return std::nullopt;
  return ResiduePlan{numbers[0], numbers[1], numbers[2]};
}

void StartedResidues::finish(const RealProduct& product) {
  const DeviceEpilogue epilogue{
      .alpha = product.alpha, .beta = product.beta, .c0 = matrix_of(product.c0), .c = matrix_of(product.c.as_input())};
  StreamMark(own_->stream()).wait_in(stream_);
  launcher_.finish(*plan(), first_, a_, b_, epilogue, sums_, stream_);
  StreamMark(stream_).wait_in(own_->stream());
}

}  // namespace ozbound::gpu
