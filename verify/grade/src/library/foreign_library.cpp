// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/grade/foreign_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <boost/crc.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "stored_call.hpp"

namespace ozbound {
namespace {

using CblasDgemm = void(int layout, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
                        const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c,
                        std::int64_t ldc);

// The last two parameters are the lengths of the character arguments, which Fortran compilers append.
using FortranDgemm = void(const char* op_a, const char* op_b, const std::int64_t* m, const std::int64_t* n,
                          const std::int64_t* k, const double* alpha, const double* a, const std::int64_t* lda, const double* b,
                          const std::int64_t* ldb, const double* beta, double* c, const std::int64_t* ldc, std::size_t length_a,
                          std::size_t length_b);

/// The names to look for, in this order: the usual names; those of OpenBLAS with 64-bit integers, as in Julia; those of the
/// OpenBLAS in NumPy's and SciPy's wheels; those of MKL.
constexpr std::array default_symbols{"cblas_dgemm",
                                     "dgemm_",
                                     "cblas_dgemm64_",
                                     "dgemm_64_",
                                     "scipy_cblas_dgemm64_",
                                     "scipy_cblas_dgemm",
                                     "scipy_dgemm_64_",
                                     "scipy_dgemm_",
                                     "cblas_dgemm_64",
                                     "dgemm_64",
                                     "dgemm"};

std::string linker_error() {
  const char* const error = dlerror();
  return error != nullptr ? error : "the dynamic linker gives no reason";
}

/// `library` in the form for dlopen, which would not search the working directory for a name without '/'.
std::string path_of(const std::string& library) {
  return library.find('/') == std::string::npos && std::filesystem::exists(library) ? "./" + library : library;
}

void* open_library(const std::string& library) {
  void* const handle = dlopen(path_of(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::invalid_argument(linker_error());
  return handle;
}

std::uint32_t crc32_of(std::istream& file) {
  boost::crc_32_type crc;
  std::array<char, 1 << 16> block;
  while (file.read(block.data(), block.size()) || file.gcount() > 0)
    crc.process_bytes(block.data(), static_cast<std::size_t>(file.gcount()));
  return crc.checksum();
}

void call_cblas(CblasDgemm& dgemm, const BlasCall& call) noexcept {
  constexpr int row_major = 101, column_major = 102, none = 111, plain = 112, conjugate = 113;
  const int transpose =
      call.spelling == OpSpelling::conjugate || call.spelling == OpSpelling::lower_case_conjugate ? conjugate : plain;
  dgemm(call.row_major ? row_major : column_major, call.transpose_a ? transpose : none, call.transpose_b ? transpose : none,
        call.m, call.n, call.k, call.alpha, call.a, call.lda, call.b, call.ldb, call.beta, call.c, call.ldc);
}

void call_fortran(FortranDgemm& dgemm, const BlasCall& call) noexcept {
  const char op_a = op_letter(call.transpose_a, call.spelling), op_b = op_letter(call.transpose_b, call.spelling);
  dgemm(&op_a, &op_b, &call.m, &call.n, &call.k, &call.alpha, call.a, &call.lda, call.b, &call.ldb, &call.beta, call.c,
        &call.ldc, 1, 1);
}

/// The function of a library, or null.
template <class Function>
Function* function(void* handle, const char* name) {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

/// A text from the library, cut to a line's length.
std::string said(const char* text) {
  constexpr std::size_t longest = 200;
  return text == nullptr ? "" : std::string(text, strnlen(text, longest));
}

/// The version of the libraries that can tell it: OpenBLAS, BLIS and MKL.
std::string own_version(void* handle) {
  for (const char* name : {"openblas_get_config", "openblas_get_config64_"})
    if (auto* const config = function<const char*()>(handle, name)) return said(config());
  if (auto* const version = function<const char*()>(handle, "bli_info_get_version_str")) return "BLIS " + said(version());
  if (auto* const version = function<void(char*, int)>(handle, "MKL_Get_Version_String")) {
    std::array<char, 200> text{};
    version(text.data(), static_cast<int>(text.size()) - 1);
    return said(text.data());
  }
  return "";
}

std::string own_kernel(void* handle) {
  for (const char* name : {"openblas_get_corename", "openblas_get_corename64_"})
    if (auto* const core = function<const char*()>(handle, name)) return said(core());
  auto* const arch = function<int()>(handle, "bli_arch_query_id");
  auto* const text = function<const char*(int)>(handle, "bli_arch_string");
  return arch != nullptr && text != nullptr ? said(text(arch())) : "";
}

struct ControlRegister {
  const char* name;
  unsigned bits;
};

/// The parts of a floating-point environment that belong to the caller of a function: rounding, subnormals, precision, and the
/// exceptions that trap. Flags are not included.
auto control_registers(const std::fenv_t& environment) {
#if defined(__x86_64__)
  return std::array{ControlRegister{"MXCSR", environment.__mxcsr & 0xffc0U},
                    ControlRegister{"the x87 control word", environment.__control_word & 0xf3fU}};
#elif defined(__aarch64__)
  return std::array{ControlRegister{"FPCR", environment.__fpcr}};
#else
  (void)environment;  // uses the current environment
  return std::array{ControlRegister{"the rounding direction", static_cast<unsigned>(std::fegetround())}};
#endif
}

using ControlRegisters = decltype(control_registers(std::fenv_t{}));

/// The first register that differs, `MXCSR is 0x9fc0, not 0x1f80`.
std::optional<std::string> first_change(const ControlRegisters& before, const ControlRegisters& after) {
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i].bits != after[i].bits)
      return fmt::format("{} is {:#x}, not {:#x}", before[i].name, after[i].bits, before[i].bits);
  return std::nullopt;
}

ControlRegisters current_control_registers() {
  std::fenv_t current;
  std::fegetenv(&current);
  return control_registers(current);
}

/// Installs a floating-point environment. The destructor restores the previous one.
class InForce {
 public:
  explicit InForce(const std::fenv_t& environment) {
    std::fegetenv(&before_);
    std::fesetenv(&environment);
  }
  ~InForce() { std::fesetenv(&before_); }
  InForce(const InForce&) = delete;
  InForce& operator=(const InForce&) = delete;

 private:
  std::fenv_t before_{};
};

}  // namespace

ForeignLibrary::ForeignLibrary(const std::string& library, const std::string& symbol) {
  std::fegetenv(&environment_);
  void* handle = nullptr;
  {
    const InForce loading(environment_);
    handle = open_library(library);
    find(handle, symbol);
    changed_by_loading_ = first_change(control_registers(environment_), current_control_registers());
    std::fegetenv(&environment_);
  }
  identify(handle);
}

void ForeignLibrary::find(void* handle, const std::string& symbol) {
  if (!symbol.empty()) {
    function_ = dlsym(handle, symbol.c_str());
    if (function_ == nullptr) throw std::invalid_argument(linker_error());
    identity_.symbol = symbol;
  }
  for (const std::string candidate : default_symbols) {
    if (function_ != nullptr) break;
    function_ = dlsym(handle, candidate.c_str());
    identity_.symbol = candidate;
  }
  if (function_ == nullptr)
    throw std::invalid_argument(fmt::format("the library has none of the symbols {}", fmt::join(default_symbols, ", ")));
  cblas_ = GemmSymbol{"", identity_.symbol}.is_cblas();
}

void ForeignLibrary::identify(void* handle) {
  Dl_info info{};
  if (dladdr(function_, &info) == 0 || info.dli_fname == nullptr)
    throw std::invalid_argument(identity_.symbol + " is in no file that the dynamic linker knows");
  identity_.file = std::filesystem::canonical(info.dli_fname).string();
  identity_.bytes = std::filesystem::file_size(identity_.file);
  std::ifstream file(identity_.file, std::ios::binary);
  identity_.crc32 = crc32_of(file);
  const InForce calling(environment_);
  identity_.version = own_version(handle);
  identity_.kernel = own_kernel(handle);
}

std::string ForeignLibrary::name() const { return identity_.file + ": " + identity_.symbol; }

void ForeignLibrary::dgemm(const BlasCall& call) const {
  if (call.row_major && !cblas_) throw std::invalid_argument(identity_.symbol + " takes no row-major calls");
  const InForce calling(environment_);
  const auto before = current_control_registers();
  if (cblas_)
    call_cblas(*reinterpret_cast<CblasDgemm*>(function_), call);
  else
    call_fortran(*reinterpret_cast<FortranDgemm*>(function_), call);
  const auto change = first_change(before, current_control_registers());
  if (!change) return;
  const std::scoped_lock lock(changing_);
  if (!changed_by_call_) changed_by_call_ = fmt::format("after {} {}", grading::describe(call), *change);
}

}  // namespace ozbound
