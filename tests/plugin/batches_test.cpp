// SPDX-License-Identifier: BSD-3-Clause
// Batches through a plug-in, of matrices in host and device memory: each product equals that of a single call, or is refused
// with the same line.

#include <gtest/gtest.h>

#include <complex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "ozbound/batch.hpp"
#include "plugin/counterfeit.hpp"

namespace ozbound::test::batches_test {
namespace {

template <class T>
T number(double real, double imaginary) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(real);
  else
    return {static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary)};
}

/// Two products that share A, in a column-major memory of their own.
template <class T>
struct Seen {
  std::vector<T> a = std::vector<T>(40), c = std::vector<T>(40, T{7});
  std::string text;  ///< certificates, or the exception's text

  Seen() {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = number<T>(1 / (static_cast<double>(i) + 3), -static_cast<double>(i));
  }

  void run(bool batched, T alpha, const Target& target, const BlasOptions& options) {
    const std::vector<const T*> bs{a.data() + 9, a.data() + 20};
    const std::vector<T*> cs{c.data() + 21, c.data() + 1};
    try {
      if (batched) {
        const GemmBatch<T> batch{
            Layout::column_major, Op::none, Op::transpose, 3, 4, 3, alpha, a.data(), 3, bs, 5, T{1}, cs, 4, 2};
        for (const auto& certificate : gemm_batched(batch, decide_batched(batch, target, options), options))
          text += to_json(certificate).dump();
      } else {
        for (std::size_t t = 0; t < 2; ++t)
          text += to_json(gemm(Layout::column_major, Op::none, Op::transpose, 3, 4, 3, alpha, a.data(), 3, bs[t], 5, T{1},
                               cs[t], 4, target, options))
                      .dump();
      }
    } catch (const std::invalid_argument& e) {
      text = e.what();
    }
  }
};

template <class T>
class Batches : public PluginTest {};
using Types = testing::Types<double, float, std::complex<double>, std::complex<float>>;
TYPED_TEST_SUITE(Batches, Types);

TYPED_TEST(Batches, AreSingleCallsWhereverTheyLie) {
  using T = TypeParam;
  constexpr bool real = std::is_floating_point_v<T>;
  int refused = 0;
  for (const int device : {static_cast<int>(plain_device), static_cast<int>(far_away)}) {
    const BothWays both(device);
    const Machine machine({both.through.backend()});
    for (const auto place : {in_host_memory, far})
      for (const auto& target : {Target::dgemm(), Target::correctly_rounded(), Target::componentwise(1e-5)})
        for (const T alpha : {T{1}, number<T>(-0.375, 2)}) {
          const BlasOptions options{.machine = &machine, .place = place};
          Seen<T> single, batch;
          single.run(false, alpha, target, options);
          batch.run(true, alpha, target, options);
          const bool fails = !single.text.starts_with('{');
          EXPECT_EQ(batch.text, (fails ? "product 0: " : "") + single.text);
          EXPECT_EQ(batch.text.find('\n'), std::string::npos);
          EXPECT_TRUE(batch.c == single.c);
          refused += fails ? 1 : 0;
          EXPECT_TRUE(device != plain_device || fails == (place == far)) << batch.text;
          EXPECT_FALSE(device == far_away && real && fails) << batch.text;
        }
  }
  EXPECT_GE(refused, real ? 6 : 9) << "the plain device reaches no far memory, and complex scalars are of the host's";
}

}  // namespace
}  // namespace ozbound::test::batches_test
