// SPDX-License-Identifier: BSD-3-Clause
#include "native_at_once.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "ozbound/bounds/detail/native_at_once.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/machine.hpp"

namespace ozbound {
namespace {

/// The quantities on which the costs of the CPU's ways depend.
struct Priced {
  Index m = -1, n = -1, k = -1;
  int threads = 0;
  const Kernel* kernel = nullptr;
  const NativeGemm* native = nullptr;

  bool operator==(const Priced&) const = default;

  [[nodiscard]] std::size_t hash() const {
    std::uint64_t bits = 0;
    for (const Index size : {m, n, k, Index{threads}}) bits = (bits ^ static_cast<std::uint64_t>(size)) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(bits >> 32);
  }
};

/// Keeps each different result once, for the lifetime of the process: programs may multiply during their exit. Few different
/// results occur.
const std::optional<WithoutSlices>* kept(std::optional<WithoutSlices> method) {
  struct All {
    std::mutex mutex;
    std::map<std::string, std::optional<WithoutSlices>> by_text;  // its elements never move
  };
  static auto& all = *new All;
  std::string text;
  if (method) {
    text = to_string(method->method);
    for (const auto& plan : method->cheaper) text += ' ' + to_string(plan);
    text += ' ' + std::to_string(method->cheaper_moduli);
  }
  const std::scoped_lock lock(all.mutex);
  return &all.by_text.try_emplace(std::move(text), std::move(method)).first->second;
}

/// without_slices with a per-thread cache of recent sizes: costs are looked up once, and no lock is taken.
const std::optional<WithoutSlices>& without_slices(Index m, Index n, Index k, const NativeGemm& native, int threads) {
  struct Known {
    Priced of;
    const std::optional<WithoutSlices>* method = nullptr;
  };
  thread_local std::array<Known, 64> recent;
  static_assert(std::is_trivially_destructible_v<decltype(recent)>);  // so that it is usable while a thread ends
  const Priced priced{m, n, k, threads, &default_kernel(), &native};
  auto& known = recent[priced.hash() % recent.size()];
  if (!(known.of == priced)) {
    const auto machine = Machine::cpu(threads, &native);
    known = {priced, kept(ozbound::without_slices(machine.backends().front().costs(), m, n, k))};
  }
  return *known.method;
}

void multiply_by_native(const NativeGemm& native, const Product& product) {
  if (product.is_complex())
    native.complex_gemm(product.complex());
  else if (product.real().c.is_double())
    native.dgemm(product.real());
  else
    native.sgemm(product.real());
}

}  // namespace

bool multiply_at_once(const Product& product, const Target& target, const NativeGemm& native, int threads) {
  if (!native.is_conventional()) return false;
  const Index parts = product.is_complex() ? 2 : 1;  // sizes of the real product that stands for a complex one
  const auto& ways = without_slices(parts * product.m(), product.n(), parts * product.k(), native, threads);
  if (!ways) return false;
  poll_cancelled();
  if (!native_certifies_at_once(native, product, target) || !refused_at_once(*ways, product, target)) return false;
  if (ways->method == Method::native)
    multiply_by_native(native, product);
  else if (product.is_complex())
    multiply_exactly(product.complex(), 1);
  else
    multiply_exactly(product.real(), 1);
  return true;
}

}  // namespace ozbound
