// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>

#include "ozbound/bounds/backend.hpp"
#include "ozbound/bounds/decision.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound {

/// What is not the problem: which ways are open, and by what they are compared.
struct Choices {
  bool slices = true;                ///< false: only native DGEMM is considered
  bool residues = true;              ///< false: of integer products only those of slices are
  bool native = true;                ///< false: a native DGEMM is not considered
  const CostModel* costs = nullptr;  ///< null: the backend's
};

/// No way that is open certifies the target; what() says why.
class CannotCertify : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Chooses the cheapest way whose bound certifies the target: residues with the fewest moduli, slices of every s_A, s_B <= 20
/// and cut, native DGEMM, the superaccumulator.
///
/// Reads A and B once for an enclosure of |A||B|, and again for the norms of the slicings that come into question; C is neither
/// read nor written. Rows and columns with NaN or infinities do not take part. The result is a function of the inputs and the
/// cost model.
///
/// Complex products are decided and certified by component, as the real product of 2m x n x 2k that stands for them
/// (core/real_representation.hpp). Sizes and entries of decision and certificate are the complex product's; costs and
/// fingerprints (of left_factor(op(A)), stacked_parts(op(B)), of C0 and C) are the real one's. A target is met by each
/// component: M is the sum of the magnitudes of its terms, `dgemm` has tau = 2k u, `rowcol` |alpha_r| + |alpha_i| for |alpha|.
///
/// Where alpha or beta has an imaginary part the decision is about A B alone: entry by entry what holds for its parts, relative
/// to M, holds for their sums with factors; a norm of errors is multiplied by |alpha|, that of M by no less. Correct rounding
/// meets `relative`, and a normwise target where C0 has NaN or infinities. Native DGEMM is for real alpha and beta.
///
/// @throws CannotCertify for a target below the rounding of C's format, and where native DGEMM alone is open and a scalar is
/// complex; std::invalid_argument for shapes that do not fit, or matrices that the backend does not reach.
Decision decide(const Product& product, const Target& target, const Backend& backend, const Choices& choices = {});

}  // namespace ozbound
