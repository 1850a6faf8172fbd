#pragma once

#include <complex>
#include <vector>

#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/gemm.hpp"

namespace ozbound {

/// Neither part is other than zero, whatever the floating-point environment.
inline bool is_zero(std::complex<double> x) { return is_zero(x.real()) && is_zero(x.imag()); }

/// C = alpha A B + beta C0 over the complex numbers. A is m x k, B is k x n, C and C0 are m x n; operands may be transposed,
/// conjugated or both by their views.
///
/// By component it is a real product of 2k terms, for a complex alpha 4k, and of two for beta, each exact and rounded once:
///
///   Re C = sum_l alpha_r a_r b_r - alpha_r a_i b_i - alpha_i a_i b_r - alpha_i a_r b_i + beta_r c0_r - beta_i c0_i, and so for
///   Im C.
///
/// A part of alpha or beta that is zero adds no terms: beta = 0 never reads C0, alpha = 0 never A or B. C0 may be C itself.
/// NaN and infinities in a component are a function of its terms alone (SpecialSum).
struct ComplexGemmCall {
  ComplexInputView a;
  ComplexInputView b;
  ComplexOutputView c;
  std::complex<double> alpha = 1;
  std::complex<double> beta = 0;
  ComplexInputView c0 = {};

  [[nodiscard]] Index m() const { return c.rows(); }
  [[nodiscard]] Index n() const { return c.cols(); }
  [[nodiscard]] Index k() const { return a.cols(); }

  /// A and B are read but where alpha = 0 or C is empty, C0 but where beta = 0.
  [[nodiscard]] bool reads_operands() const;
  [[nodiscard]] bool reads_c0() const;

  /// A B has terms, and alpha is not 0.
  [[nodiscard]] bool has_product() const;

  /// As GemmCall::all_special.
  [[nodiscard]] bool all_special() const;

  /// Neither scalar has an imaginary part other than zero.
  [[nodiscard]] bool real_scalars() const;

  /// @throws std::invalid_argument naming the argument, as GemmCall::check.
  void check() const;

  /// That shapes fit alone: for who writes nothing.
  void check_shapes() const;
};

/// The whole product under a plan: of the real representation (real_representation.hpp), each component rounded once.
/// @param workspace cap in bytes for slices, and for integer sums where a scalar is complex; representations come on top
/// Matrices may be wherever the engine takes them from; those of a product with complex scalars are in the host's memory.
/// @throws as for real products; nothing is written then, unless an engine is out of memory for a single entry.
void gemm(const ComplexGemmCall& call, const SplitPlan& plan, const Engine& engine, double workspace = unlimited_workspace);

/// Each component correctly rounded by the exact superaccumulator.
void multiply_exactly(const ComplexGemmCall& call, int threads);

/// As gemm, for scalars of any kind: writes an entry where both of its components are decided under `error`, a bound of the
/// stacked parts of A B (2m x n, relative to rho_i sigma_j as ever) before alpha; returns the others. Special entries are
/// written.
std::vector<Entry> multiply_scaled(const ComplexGemmCall& call, const SplitPlan& plan, const Engine& engine,
                                   const EntryBound* error = nullptr, double workspace = unlimited_workspace);

/// The least cap that multiply_scaled takes: bytes of slices and integer sums of one entry; and of all at a time.
double least_scaled_workspace(const Engine& engine, const SplitPlan& plan, Index k);
double full_scaled_workspace(const Engine& engine, const SplitPlan& plan, Index m, Index n, Index k);

/// The given entries, both components correctly rounded, special or not.
void finish_exactly(const ComplexGemmCall& call, const std::vector<Entry>& entries, int threads);

}  // namespace ozbound
