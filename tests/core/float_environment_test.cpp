// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/float_environment.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <vector>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "properties/disturbed.hpp"

namespace ozbound::float_environment_test {
namespace {

/// 5/3 rounded up and down, and the treatment of subnormal operands and results; no compiler can evaluate these in advance.
struct Arithmetic {
  double up = divided(5, 3), down = divided(-5, 3);
  double result = product(0x1p-1000, 0x1p-60);
  double operand = product(0x1p-1074, 0x1p1000);

  bool operator==(const Arithmetic& other) const {
    const auto bits = [](const Arithmetic& x) {
      return std::vector{bits_of(x.up), bits_of(x.down), bits_of(x.result), bits_of(x.operand)};
    };
    return bits(*this) == bits(other);
  }

 private:
  static double divided(double x, double y) {
    const volatile double dividend = x, divisor = y;
    return dividend / divisor;
  }
  static double product(double x, double y) {
    const volatile double factor = x, other = y;
    return factor * other;
  }
};

TEST(FloatEnvironment, IsThePlainOneAndGivesBackTheCallers) {
  const Arithmetic plain;
  for (const auto& setting : settings) {
    const Disturbed caller(setting);
    const Arithmetic before;
    EXPECT_FALSE(before == plain) << setting.name;
    {
      const FloatEnvironment environment;
      EXPECT_TRUE(Arithmetic() == plain) << setting.name;
      {
        const FloatEnvironment inner;
        EXPECT_TRUE(Arithmetic() == plain) << setting.name;
      }
      EXPECT_TRUE(Arithmetic() == plain) << setting.name;
    }
    EXPECT_TRUE(Arithmetic() == before) << setting.name;
    EXPECT_TRUE(Disturbed::in_force(setting)) << setting.name;
  }
}

TEST(FloatEnvironment, LeavesTheFlagsAsTheyWere) {
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(FE_DIVBYZERO);
  {
    const FloatEnvironment environment;
    static_cast<void>(Arithmetic());  // inexact, underflow
  }
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
  std::feclearexcept(FE_ALL_EXCEPT);
}

#if defined(__GLIBC__) && defined(__x86_64__)
TEST(FloatEnvironment, TrapsNothing) {
  std::feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID);
  {
    const FloatEnvironment environment;
    volatile double zero = 0;
    EXPECT_TRUE(1 / zero > 0);  // a trap would end the program
  }
  EXPECT_EQ(fegetexcept(), FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID);
  fedisableexcept(FE_ALL_EXCEPT);
}

/// A FloatEnvironment also sets the precision of the x87 unit, which some libraries reduce.
TEST(FloatEnvironment, SetsTheX87UnitToo) {
  const auto control = [] {
    unsigned short word = 0;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
  };
  const unsigned short usual = control(), reduced = static_cast<unsigned short>(usual & ~0x300u);
  __asm__ volatile("fldcw %0" : : "m"(reduced));
  {
    const FloatEnvironment environment;
    EXPECT_EQ(control(), 0x37f);
  }
  EXPECT_EQ(control(), reduced);
  __asm__ volatile("fldcw %0" : : "m"(usual));
}
#endif

TEST(FloatEnvironment, BoundsOfEntriesAreTheSameInAny) {
  const EntryBound bound{{{"test", {{{0x1p-1000, 0x1.5555555555555p-2}, {0x1p-60, 0x1.5555555555555p-1}}}}}};
  const auto bits = [&bound] {
    std::vector<std::uint64_t> all;
    for (Index i = 0; i < 2; ++i) {
      std::vector<double> row(2);
      bound.upper_row(i, 0, 2, row.data());
      for (Index j = 0; j < 2; ++j)
        all.insert(all.end(), {bits_of(bound.upper(i, j)), bits_of(row[static_cast<std::size_t>(j)])});
    }
    return all;
  };
  const auto expected = bits();
  for (const auto& setting : settings) {
    const Disturbed caller(setting);
    EXPECT_EQ(bits(), expected) << setting.name;
  }
}

}  // namespace
}  // namespace ozbound::float_environment_test
