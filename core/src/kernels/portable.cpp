// SPDX-License-Identifier: BSD-3-Clause
#include "tile.hpp"

namespace ozbound {
namespace {

/// Plain C++: the reference.
struct Portable {
  using ADigit = std::int8_t;
  struct Digits {
    std::int32_t digit[4];
  };
  using Sums = std::uint32_t;
  static constexpr bool signed_b = false;
  static constexpr unsigned rows = 4, vectors = 2, columns = 1;

  static Sums zero() { return 0; }
  static Digits load(const std::uint8_t* b) { return {{b[0], b[1], b[2], b[3]}}; }
  static Digits broadcast(const std::int8_t* a) { return {{a[0], a[1], a[2], a[3]}}; }
  static Sums add_products(Sums sums, const Digits& a, const Digits& b) {
    const auto products = a.digit[0] * b.digit[0] + a.digit[1] * b.digit[1] + a.digit[2] * b.digit[2] + a.digit[3] * b.digit[3];
    return sums + static_cast<std::uint32_t>(products);
  }
  static void store(Sums sums, std::int32_t* products) { *products = static_cast<std::int32_t>(sums); }
};

}  // namespace

extern const KernelFunctions* const portable_functions = &functions_of<Portable>;

}  // namespace ozbound
