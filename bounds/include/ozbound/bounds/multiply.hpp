// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <functional>

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/prepared_operand.hpp"
#include "ozbound/core/gemm.hpp"

namespace ozbound {

struct MultiplyOptions {
  /// Cap in bytes for slices: least_workspace, for `relative` that of the finest plan. What prepared operands hold counts under
  /// the decision's plan, and comes on top while `cr` and `relative` refine.
  double workspace = unlimited_workspace;
  /// Of the product's A and B, for this decision; null: they are sliced here. Of complex products with real scalars those of
  /// the real product that stands for it.
  const PreparedOperand* prepared_a = nullptr;
  const PreparedOperand* prepared_b = nullptr;
  /// Told a decision that `multiply` makes, before anything is written; if it throws, nothing is.
  std::function<void(const Decision&)> decided = nullptr;
};

/// Bytes that slicing and multiplying take under a decision: `least`, the smallest cap that is not refused, and `full`, without
/// a cap; a prepared operand is wanted whole, which `least` does not know. `cr` and `relative` may go on to finer plans: `full`
/// has room for all. 0 without slices. Certifying takes a few binary64 numbers an entry of C on top, which no cap rules.
struct Workspace {
  double least = 0;
  double full = 0;
};

/// Of a complex product with real alpha and beta likewise.
Workspace workspace_of(const Decision& decision, const Engine& engine);

/// The same of a complex product, whose scalars count.
/// @throws std::invalid_argument if the decision is for no complex product.
Workspace workspace_of(const Decision& decision, std::complex<double> alpha, std::complex<double> beta, const Engine& engine);

/// Computes C as a decision says and proves how wrong it can be. The decision may be a replayed one: the certificate is about
/// this product's operands, and says so if the target does not hold for them.
/// @throws std::invalid_argument as Product::check, if the backend does not reach the matrices, the decision is for other
/// sizes or for complex products where this one is real, or the other way round, its plan or target is none, the workspace is
/// too small, a prepared operand does not fit, or a native DGEMM is needed that the backend has not; CannotCertify for a
/// relative target below u, which no slices end at. Nothing is written then.
Certificate multiply(const Product& product, const Decision& decision, const Backend& backend,
                     const MultiplyOptions& options = {});

/// What became of a product.
struct Multiplied {
  Decision decision;
  Certificate certificate;
};

/// Decides and multiplies: the decision that `decide` makes of the product, and the C and certificate that `multiply` has under
/// it. What is found out to decide is not found again to certify. That is sound here alone, where the operands are the same
/// ones: a decision that was saved, or is handed back, says nothing of the elements that it was made for, and `multiply` looks
/// at its own.
/// @throws as decide and multiply; nothing is written then.
Multiplied multiply(const Product& product, const Target& target, const Backend& backend, const Choices& choices = {},
                    const MultiplyOptions& options = {});

/// Refuses what multiply refuses, and does no more: for those who must know before the first of several products is written.
void check_multiply(const Product& product, const Decision& decision, const Backend& backend,
                    const MultiplyOptions& options = {});

struct CertifiedProduct {
  Matrix<double> c;
  Certificate certificate;
};

/// C = A B in a new matrix.
CertifiedProduct multiply(InputView a, InputView b, const Decision& decision, const Backend& backend,
                          const MultiplyOptions& options = {});

}  // namespace ozbound
