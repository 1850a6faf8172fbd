// SPDX-License-Identifier: BSD-3-Clause
#include "program_blas.hpp"

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include "ozbound/native.hpp"

namespace ozbound {

// The drop-in has no library of its own; it uses the program's BLAS.
const NativeGemm* native_gemm() { return nullptr; }
NativeZgemm native_zgemm() { return nullptr; }

}  // namespace ozbound

namespace ozbound::drop_in {
namespace {

const void* address_of(const ozd_site& site) {
  const void* address;
  static_assert(sizeof address == sizeof site.native);
  std::memcpy(&address, &site.native, sizeof address);
  return address;
}

/// A loaded library, found by an address in it, and its exported functions.
class Library {
 public:
  explicit Library(const void* address) {
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return;
    file_ = info.dli_fname;
    handle_ = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] const std::string& file() const { return file_; }

  /// Null if the library has no such function.
  template <class Signature>
  [[nodiscard]] Signature* function(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Signature*>(dlsym(handle_, name));
  }

 private:
  std::string file_ = "an unknown file";
  void* handle_ = nullptr;
};

bool has_wide_integers(const Library& library) {
  for (const auto* name :
       {"openblas_get_config", "openblas_get_config64_", "scipy_openblas_get_config", "scipy_openblas_get_config64_"})
    if (auto* const config = library.function<char*()>(name))
      return std::string_view(config()).find("USE64BITINT") != std::string_view::npos;
  if (auto* const bits = library.function<long()>("bli_info_get_blas_int_size")) return bits() == 64;
  return library.file().find("ilp64") != std::string::npos;  // one of MKL's interface layers has this name
}

}  // namespace

void ProgramBlas::dgemm(const RealProduct&) const {
  throw std::logic_error("the program's DGEMM multiplies for the program alone");
}
void ProgramBlas::sgemm(const RealProduct&) const {
  throw std::logic_error("the program's SGEMM multiplies for the program alone");
}

const ProgramBlas& blas_of(const ozd_site& site) {
  struct Known {
    std::mutex mutex;
    std::map<std::string, std::unique_ptr<const ProgramBlas>> by_file;
  };
  static auto& known = *new Known;
  const auto* const address = address_of(site);
  const Library library(address);
  auto recognised = recognised_library(address);
  const std::scoped_lock lock(known.mutex);
  auto& blas = known.by_file[library.file()];
  if (blas == nullptr) blas = std::make_unique<const ProgramBlas>(library.file(), std::move(recognised));
  return *blas;
}

int integer_bits(ozd_site& site) {
  if (site.name->wide != 0) return 64;
  int bits = __atomic_load_n(&site.bits, __ATOMIC_RELAXED);
  if (bits == 0) {
    bits = has_wide_integers(Library(address_of(site))) ? 64 : 32;
    __atomic_store_n(&site.bits, bits, __ATOMIC_RELAXED);
  }
  return bits;
}

}  // namespace ozbound::drop_in
