#pragma once

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/prepared_operand.hpp"
#include "ozbound/core/gemm.hpp"

namespace ozbound {

struct GemmOptions {
  /// Cap in bytes for slices: least_workspace, for `relative` that of the finest plan. What prepared operands hold counts under
  /// the decision's plan, and comes on top while `cr` and `relative` refine.
  double workspace = unlimited_workspace;
  const NativeGemm* native = nullptr;           ///< needed where the decision says native
  const PreparedOperand* prepared_a = nullptr;  ///< of the call's A, for this decision; null: A is sliced here
  const PreparedOperand* prepared_b = nullptr;  ///< of B, likewise
};

/// Bytes that slicing and multiplying take under a decision: `least`, the smallest cap that is not refused, and `full`, without
/// a cap; a prepared operand is wanted whole, which `least` does not know. `cr` and `relative` may go on to finer plans: `full`
/// has room for all. 0 without slices. Certifying takes a few binary64 numbers an entry of C on top, which no cap rules.
struct Workspace {
  double least = 0;
  double full = 0;
};

Workspace workspace_of(const Decision& decision, const Engine& engine);

/// Computes C as a decision says and proves how wrong it can be. The decision may be a replayed one: the certificate is about
/// this call's operands, and says so if the target does not hold for them.
/// @throws std::invalid_argument as GemmCall::check, if the decision is for other sizes, its plan or target is none, the
/// workspace is too small, a prepared operand does not fit, or a native DGEMM is needed that is not given; CannotCertify for a
/// relative target below u, which no slices end at. Nothing is written then.
Certificate gemm(const GemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options = {});

struct DecidedProduct {
  Decision decision;
  Certificate certificate;
};

/// Decides and multiplies: the decision that `decide` makes of the call, and the C and certificate that gemm has under it. What
/// is found out to decide is not found again to certify. That is sound here alone, where the operands are the same ones: a
/// decision that was saved, or is handed back, says nothing of the elements that it was made for, and gemm looks at its own.
/// @param choices alpha, beta, c0 and format are the call's; a native DGEMM is considered if `options` has one too.
/// @throws as decide and gemm; nothing is written then.
DecidedProduct gemm(const GemmCall& call, const Target& target, const Engine& engine, DecideOptions choices = {},
                    const GemmOptions& options = {});

/// Refuses what gemm refuses, and does no more: for those who must know before the first of several products is written.
void check_gemm(const GemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options = {});

struct CertifiedProduct {
  Matrix<double> c;
  Certificate certificate;
};

/// C = A B in a new matrix.
CertifiedProduct gemm(InputView a, InputView b, const Decision& decision, const Engine& engine,
                      const GemmOptions& options = {});

}  // namespace ozbound
