// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/native.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "library_gemm.hpp"

namespace ozbound {
namespace {

template <class T, class Integer>
LibraryCall<T> call_of(FortranGemm<T, Integer> gemm) {
  if (gemm == nullptr) return nullptr;
  return [gemm](char op_a, char op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb, T beta,
                T* c, Index ldc) {
    const auto rows = static_cast<Integer>(m), columns = static_cast<Integer>(n), inner = static_cast<Integer>(k);
    const auto of_a = static_cast<Integer>(lda), of_b = static_cast<Integer>(ldb), of_c = static_cast<Integer>(ldc);
    gemm(&op_a, &op_b, &rows, &columns, &inner, &alpha, a, &of_a, b, &of_b, &beta, c, &of_c, 1, 1);
  };
}

class GivenLibrary final : public LibraryGemm {
 public:
  GivenLibrary(Calls calls, std::string name, Summation summation)
      : LibraryGemm(std::move(calls)), name_(std::move(name)), summation_(summation) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool is_conventional() const override { return summation_ == Summation::conventional; }

 private:
  std::string name_;
  Summation summation_;
};

/// The file that contains an address, with links resolved; empty if there is none.
std::string file_of(const void* address) {
  Dl_info found{};
  if (dladdr(address, &found) == 0 || found.dli_fname == nullptr) return "";
  char* const whole = realpath(found.dli_fname, nullptr);
  std::string file = whole == nullptr ? found.dli_fname : whole;
  std::free(whole);  // NOLINT(cppcoreguidelines-no-malloc): realpath's
  return file;
}

std::string folder_of(const std::string& file) { return file.substr(0, file.rfind('/') + 1); }
std::string name_of(const std::string& file) { return file.substr(file.rfind('/') + 1); }

/// The library that contains a routine, open for look-ups while this object lives.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const void* routine) : file_(file_of(routine)) {
    Dl_info found{};
    if (!file_.empty() && dladdr(routine, &found) != 0) handle_ = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  ~LoadedLibrary() {
    if (handle_ != nullptr) dlclose(handle_);  // the library stays loaded, as before
  }
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  /// A function of the library itself. If the name says that it is a BLAS, also of a library beside it that it needs: Debian's
  /// libblas.so.3 of OpenBLAS needs libopenblas.so.0 in the same folder.
  [[nodiscard]] void* find(const char* symbol) const {
    void* const address = handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
    if (address == nullptr) return nullptr;
    const auto file = file_of(address);
    const bool beside = is_named_blas() && folder_of(file) == folder_of(file_);
    return file == file_ || beside ? address : nullptr;
  }
  /// True if the library, or any library that it needs, has the symbol.
  [[nodiscard]] bool needs(const char* symbol) const { return handle_ != nullptr && dlsym(handle_, symbol) != nullptr; }

  [[nodiscard]] bool is_named_blas() const {
    return name_of(file_).starts_with("libblas.so") || name_of(file_).starts_with("librefblas.so");
  }

 private:
  std::string file_;
  void* handle_ = nullptr;
};

std::string text_of(void* function) { return reinterpret_cast<const char* (*)()>(function)(); }

/// True if the library may pass products on to a library that is not known to be conventional.
bool needs_another(const LoadedLibrary& library) {
  constexpr std::array others{
      "mkl_get_version_string", "MKL_Get_Version_String", "armplversion", "armpl_version",   "nvpl_blas_get_version", "iessl",
      "flexiblas_info_cpu",     "flexiblas_info",         "nvblas_dgemm", "cublasCreate_v2", "amdblas_version"};
  return std::ranges::any_of(others, [&](const char* symbol) { return library.needs(symbol); });
}

/// The names of OpenBLAS's settings in its builds: with a suffix for 64-bit integers, and those of NumPy and SciPy.
constexpr const char* openblas_configs[] = {"openblas_get_config", "openblas_get_config64_", "scipy_openblas_get_config",
                                            "scipy_openblas_get_config64_"};

/// True if the library passes products on to a known library.
bool needs_known(const LoadedLibrary& library) {
  constexpr std::array known{"openblas_get_config", "bli_info_get_version_str", "ATL_buildinfo"};
  return std::ranges::any_of(known, [&](const char* symbol) { return library.needs(symbol); });
}

}  // namespace

template <class Integer>
std::unique_ptr<NativeGemm> make_native_gemm(const BlasRoutines<Integer>& routines, std::string name, Summation summation) {
  if (routines.dgemm == nullptr) throw std::invalid_argument("routines: dgemm is missing");
  if ((routines.zgemm == nullptr) != (routines.cgemm == nullptr))
    throw std::invalid_argument("routines: zgemm and cgemm come together");
  return std::make_unique<GivenLibrary>(
      LibraryGemm::Calls{call_of(routines.sgemm), call_of(routines.dgemm), call_of(routines.cgemm), call_of(routines.zgemm)},
      std::move(name), summation);
}
template std::unique_ptr<NativeGemm> make_native_gemm(const BlasRoutines<std::int32_t>&, std::string, Summation);
template std::unique_ptr<NativeGemm> make_native_gemm(const BlasRoutines<std::int64_t>&, std::string, Summation);

std::optional<std::string> recognised_library(const void* routine) {
  const LoadedLibrary library(routine);
  if (needs_another(library)) return std::nullopt;
  for (const auto* config : openblas_configs)
    if (auto* const found = library.find(config)) return text_of(found);
  if (auto* const version = library.find("bli_info_get_version_str")) return "BLIS " + text_of(version);
  if (library.find("ATL_buildinfo") != nullptr) return "ATLAS";
  if (library.is_named_blas() && library.find("lsame_") != nullptr && !needs_known(library)) return "netlib BLAS";
  return std::nullopt;
}

}  // namespace ozbound
