// SPDX-License-Identifier: BSD-3-Clause
// Kernels in processes with special circumstances: each test runs in a child process that asks for its kernel first.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/kernel.hpp"
#include "support/forked.hpp"

namespace ozbound::kernels_test {
namespace {

std::vector<double> product(const CpuEngine& engine) {
  Matrix<double> a(70, 300), b(300, 90), c(70, 90);
  for (Index t = 0; t < a.rows() * a.cols(); ++t) a.data()[t] = 1 / static_cast<double>(t + 3);
  for (Index t = 0; t < b.rows() * b.cols(); ++t) b.data()[t] = 1 / static_cast<double>(t + 7);
  multiply_unproven(RealProduct{a, b, c}, SplitPlan::balanced(7, 7, 8), engine);
  return {c.data(), c.data() + c.rows() * c.cols()};
}

/// True if every available kernel and the default one have the bits of `portable`.
bool all_multiply() {
  const auto by = [](const Kernel& kernel) { return product(CpuEngine({.threads = 1, .kernel = &kernel})); };
  const auto expected = by(find_kernel("portable"));
  return product(CpuEngine({.threads = 3})) == expected &&
         std::ranges::all_of(kernels(), [&](const Kernel* kernel) { return by(*kernel) == expected; });
}

bool has_amx() {
  return std::ranges::any_of(kernels(), [](const Kernel* kernel) { return kernel->name == "amx"; });
}

constexpr std::size_t small_stack = 3072;  // more than Linux's minimum, less than a frame with tiles

/// Gives this thread an alternate signal stack.
bool use_signal_stack() {
  static std::array<char, small_stack> memory;
  const stack_t stack{memory.data(), 0, memory.size()};
  return sigaltstack(&stack, nullptr) == 0;
}

/// True if Linux has granted this process the tiles of AMX: ARCH_GET_XCOMP_PERM.
bool tiles_granted() {
#ifdef __x86_64__
  std::uint64_t granted = 0;
  return syscall(SYS_arch_prctl, 0x1022, &granted) == 0 && (granted >> 18 & 1) != 0;
#else
  return false;
#endif
}

TEST(KernelsOfAProcess, AreEveryThreads) {
  EXPECT_TRUE(test::holds_in_child([] {
    std::promise<void> asked;
    auto waiting = std::async(std::launch::async, [&asked] {
      asked.get_future().wait();
      return all_multiply();
    });
    if (kernels().empty()) return false;
    asked.set_value();
    auto later = std::async(std::launch::async, all_multiply);
    return waiting.get() && later.get() && all_multiply() && has_amx() == tiles_granted();
  }));
}

TEST(KernelsOfAProcess, AreThoseOfItsChildren) {
  EXPECT_TRUE(test::holds_in_child([] {
    const bool amx = has_amx();
    return all_multiply() && test::holds_in_child([amx] { return has_amx() == amx && all_multiply(); });
  }));
}

/// Linux grants no AMX tiles if a thread's signal stack is too small for a frame with tiles, and kernels work without them.
TEST(KernelsOfAProcess, DoWithoutTilesWhereASignalStackIsSmall) {
  EXPECT_TRUE(test::holds_in_child([] { return use_signal_stack() && !has_amx() && all_multiply(); }));
}

/// No AMX tiles are requested if another kernel is named, as Linux would then refuse small signal stacks.
TEST(KernelsOfAProcess, AskForNoTilesWhereAnotherIsNamed) {
  EXPECT_TRUE(test::holds_in_child([] {
    setenv("OZBOUND_KERNEL", "portable", 1);
    return CpuEngine().kernel().name == "portable" && all_multiply() && !has_amx() && !tiles_granted() && use_signal_stack();
  }));
}

TEST(KernelsOfAProcess, AskForTilesWhereTheyAreNamed) {
  EXPECT_TRUE(test::holds_in_child([] {
    const bool there = test::holds_in_child(has_amx);
    setenv("OZBOUND_KERNEL", "amx", 1);
    return there == has_amx();
  }));
}

}  // namespace
}  // namespace ozbound::kernels_test
