// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bounds/products.hpp"
#include "ozbound/bounds/json_text.hpp"
#include "ozbound/native.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "support/forked.hpp"

// Deciding, native DGEMM, certifying and checking work in a child of fork().

namespace ozbound::fork_test {
namespace {

struct Record {
  std::vector<std::uint64_t> bits;
  std::string certificate;

  bool operator==(const Record&) const = default;
};

Record record_of(const test::Computed& computed) { return {computed.c.bits(), json_text(to_json(computed.certificate))}; }

TEST(Fork, AChildDecidesCertifiesAndChecksTheSame) {
  const CpuEngine engine({.threads = 4});
  const auto product = test::product_of({Family::wide_exponents, 120, 130, 140, 1, 3});
  for (const auto& target : {Target::dgemm(), Target::normwise(1e-9), Target::correctly_rounded()}) {
    const auto compute = [&] { return test::compute(product, target, engine); };
    const auto computed = compute();
    const auto expected = record_of(computed);
    const auto check = [&] { return check_certificate(expected.certificate, product.operands(), computed.c.view()).holds(); };
    EXPECT_TRUE(check());
    EXPECT_TRUE(test::holds_in_child([&] { return record_of(compute()) == expected && check(); })) << to_string(target);
  }
}

TEST(Fork, AChildHasNativeDgemm) {
  if (native_gemm() == nullptr) GTEST_SKIP() << "without a library";
  const CpuEngine engine({.threads = 4});
  const auto product = test::product_of({Family::uniform, 200, 210, 220, 0, 3});
  const Decision native{Target::dgemm(), Method::native, {}, 200, 210, 220, 28, 1, {}, {}};
  const auto holds = [&] { return test::compute_with(product, native, {engine, native_gemm()}).certificate.holds; };
  EXPECT_TRUE(holds());
  EXPECT_TRUE(test::holds_in_child(holds));
}

}  // namespace
}  // namespace ozbound::fork_test
