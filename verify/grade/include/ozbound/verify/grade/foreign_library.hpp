// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cfenv>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "ozbound/verify/grade/grade.hpp"

namespace ozbound {

/// Which file a symbol came from, whatever it was asked for by, and which file that is.
struct LibraryIdentity {
  std::string file;    ///< absolute, links resolved
  std::string symbol;  ///< `cblas_dgemm`, `dgemm_`, …
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  ///< of its content, as zlib and gzip have it
  std::string version;      ///< in the library's own words, where it is OpenBLAS, BLIS or MKL; else empty
  std::string kernel;       ///< likewise what it chose for this processor
};

/// A dgemm of a shared library, loaded into this process. A process that is itself linked with a BLAS must not do so: calls
/// inside the library could be bound to the other one's symbols.
///
/// A symbol whose name contains `cblas_` is called by CBLAS's convention, any other by Fortran's, with 64-bit integers: a
/// library with 32-bit integers reads their low halves, on little-endian machines whose calls pass an integer in a register or
/// in eight bytes of the stack (x86-64, AArch64 Linux).
///
/// Each call is made in the floating-point environment that the library leaves after loading, as it would be in a user's
/// thread: what an earlier call made of it is told, but has no effect. The caller's is the same before and after.
class ForeignLibrary final : public ForeignGemm {
 public:
  /// @param library a file, or a name without '/' that is no file here: the dynamic linker then searches for it
  /// @param symbol empty: the first that the library has of cblas_dgemm, dgemm_ and the names that other builds have for them
  /// @throws std::invalid_argument in the dynamic linker's words, if it cannot be loaded or has no such symbol.
  explicit ForeignLibrary(const std::string& library, const std::string& symbol = "");

  /// The library stays loaded: some do not survive unloading.
  ~ForeignLibrary() override = default;
  ForeignLibrary(const ForeignLibrary&) = delete;
  ForeignLibrary& operator=(const ForeignLibrary&) = delete;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] bool takes_row_major() const override { return cblas_; }

  /// @throws std::invalid_argument for a row-major call of a symbol that takes none. What the library throws ends the process.
  void dgemm(const BlasCall& call) const override;

  [[nodiscard]] GemmSymbol where() const override { return {identity_.file, identity_.symbol}; }

  [[nodiscard]] const LibraryIdentity& identity() const { return identity_; }

  /// Which control register (rounding, subnormals, precision, traps) loading left with other bits, if one:
  /// `MXCSR is 0x9fc0, not 0x1f80`.
  [[nodiscard]] const std::optional<std::string>& changed_by_loading() const { return changed_by_loading_; }

  /// The same of the first call that did so, with the call: `after dgemm(…) MXCSR is 0x9fc0, not 0x1f80`.
  [[nodiscard]] const std::optional<std::string>& changed_by_call() const { return changed_by_call_; }

 private:
  void find(void* handle, const std::string& symbol);
  void identify(void* handle);

  LibraryIdentity identity_;
  void* function_ = nullptr;
  bool cblas_ = false;
  std::fenv_t environment_{};  // after loading
  std::optional<std::string> changed_by_loading_;
  mutable std::mutex changing_;  ///< of several callers
  mutable std::optional<std::string> changed_by_call_;
};

}  // namespace ozbound
