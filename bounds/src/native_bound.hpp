#pragma once

#include <string>

#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/bounds/operand_access.hpp"
#include "ozbound/bounds/target.hpp"

namespace ozbound {

/// What conventional summation guarantees of a native DGEMM on these operands:
/// |C^ - C| <= factor * (|alpha||A||B| + |beta||C0|) + underflow.
struct NativeGuarantee {
  double factor = 0;     ///< k u for C = +-AB (Jeannerod, Rump); gamma_{k+3} otherwise
  double underflow = 0;  ///< 0 where no operation can underflow
  std::string obstacle;  ///< why there is no guarantee at all; empty if there is one
};

NativeGuarantee native_guarantee(InputView a, InputView b, const DecideOptions& options, const OperandAccess& access);

/// Whether that certifies a target.
bool native_certifies(const NativeGuarantee& guarantee, const Target& target, Index k, const DecideOptions& options);

/// The guarantee per entry, from the norms of rows and columns.
ErrorBound native_error_bound(InputView a, InputView b, const NativeGuarantee& guarantee, const DecideOptions& options,
                              const Engine& engine);

}  // namespace ozbound
