// SPDX-License-Identifier: BSD-3-Clause
#include "program_blas.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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

/// An address range of 32 GiB and a page, of which only the pages that are touched take memory.
class LargeVector {
 public:
  LargeVector() {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED) elements_ = static_cast<double*>(at);
  }
  LargeVector(const LargeVector&) = delete;
  LargeVector& operator=(const LargeVector&) = delete;
  ~LargeVector() {
    if (elements_ != nullptr) munmap(elements_, bytes);
  }
  [[nodiscard]] double* elements() const { return elements_; }

 private:
  static constexpr std::size_t bytes = (std::size_t{1} << 35) + 4096;
  double* elements_ = nullptr;
};

constexpr std::int64_t beyond_32_bits = std::int64_t{1} << 32;

/// x_0 + 10 x_1 by the library's dot product, where the increment of x is 2^32 to a library with 64-bit integers and 0 to
/// another; nothing if the library has none.
std::optional<double> probed_sum(const Library& library, const double* x) {
  const double y[] = {1, 10};
  const std::int64_t two = 2, one = 1;
  using Fortran = double(const std::int64_t*, const double*, const std::int64_t*, const double*, const std::int64_t*);
  using Cblas = double(std::int64_t, const double*, std::int64_t, const double*, std::int64_t);
  if (auto* const dot = library.function<Fortran>("ddot_")) return dot(&two, x, &beyond_32_bits, y, &one);
  if (auto* const dot = library.function<Cblas>("cblas_ddot")) return dot(two, x, beyond_32_bits, y, one);
  return std::nullopt;
}

/// -1 if the library has no dot product, or there is no room for its operand.
int probed_bits(const Library& library) {
  const LargeVector x;
  if (x.elements() == nullptr) return -1;
  x.elements()[0] = 1, x.elements()[beyond_32_bits] = 5;
  const auto sum = probed_sum(library, x.elements());
  return sum == 11 ? 32 : sum == 51 ? 64 : -1;
}

int bits_of(const Library& library) {
  for (const auto* name :
       {"openblas_get_config", "openblas_get_config64_", "scipy_openblas_get_config", "scipy_openblas_get_config64_"})
    if (auto* const config = library.function<char*()>(name))
      return std::string_view(config()).find("USE64BITINT") != std::string_view::npos ? 64 : 32;
  if (auto* const bits = library.function<long()>("bli_info_get_blas_int_size")) return bits() == 64 ? 64 : 32;
  if (library.file().find("ilp64") != std::string::npos) return 64;  // one of MKL's interface layers has this name
  return probed_bits(library);
}

/// The width by bits_of, which is asked once for each library.
int known_bits_of(const Library& library) {
  struct Known {
    std::mutex mutex;
    std::map<std::string, int> by_file;
  };
  static auto& known = *new Known;
  const std::scoped_lock lock(known.mutex);
  const auto [place, is_new] = known.by_file.try_emplace(library.file(), 0);
  if (is_new) place->second = bits_of(library);
  return place->second;
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

const ProgramBlas& blas_in_another_mode() {
  static const auto& blas = *new ProgramBlas("the program's BLAS in another floating-point mode", std::nullopt);
  return blas;
}

bool takes_no_rows(const ozd_site& site) { return blas_of(site).name().starts_with("OpenBLAS"); }

int integer_bits(ozd_site& site) {
  if (site.name->wide != 0) return 64;
  int bits = __atomic_load_n(&site.bits, __ATOMIC_RELAXED);
  if (bits == 0) {
    bits = known_bits_of(Library(address_of(site)));
    __atomic_store_n(&site.bits, bits, __ATOMIC_RELAXED);
  }
  return bits;
}

}  // namespace ozbound::drop_in
