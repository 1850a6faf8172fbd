// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>

#include "ozbound/bounds/backend.hpp"
#include "ozbound/bounds/decision.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound {

/// Options of a decision: the allowed ways, and the costs that compare them.
struct Choices {
  bool slices = true;                ///< false: consider only native DGEMM
  bool residues = true;              ///< false: no integer products by residues, only by slices
  bool native = true;                ///< false: do not consider a native DGEMM
  const CostModel* costs = nullptr;  ///< null: the backend's costs
};

/// No allowed way certifies the target; what() gives the reason.
class CannotCertify : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Chooses the cheapest way whose bound certifies the target: residues with the fewest moduli, slices of every s_A, s_B <= 20
/// and cut, native DGEMM, the superaccumulator.
///
/// Reads A and B once for an enclosure of |A||B|, and again for the norms of promising slicings. C is neither read nor written.
/// Rows and columns with NaN or infinities are ignored. The result depends only on the inputs and the cost model.
///
/// Complex products are decided and certified by component, as the real product of 2m x n x 2k that stands for them
/// (core/real_representation.hpp). Sizes and entries in decision and certificate are the complex product's. Costs and
/// fingerprints (of left_factor(op(A)), stacked_parts(op(B)), of C0 and C) are the real one's. Each component meets the target:
/// M is the sum of the magnitudes of its terms, `dgemm` has tau = 2k u, and `rowcol` has |alpha_r| + |alpha_i| for |alpha|.
///
/// If alpha or beta has an imaginary part, the decision is about A B only. Bounds of A B's parts, relative to M, carry over to
/// alpha A B entry by entry. A norm of errors is multiplied by |alpha|, and that of M by at least as much. Correct rounding
/// meets `relative`, and also a normwise target if C0 has NaN or infinities. Native DGEMM is only for real alpha and beta.
///
/// @throws CannotCertify for a target below the rounding of C's format, or if only native DGEMM is allowed and a scalar is
/// complex; std::invalid_argument for shapes that do not fit, or matrices that the backend does not reach.
Decision decide(const Product& product, const Target& target, const Backend& backend, const Choices& choices = {});

}  // namespace ozbound
