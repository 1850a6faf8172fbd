#pragma once

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/core/gemm.hpp"

namespace ozbound {

struct GemmOptions {
  double workspace = unlimited_workspace;  ///< cap in bytes for slices: least_workspace, for `relative` that of the finest plan
  const NativeGemm* native = nullptr;      ///< needed where the decision says native
};

/// Computes C as a decision says and proves how wrong it can be. The decision may be a replayed one: the certificate is about
/// this call's operands, and says so if the target does not hold for them.
/// @throws std::invalid_argument as GemmCall::check, if the decision is for other sizes, its plan or target is none, the
/// workspace is too small, or a native DGEMM is needed that is not given. Nothing is written then.
Certificate gemm(const GemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options = {});

struct CertifiedProduct {
  Matrix<double> c;
  Certificate certificate;
};

/// C = A B in a new matrix.
CertifiedProduct gemm(InputView a, InputView b, const Decision& decision, const Engine& engine,
                      const GemmOptions& options = {});

}  // namespace ozbound
