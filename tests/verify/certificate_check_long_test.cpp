// SPDX-License-Identifier: BSD-3-Clause
// Recomputes more than a thousand certificates: two implementations of the same roundings must agree everywhere.

#include "bounds/products.hpp"

#include "ozbound/verify/certificate_check.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ozbound::certificate_check_long_test {
namespace {

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

std::string rejections(const test::SampleProduct& product, const test::Computed& computed) {
  std::string failed;
  const auto check = check_certificate(to_json(computed.certificate).dump(), product.operands(), computed.c.view());
  for (const auto& claim : check.claims)
    if (!claim.holds) failed += claim.claim + ": " + claim.finding + "\n";
  return failed;
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all{
      Target::dgemm(),        Target::dgemm_typical(),    Target::componentwise(1e-5), Target::componentwise(1e-15),
      Target::rowcol(1e-6),   Target::rowcol(1e-14),      Target::normwise(1e-6),      Target::normwise(1e-14),
      Target::relative(1e-5), Target::correctly_rounded()};
  return all;
}

bool is_attainable(const Target& target, bool narrow) { return !target.has_tau() || !narrow || target.tau > 0x1p-20; }

TEST(CertificateCheckLong, ConfirmsWhatIsDecided) {
  test::RandomBits random(11);
  for (int round = 0; round < 4; ++round)
    for (const auto family : all_families())
      for (const auto& target : targets()) {
        const auto product = test::sample_product(test::sample_recipe(family, 0.5 * random.between(0, 8), 24, random), random);
        if (!is_attainable(target, product.narrow)) continue;
        EXPECT_EQ(rejections(product, test::compute(product, target, engine())), "")
            << to_string(target) << ": " << product.describe();
      }
}

TEST(CertificateCheckLong, ConfirmsLargerProducts) {
  for (const auto family : {Family::uniform, Family::wide_exponents})
    for (const auto& target : targets()) {
      const auto product = test::product_of({family, 120, 90, 700, 2, 3});
      EXPECT_EQ(rejections(product, test::compute(product, target, engine())), "")
          << to_string(target) << ": " << product.describe();
    }
}

}  // namespace
}  // namespace ozbound::certificate_check_long_test
