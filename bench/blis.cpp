// SPDX-License-Identifier: BSD-3-Clause
#include "blis.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>

namespace ozbound::bench {
namespace {

using Dgemm = void(const char*, const char*, const std::int32_t*, const std::int32_t*, const std::int32_t*, const double*,
                   const double*, const std::int32_t*, const double*, const std::int32_t*, const double*, double*,
                   const std::int32_t*);

struct Blis {
  Dgemm* dgemm = nullptr;
  void (*set_threads)(std::int64_t) = nullptr;
  std::string name;

  Blis() {
    void* const handle = dlopen("libblis.so.4", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    dgemm = reinterpret_cast<Dgemm*>(dlsym(handle, "dgemm_"));
    set_threads = reinterpret_cast<void (*)(std::int64_t)>(dlsym(handle, "bli_thread_set_num_threads"));
    auto* const version = reinterpret_cast<const char* (*)()>(dlsym(handle, "bli_info_get_version_str"));
    auto* const architecture = reinterpret_cast<int (*)()>(dlsym(handle, "bli_arch_query_id"));
    auto* const architecture_name = reinterpret_cast<const char* (*)(int)>(dlsym(handle, "bli_arch_string"));
    if (set_threads == nullptr || version == nullptr) dgemm = nullptr;
    if (dgemm == nullptr) return;
    name = std::string("BLIS ") + version();
    if (architecture != nullptr && architecture_name != nullptr) name += std::string(" ") + architecture_name(architecture());
  }
};

const Blis& blis() {
  static const Blis loaded;
  return loaded;
}

}  // namespace

bool have_blis() { return blis().dgemm != nullptr; }

std::string blis_core() { return blis().name; }

void blis_dgemm(const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c, int threads) {
  if (!have_blis()) throw std::logic_error("this system has no BLIS");
  // Row-major C = A B is column-major C' = B' A'.
  const auto m = static_cast<std::int32_t>(c.rows()), n = static_cast<std::int32_t>(c.cols()),
             k = static_cast<std::int32_t>(a.cols());
  const double one = 1, zero = 0;
  blis().set_threads(threads);
  blis().dgemm("N", "N", &n, &m, &k, &one, b.data(), &n, a.data(), &k, &zero, c.data(), &n);
}

}  // namespace ozbound::bench
