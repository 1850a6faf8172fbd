// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cfenv>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "ozbound/verify/grade/grade.hpp"

namespace ozbound {

/// The file that a symbol came from, however the library was named, and details of that file.
struct LibraryIdentity {
  std::string file;    ///< absolute, links resolved
  std::string symbol;  ///< `cblas_dgemm`, `dgemm_`, …
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  ///< of the file's content, as zlib and gzip compute it
  std::string version;      ///< in the library's own words, if it is OpenBLAS, BLIS or MKL; otherwise empty
  std::string kernel;       ///< in the library's own words, the kernel that it chose for this processor
};

/// A dgemm of a shared library, loaded into this process. A process that is itself linked with a BLAS must not load one: calls
/// inside the library could be bound to the other BLAS's symbols.
/// A symbol whose name contains `cblas_` is called by CBLAS's convention, any other by Fortran's. Integers have 64 bits. A
/// library with 32-bit integers reads the low halves, on little-endian machines whose calls pass an integer in a register or in
/// eight bytes of the stack (x86-64, AArch64 Linux).
/// Each call runs in the floating-point environment that the library leaves after loading, as it would in a user's thread.
/// Changes that a call makes to this environment are reported, but do not affect later calls. The caller's environment is the
/// same before and after.
class ForeignLibrary final : public ForeignGemm {
 public:
  /// @param library a file, or a name without '/' that names no file in the working directory: the dynamic linker then searches
  /// for it
  /// @param symbol if empty, the first that the library has of cblas_dgemm, dgemm_ and the names that other builds give them
  /// @throws std::invalid_argument in the dynamic linker's words, if it cannot be loaded or has no such symbol.
  explicit ForeignLibrary(const std::string& library, const std::string& symbol = "");

  /// The library stays loaded, because some libraries do not survive unloading.
  ~ForeignLibrary() override = default;
  ForeignLibrary(const ForeignLibrary&) = delete;
  ForeignLibrary& operator=(const ForeignLibrary&) = delete;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] bool takes_row_major() const override { return cblas_; }

  /// @throws std::invalid_argument for a row-major call of a symbol that takes none. An exception of the library ends the
  /// process.
  void dgemm(const BlasCall& call) const override;

  [[nodiscard]] GemmSymbol where() const override { return {identity_.file, identity_.symbol}; }

  [[nodiscard]] const LibraryIdentity& identity() const { return identity_; }

  /// The control register (rounding, subnormals, precision, traps) that loading changed, if any: `MXCSR is 0x9fc0, not 0x1f80`.
  [[nodiscard]] const std::optional<std::string>& changed_by_loading() const { return changed_by_loading_; }

  /// The register that a call first changed, with the call: `after dgemm(…) MXCSR is 0x9fc0, not 0x1f80`.
  [[nodiscard]] const std::optional<std::string>& changed_by_call() const { return changed_by_call_; }

 private:
  void find(void* handle, const std::string& symbol);
  void identify(void* handle);

  LibraryIdentity identity_;
  void* function_ = nullptr;
  bool cblas_ = false;
  std::fenv_t environment_{};  // after loading
  std::optional<std::string> changed_by_loading_;
  mutable std::mutex changing_;  ///< guards changed_by_call_
  mutable std::optional<std::string> changed_by_call_;
};

}  // namespace ozbound
