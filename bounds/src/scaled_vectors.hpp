// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The vectors of an operand as level 2 of the enclosure takes them: magnitudes over 2^exponent, in [0, 1), rounded towards
/// zero to binary32, 0 below 2^-126; a vector with specials is zero. Made when asked for, since few vectors are. Safe to ask
/// from many threads, which allocate nothing. @pre of all members: a FloatEnvironment.
class ScaledVectors {
 public:
  /// @param vectors as rows; @param scales of each, 2^exponent above all its magnitudes. Both must outlive this.
  ScaledVectors(InputView vectors, const std::vector<VectorScale>& scales, int threads);

  /// Where vector i is largest, first of all: known without making it.
  [[nodiscard]] Index place_of_top(Index i) const { return places_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] float element(Index i, Index l) const;

  /// All elements of vector i, contiguous.
  [[nodiscard]] const float* vector(Index i) const;

 private:
  void make(Index first) const;
  [[nodiscard]] Index slow_place_of_top(Index i) const;

  InputView vectors_;
  const std::vector<VectorScale>& scales_;
  Index tile_;                              ///< vectors that are made together
  std::unique_ptr<float[]> elements_;       ///< not set where they were not asked for, nor touched
  std::unique_ptr<std::once_flag[]> made_;  ///< of every tile
  std::vector<Index> places_;
};

}  // namespace ozbound
