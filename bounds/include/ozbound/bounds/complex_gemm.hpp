#pragma once

#include "ozbound/bounds/certified_gemm.hpp"
#include "ozbound/core/complex_gemm.hpp"

namespace ozbound {

// Complex products are decided and certified by component, as the real product of 2m x n x 2k that stands for them
// (core/real_representation.hpp): entry (i, j) of decision and certificate is C's entry (i / 2, j), its real part where i is
// even, and sizes, bounds and fingerprints (of left_factor(op(A)), stacked_parts(op(B)), of C0 and C) are the real product's. A
// target is met by each component: M is the sum of the magnitudes of its terms, `dgemm` has tau = 2k u, `rowcol` |alpha_r| +
// |alpha_i| for |alpha|.
//
// Where alpha or beta has an imaginary part the decision is about A B alone: entry by entry what holds for its parts, relative
// to M, holds for their sums with factors; a norm of errors is multiplied by |alpha|, that of M by no less. Correct rounding
// meets `relative`, and a normwise target where C0 has NaN or infinities. Native DGEMM and prepared operands are for real alpha
// and beta; a prepared operand is one of the real product's.

/// C is neither read nor written: only its size and its format count.
/// @param options alpha, beta, c0 and format are the call's.
/// @throws as decide of real products; CannotCertify where native DGEMM alone is open and a scalar is complex.
Decision decide(const ComplexGemmCall& call, const Target& target, const Engine& engine, DecideOptions options = {});

/// @throws as gemm of real products, which see; nothing is written then.
Certificate gemm(const ComplexGemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options = {});

DecidedProduct gemm(const ComplexGemmCall& call, const Target& target, const Engine& engine, DecideOptions choices = {},
                    const GemmOptions& options = {});

/// As workspace_of(decision, engine), which knows real scalars only.
/// @throws std::invalid_argument if the decision is for no complex product.
Workspace workspace_of(const Decision& decision, std::complex<double> alpha, std::complex<double> beta, const Engine& engine);

}  // namespace ozbound
