// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/in_stream.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/detail/target_share.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {

struct ProductInStream::State {
  Machine machine;
  const Backend* backend;  ///< of the machine, with a launcher
  RealProduct product;
  Target target;
  std::unique_ptr<LaunchedProduct> launched;  ///< null: the product was not launched, or is known to be done
  std::optional<Multiplied> result = {};
};

ProductInStream::ProductInStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProductInStream::~ProductInStream() = default;
ProductInStream::ProductInStream(ProductInStream&&) noexcept = default;
ProductInStream& ProductInStream::operator=(ProductInStream&&) noexcept = default;

const Multiplied& ProductInStream::wait() {
  const FloatEnvironment environment;
  auto& [machine, backend, product, target, launched, result] = *state_;
  if (launched != nullptr) {
    if (auto record = launched->wait()) result = multiplied_in_stream(product, target, *backend, *std::move(record));
    launched.reset();
    if (result) machine.choose_backend(result->decision, product.c.place());
  }
  if (!result) result = multiply(product, target, machine);
  return *result;
}

ProductInStream multiply_in_stream(const RealProduct& product, const Target& target, const Machine& machine, void* stream) {
  const FloatEnvironment environment;
  product.check();
  const auto& format = product.c.format();
  if (target.kind != Target::Kind::correctly_rounded)
    check_attainable(target, target_tau(target, product.k(), format, has_scalars(product.alpha, product.beta)),
                     unit_roundoff(format));
  auto state = std::make_unique<ProductInStream::State>(ProductInStream::State{machine, nullptr, product, target, nullptr});
  const auto backends = state->machine.backends();
  const auto found = std::ranges::find_if(backends, [](const Backend& of) { return of.launcher() != nullptr; });
  if (found == backends.end()) throw std::invalid_argument("machine: has no device that has streams");
  state->backend = &*found;
  if (found->reaches(product.c.place())) state->launched = found->launcher()->launch(product, target, stream);
  if (state->launched == nullptr) {
    found->launcher()->wait(stream);
    state->result = multiply(product, target, state->machine);
  }
  return ProductInStream(std::move(state));
}

}  // namespace ozbound
