// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "ozbound/bounds/prepared_operand.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/slice_facts.hpp"

namespace ozbound {

/// Facts of one operand under every requested slicing, of all its vectors or of one vector. Measured on first use.
class FactsCache {
 public:
  /// `prepared` may be null. Its facts, if any, are not measured again.
  FactsCache(InputView operand, Side side, const PreparedOperand* prepared, const Engine& engine)
      : operand_(operand), side_(side), prepared_(prepared), engine_(engine) {}

  const std::vector<VectorFacts>& all(const Slicing& slicing) {
    const auto* known = find(slicing);
    if (known == nullptr) known = add(all_, operand_, slicing);
    return known->vectors;
  }

  const VectorFacts& one(Index i, const Slicing& slicing) {
    if (const auto* known = find(slicing)) return known->vectors[static_cast<std::size_t>(i)];
    auto& single = single_[i];
    const auto* known = among(single, slicing);
    if (known == nullptr) known = add(single, vector(i), slicing);
    return known->vectors.front();
  }

 private:
  using Measured = std::vector<std::unique_ptr<SliceFacts>>;

  static const SliceFacts* among(const Measured& measured, const Slicing& slicing) {
    for (const auto& facts : measured)
      if (facts->slicing == slicing) return facts.get();
    return nullptr;
  }

  const SliceFacts* add(Measured& measured, InputView vectors, const Slicing& slicing) {
    return measured.emplace_back(std::make_unique<SliceFacts>(engine_.measure(vectors, side_, slicing))).get();
  }

  [[nodiscard]] const SliceFacts* find(const Slicing& slicing) const {
    const auto* prepared = prepared_ == nullptr ? nullptr : prepared_->facts(slicing);
    return prepared != nullptr ? prepared : among(all_, slicing);
  }

  [[nodiscard]] InputView vector(Index i) const {
    return side_ == Side::rows_of_a ? operand_.block(i, 0, 1, operand_.cols()) : operand_.block(0, i, operand_.rows(), 1);
  }

  InputView operand_;
  Side side_;
  const PreparedOperand* prepared_;
  const Engine& engine_;
  Measured all_;
  std::map<Index, Measured> single_;
};

}  // namespace ozbound
