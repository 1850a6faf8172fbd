// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/native.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
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

/// A loaded library, looked at while this lives.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const void* routine) {
    Dl_info found{};
    if (dladdr(routine, &found) == 0 || found.dli_fname == nullptr) return;
    handle_ = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    file_ = found.dli_fname;
  }
  ~LoadedLibrary() {
    if (handle_ != nullptr) dlclose(handle_);  // it stays loaded: it was before
  }
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  [[nodiscard]] void* find(const char* symbol) const { return handle_ == nullptr ? nullptr : dlsym(handle_, symbol); }
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  void* handle_ = nullptr;
  std::string file_;
};

std::string text_of(void* function) { return reinterpret_cast<const char* (*)()>(function)(); }

bool is_netlib(const LoadedLibrary& library) {
  constexpr std::array others{
      "mkl_get_version_string", "MKL_Get_Version_String", "armplversion", "armpl_version",  "nvpl_blas_get_version", "iessl",
      "flexiblas_info_cpu",     "flexiblas_info",         "nvblas_dgemm", "amdblas_version"};
  if (std::ranges::any_of(others, [&](const char* symbol) { return library.find(symbol) != nullptr; })) return false;
  if (library.find("lsame_") == nullptr) return false;
  char* const whole = realpath(library.file().c_str(), nullptr);
  const std::string file = whole == nullptr ? library.file() : whole;
  std::free(whole);  // NOLINT(cppcoreguidelines-no-malloc): realpath's
  const auto name = std::string_view(file).substr(file.rfind('/') + 1);
  return name.starts_with("libblas.so") || name.starts_with("librefblas.so");
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
  if (auto* const config = library.find("openblas_get_config")) return text_of(config);
  if (auto* const version = library.find("bli_info_get_version_str")) return "BLIS " + text_of(version);
  if (library.find("ATL_buildinfo") != nullptr) return "ATLAS";
  if (is_netlib(library)) return "netlib BLAS";
  return std::nullopt;
}

#ifndef OZBOUND_HAVE_OPENBLAS

const NativeGemm* native_gemm() { return nullptr; }

NativeZgemm native_zgemm() { return nullptr; }

#endif

}  // namespace ozbound
