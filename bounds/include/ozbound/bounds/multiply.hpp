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
  /// Workspace cap in bytes for slices, at least least_workspace (for `relative`, of the finest plan). Prepared operands count
  /// towards it under the decision's plan, and come on top while `cr` and `relative` refine.
  double workspace = unlimited_workspace;
  /// Prepared A and B of the product, for this decision; null: sliced in the call. For complex products with real scalars they
  /// are operands of the real product that stands for it.
  const PreparedOperand* prepared_a = nullptr;
  const PreparedOperand* prepared_b = nullptr;
  /// Receives a decision that `multiply` makes, before anything is written. If it throws, nothing is written.
  std::function<void(const Decision&)> decided = nullptr;
};

/// Bytes that slicing and multiplying take under a decision. `least` is the smallest accepted cap; it does not include a
/// prepared operand, which is needed whole. `full` is the size without a cap; it includes the finer plans to which `cr` and
/// `relative` may go on. Both are 0 without slices. Certifying takes a few more binary64 numbers per entry of C, which no cap
/// limits.
struct Workspace {
  double least = 0;
  double full = 0;
};

/// Also for a complex product with real alpha and beta.
Workspace workspace_of(const Decision& decision, const Engine& engine);

/// The same for a complex product, whose scalars count.
/// @throws std::invalid_argument if the decision is not for a complex product.
Workspace workspace_of(const Decision& decision, std::complex<double> alpha, std::complex<double> beta, const Engine& engine);

/// Computes C as a decision says and proves an error bound. The decision may be a replayed one: the certificate is about this
/// product's operands, and says if the target does not hold for them.
/// @throws std::invalid_argument as Product::check; if the backend does not reach the matrices; if the decision is for other
/// sizes, or for a complex product and this one is real, or the reverse; if its plan or target is invalid; if the workspace is
/// too small; if a prepared operand does not fit; or if a native DGEMM is needed that the backend lacks. CannotCertify for a
/// relative target below u, which no slices can meet. Nothing is written then.
Certificate multiply(const Product& product, const Decision& decision, const Backend& backend,
                     const MultiplyOptions& options = {});

/// The decision and the certificate of a product.
struct Multiplied {
  Decision decision;
  Certificate certificate;
};

/// Decides and multiplies: makes the decision of `decide`, and the C and certificate of `multiply` under it. Facts found while
/// deciding are reused to certify. This is sound only in this function, where the operands are the same. A decision that was
/// saved or handed back says nothing about the elements that it was made for, so `multiply` examines its own.
/// @throws as decide and multiply; nothing is written then.
Multiplied multiply(const Product& product, const Target& target, const Backend& backend, const Choices& choices = {},
                    const MultiplyOptions& options = {});

/// Makes only the checks of multiply; for callers that check several products before the first one is written.
void check_multiply(const Product& product, const Decision& decision, const Backend& backend,
                    const MultiplyOptions& options = {});

struct CertifiedProduct {
  Matrix<double> c;
  Certificate certificate;
};

/// Computes C = A B in a new matrix.
CertifiedProduct multiply(InputView a, InputView b, const Decision& decision, const Backend& backend,
                          const MultiplyOptions& options = {});

}  // namespace ozbound
