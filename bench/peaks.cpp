// SPDX-License-Identifier: BSD-3-Clause
#include "peaks.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <vector>

#include "isa.hpp"
#include "ozbound/core/kernel.hpp"

namespace ozbound::bench {
namespace {

constexpr long rounds = 100'000;  // about 1 ms

constexpr double operations(int each) { return static_cast<double>(rounds) * peak_chains * each; }

template <PeakLoop loop>
void run_rounds() {
  loop(rounds);
}

#if defined(__x86_64__)
/// CPUID 7.1, EAX bit 4. Not every compiler's __builtin_cpu_supports knows a name for it.
bool has_avxvnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & 1u << 4) != 0;
}

bool has_fma() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512vnni() { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl"); }

/// True if the engine may use AMX. The engine has asked the system for the permission.
bool has_amx() {
  return std::ranges::any_of(kernels(), [](const Kernel* kernel) { return kernel->name == "amx"; });
}

// Products in a lane of 32 bits: 4 of bytes, 2 of 16-bit integers. Lanes: 16, 8 and 4. A tile product: 16 x 16 x 64.
constexpr Peak all[] = {
    {"tdpbssd", "INT8", "amx", operations(2 * 16 * 16 * 64), has_amx, run_rounds<peak_amx_tdpbssd>},
    {"vpdpbusd zmm", "INT8", "avx512vnni", operations(128), has_avx512vnni, run_rounds<peak_avx512vnni_vpdpbusd>},
    {"vpdpbusd ymm", "INT8", "", operations(64), has_avx512vnni, run_rounds<peak_avx512vl_vpdpbusd>},
    {"{vex} vpdpbusd ymm", "INT8", "avxvnni", operations(64), has_avxvnni, run_rounds<peak_avxvnni_vpdpbusd>},
    {"vpmaddwd+vpaddd zmm", "INT8", "avx512bw", operations(64), [] { return bool(__builtin_cpu_supports("avx512bw")); },
     run_rounds<peak_avx512bw_vpmaddwd>},
    {"vpmaddwd+vpaddd ymm", "INT8", "avx2", operations(32), [] { return bool(__builtin_cpu_supports("avx2")); },
     run_rounds<peak_avx2_vpmaddwd>},
    {"pmaddwd+paddd xmm", "INT8", "sse2", operations(16), [] { return true; }, run_rounds<peak_sse2_pmaddwd>},
    {"vfmadd231pd zmm", "FP64", "", operations(16), [] { return has_fma() && __builtin_cpu_supports("avx512f"); },
     run_rounds<peak_fma_zmm>},
    {"vfmadd231pd ymm", "FP64", "", operations(8), has_fma, run_rounds<peak_fma_ymm>},
};

std::vector<Peak> supported_peaks() {
  __builtin_cpu_init();
  std::vector<Peak> found;
  std::copy_if(std::begin(all), std::end(all), std::back_inserter(found), [](const Peak& peak) { return peak.supported(); });
  return found;
}
#else
std::vector<Peak> supported_peaks() { return {}; }
#endif

const Peak* first(auto condition) {
  const auto found = std::ranges::find_if(peaks(), condition);
  return found == peaks().end() ? nullptr : &*found;
}

}  // namespace

std::span<const Peak> peaks() {
  static const auto found = supported_peaks();
  return found;
}

const Peak* float_peak() {
  return first([](const Peak& peak) { return peak.unit == "FP64"; });
}

const Peak* integer_peak(std::string_view kernel) {
  const auto* const own = first([&](const Peak& peak) { return !kernel.empty() && peak.kernel == kernel; });
  return own != nullptr ? own : first([](const Peak& peak) { return peak.kernel == "sse2"; });
}

void run(const Peak& peak, int threads) {
#pragma omp parallel num_threads(threads)
  peak.run();
}

}  // namespace ozbound::bench
