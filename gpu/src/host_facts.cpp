#include "host_facts.hpp"

#include <utility>

#include "transfer.hpp"

namespace ozbound::gpu {

SliceFacts copy_facts_to_host(const DeviceFacts& facts, cudaStream_t stream) {
  const auto norms = copy_to_host(facts.norms, facts.parts() * DeviceFacts::norms_each * facts.count, stream);
  const auto floor_squares = copy_to_host(facts.floor_squares, facts.count, stream);
  const auto exponents = copy_to_host(facts.exponents, facts.count, stream);
  const auto special = copy_to_host(facts.special, facts.count, stream);
  const int slices = facts.slicing.slices;
  const auto weights = copy_to_host(facts.weights, facts.weights == nullptr ? 0 : facts.count * facts.weight_pitch, stream);
  std::vector<VectorFacts> vectors(static_cast<std::size_t>(facts.count));
  for (Index i = 0; i < facts.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto norm = [&](int part, int h) {
      return norms[static_cast<std::size_t>((part * DeviceFacts::norms_each + h) * facts.count + i)];
    };
    const auto norms_of = [&](int part) { return IntegerNorms{norm(part, 0), norm(part, 1), norm(part, 2)}; };
    auto& vector = vectors[at];
    vector.vector = norms_of(0);
    vector.floor_squares = floor_squares[at];
    for (int p = 1; p <= slices; ++p) {
      vector.slices.push_back(norms_of(facts.slice_part(p)));
      vector.tails.push_back(norms_of(facts.tail_part(p)));
    }
    vector.scale = {exponents[at], special[at] != 0};
    if (!weights.empty() && special[at] == 0)
      vector.weights.assign(weights.begin() + i * facts.weight_pitch, weights.begin() + i * facts.weight_pitch + slices);
  }
  return {facts.slicing, std::move(vectors)};
}

}  // namespace ozbound::gpu
