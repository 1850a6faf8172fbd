// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/panel_slices.hpp"
#include "support/gemm_calls.hpp"
#include "support/replaces_new.hpp"

// The memory a product takes, found by counting every allocation of this program.

namespace {

std::atomic<std::size_t> allocated{0};
std::atomic<std::size_t> most_allocated{0};

constexpr std::size_t usual_alignment = alignof(std::max_align_t);

/// The size of a block is stored before it, in as many bytes as the block's alignment.
[[maybe_unused]] void* counted_allocation(std::size_t size, std::size_t alignment = usual_alignment) {
  const auto whole = (size + 2 * alignment - 1) / alignment * alignment;
  auto* const block = static_cast<std::byte*>(std::aligned_alloc(alignment, whole));
  if (block == nullptr) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(block) = size;
  const auto now = allocated += size;
  auto most = most_allocated.load();
  while (most < now && !most_allocated.compare_exchange_weak(most, now)) {
  }
  return block + alignment;
}

[[maybe_unused]] void counted_release(void* memory, std::size_t alignment = usual_alignment) noexcept {
  if (memory == nullptr) return;
  auto* const block = static_cast<std::byte*>(memory) - alignment;
  allocated -= *reinterpret_cast<std::size_t*>(block);
  std::free(block);
}

}  // namespace

#if OZBOUND_REPLACES_NEW
void* operator new(std::size_t size) { return counted_allocation(size); }
void* operator new[](std::size_t size) { return counted_allocation(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted_allocation(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory, std::align_val_t alignment) noexcept {
  counted_release(memory, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { counted_release(memory); }
void operator delete[](void* memory) noexcept { counted_release(memory); }
void operator delete(void* memory, std::size_t) noexcept { counted_release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { counted_release(memory); }
#endif

namespace ozbound::gemm_workspace_test {
namespace {

/// The most memory allocated at one time while `work` runs, without the memory allocated before.
template <class Work>
double bytes_of(const Work& work) {
  const auto before = allocated.load();
  most_allocated = before;
  work();
  return static_cast<double>(most_allocated - before);
}

TEST(WorkspaceTest, IsAnUpperLimitAndKept) {
  if (!OZBOUND_REPLACES_NEW) GTEST_SKIP() << "allocations cannot be counted in this build";
  test::RandomBits random(1);
  constexpr Index m = 50, n = 45, k = 300;
  const auto call = test::sample_call({m, n, k, true, false}, random);
  Matrix<double> c(m, n);
  for (const char* text : {"balanced:7x7:cut=8:exact", "truncated7:3x9:full:per_product", "nearest2:20x20:full:per_diagonal"})
    for (const CpuEngine::Options& options : {CpuEngine::Options{.threads = 1},
                                              {.threads = 3, .row_tile = 8, .column_tile = 8},
                                              {.threads = 1, .inner_block = 1 << 30, .row_tile = 1, .column_tile = 1}}) {
      const CpuEngine engine(options);
      const auto plan = parse_plan(text);
      const double full = full_workspace(engine, plan, m, n, k), least = least_workspace(engine, plan, k);
      const double rest = 24 * (m + n) + 16000;  // numbers of rows and columns, the groups
      double before = 0;
      for (const double cap : {least, least + 0.2 * (full - least), full}) {
        const double bytes = bytes_of([&] { multiply_unproven({call.a.input(), call.b.input(), c}, plan, engine, cap); });
        EXPECT_LE(bytes, cap + rest) << text << ", threads " << options.threads;
        EXPECT_GE(bytes, before) << "a larger cap is used; " << text;
        before = bytes;
      }
      EXPECT_GE(before, full / 3) << "the limit is not far above what is used; " << text;
    }
}

/// Large slices, which lie on huge pages, take the number of bytes stated.
TEST(WorkspaceTest, LargeSlicesTakeWhatIsSaid) {
  if (!OZBOUND_REPLACES_NEW) GTEST_SKIP() << "allocations cannot be counted in this build";
  const Matrix<double> a(700, 1001);
  const CpuEngine engine({.threads = 1});
  const Slicing slicing{Encoding::balanced(), 5};
  const double said = PanelSlices::bytes(700, 1001, slicing, engine.kernel().layout(Side::rows_of_a));
  const double bytes = bytes_of([&] { (void)engine.slice(a, Side::rows_of_a, slicing); });
  EXPECT_GT(said, 0x1p21);
  EXPECT_LE(bytes, said + 16000);
  EXPECT_GE(bytes, said);
}

}  // namespace
}  // namespace ozbound::gemm_workspace_test
