// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/kernel.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "functions.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace ozbound {
namespace {

static_assert(Kernel::panel_slack == panel_slack_bytes);

/// OZBOUND_KERNEL; empty if it is not set.
std::string_view named_kernel() {
  const char* const name = std::getenv("OZBOUND_KERNEL");
  return name == nullptr ? "" : name;
}

/// Features of the processor and the operating system.
struct Processor {
#ifdef __x86_64__
  bool avx2 = __builtin_cpu_supports("avx2");
  bool avx512bw =
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  bool avx512vnni = avx512bw && __builtin_cpu_supports("avx512vnni");
  bool avxvnni = avx2 && has_avxvnni();
  bool amx = avx512vnni && has_amx_int8() && (named_kernel().empty() || named_kernel() == "amx") && may_use_tiles();
  bool sse2 = true;
#else
  bool avx2 = false, avx512bw = false, avx512vnni = false, avxvnni = false, amx = false, sse2 = false;
#endif
#if defined(__aarch64__) && defined(__linux__)
  bool neon_dotprod = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  bool neon_dotprod = false;
#endif

 private:
#ifdef __x86_64__
  static bool has_avxvnni() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & (1u << 4)) != 0;
  }

  /// True if the processor has AMX-TILE and AMX-INT8.
  static bool has_amx_int8() {
    constexpr unsigned both = 1u << 24 | 1u << 25;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & both) == both;
  }

  /// Asks Linux for the 8 KiB of tiles that every thread of this process may then hold (Documentation/arch/x86/xstate.rst).
  /// Linux refuses if the hypervisor or its own settings withhold them, if it is older than 5.16, or if a thread's alternate
  /// signal stack is too small for them.
  static bool may_use_tiles() {
#ifdef __linux__
    constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return false;
#endif
  }
#endif
};

std::vector<const Kernel*> those_that_run() {
  static const std::array<Kernel, 8> all{{{"amx", amx_functions},
                                          {"avx512vnni", avx512vnni_functions},
                                          {"avxvnni", avxvnni_functions},
                                          {"avx512bw", avx512bw_functions},
                                          {"avx2", avx2_functions},
                                          {"neon_dotprod", neon_dotprod_functions},
                                          {"sse2", sse2_functions},
                                          {"portable", portable_functions}}};
  const Processor has;
  const std::array<bool, 8> runs{has.amx,  has.avx512vnni,   has.avxvnni, has.avx512bw,
                                 has.avx2, has.neon_dotprod, has.sse2,    true};
  std::vector<const Kernel*> result;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (runs[i] && all[i].functions != nullptr) result.push_back(&all[i]);
  return result;
}

std::string names() {
  std::string text;
  for (const auto* kernel : kernels()) text += (text.empty() ? "" : ", ") + std::string(kernel->name);
  return text;
}

const Kernel* find(std::string_view name) {
  const auto all = kernels();
  const auto found = std::find_if(all.begin(), all.end(), [name](const Kernel* kernel) { return kernel->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace

Index Kernel::rows() const { return functions->rows; }
Index Kernel::columns() const { return functions->columns; }

PanelLayout Kernel::layout(Side side, Index block) const {
  if (side == Side::rows_of_a) return {functions->rows, block, functions->a_step, functions->multiple, false};
  return {functions->columns, block, 4, functions->multiple, !functions->signed_b};
}

void Kernel::multiply(const std::int8_t* a, Index a_vectors, const std::int8_t* b, Index b_vectors, Index digits,
                      std::int32_t* products) const {
  const KernelRun run{0, 0, digits, products};
  functions->multiply({a, a_vectors, b, b_vectors, digits}, &run, 1, false);
}

KernelScope::KernelScope(const Kernel& kernel) : functions_(*kernel.functions) { functions_.start(); }
KernelScope::~KernelScope() { functions_.stop(); }

std::span<const Kernel* const> kernels() {
  static const auto& all = *new auto(those_that_run());  // never destroyed: programs may multiply during their exit
  return all;
}

const Kernel& default_kernel() {
  const auto name = named_kernel();
  if (name.empty()) return *kernels().front();
  if (const auto* kernel = find(name)) return *kernel;
  throw std::invalid_argument("OZBOUND_KERNEL must be one of " + names() + " on this processor: " + std::string(name));
}

const Kernel& find_kernel(std::string_view name) {
  if (const auto* kernel = find(name)) return *kernel;
  throw std::invalid_argument("kernel must be one of " + names() + " on this processor: " + std::string(name));
}

}  // namespace ozbound
