// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The vectors of an operand as level 2 of the enclosure uses them: magnitudes over 2^exponent, in [0, 1), rounded towards zero
/// to binary32, 0 below 2^-126. A vector with specials is zero. Vectors are made on request, since few are needed. Many threads
/// may use it at once; they allocate nothing. @pre of all members: a FloatEnvironment.
class FloatVectors {
 public:
  /// @param vectors as rows; @param scales of each vector, 2^exponent above all its magnitudes. Both must outlive this.
  FloatVectors(InputView vectors, const std::vector<VectorScale>& scales, int threads);

  /// The first place of the largest element of vector i; known without making the vector.
  [[nodiscard]] Index place_of_top(Index i) const { return places_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] float element(Index i, Index l) const;

  /// All elements of vector i, contiguous.
  [[nodiscard]] const float* vector(Index i) const;

 private:
  void make(Index first) const;
  [[nodiscard]] Index slow_place_of_top(Index i) const;

  InputView vectors_;
  const std::vector<VectorScale>& scales_;
  Index tile_;                              ///< vectors made together
  std::unique_ptr<float[]> elements_;       ///< uninitialised until requested
  std::unique_ptr<std::once_flag[]> made_;  ///< one for every tile
  std::vector<Index> places_;
};

}  // namespace ozbound
