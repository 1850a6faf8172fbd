// SPDX-License-Identifier: BSD-3-Clause
// Products in the stream of a device behind the plug-in's table: records, C, and what the device leaves to the host.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <vector>

#include "ozbound/in_stream.hpp"
#include "plugin/counterfeit.hpp"

namespace ozbound::test::stream_test {
namespace {

using Streams = PluginTest;

/// A machine that has nothing but the far device.
struct FarMachine {
  plugin::PluginBackend through{counterfeit(), far_device, 2};
  Machine machine{std::vector<Backend>{through.backend()}};
};

struct Sample {
  Matrix<double> a, b, c;

  Sample(Index m, Index n, Index k, bool specials, int seed) : a(m, k), b(k, n), c(m, n) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    for (auto* const x : {&a, &b})
      for (Index t = 0; t < x->rows() * x->cols(); ++t)  // more bits than residues hold exactly
        x->data()[t] = std::ldexp(static_cast<double>(random() >> 11) - 0x1p52, -53 - static_cast<int>(random() % 7));
    for (Index t = 0; t < m * n; ++t) c.data()[t] = -7;
    if (specials) a(m / 2, 0) = std::numeric_limits<double>::infinity(), b(0, n / 2) = std::numeric_limits<double>::quiet_NaN();
  }

  [[nodiscard]] RealProduct call(Matrix<double>& into) const {
    return {InputView(a).at(far), InputView(b).at(far), OutputView(into).at(far)};
  }
  [[nodiscard]] RealProduct call() { return call(c); }
};

bool same_bits(const Matrix<double>& x, const Matrix<double>& y) {
  for (Index t = 0; t < x.rows() * x.cols(); ++t)
    if (bits_of(x.data()[t]) != bits_of(y.data()[t])) return false;
  return true;
}

/// Expects the result to be that of its decision.
void expect_carried_out(const Sample& sample, const Multiplied& found, const Machine& machine) {
  Matrix<double> c(sample.c.rows(), sample.c.cols());
  const auto expected = multiply(sample.call(c), found.decision, machine);
  auto json = to_json(expected), of_stream = to_json(found.certificate);
  if (found.decision.plan) {  // other passes of this device find twice the bound, and say that they are its own
    const bool in_stream = found.decision.reason.starts_with("chosen on the device");
    EXPECT_TRUE(!in_stream || expected.largest_bound == 2 * found.certificate.largest_bound);
    for (auto* const one : {&json, &of_stream}) one->erase("assumptions"), one->erase("largest_bound"), one->erase("seal");
  }
  EXPECT_EQ(json, of_stream);
  EXPECT_TRUE(same_bits(c, sample.c));
  EXPECT_TRUE(found.certificate.holds);
}

TEST_F(Streams, TheDeviceDecides) {
  const FarMachine far_machine;
  int seed = 0;
  for (const bool specials : {false, true})
    for (const auto way : {FarStream::by_residues, FarStream::natively})
      for (const auto& target : {Target::dgemm(), Target::componentwise(1e-7)}) {
        FarStream stream{way};
        Sample sample(9, 7, 20, specials, ++seed);
        auto product = multiply_in_stream(sample.call(), target, far_machine.machine, &stream);
        EXPECT_EQ(stream.waits, 0);
        const auto& found = product.wait();
        EXPECT_EQ(stream.waits, 1);
        EXPECT_EQ(found.decision.method, way == FarStream::natively ? Method::native : Method::one_plan);
        ASSERT_TRUE(found.decision.engine);
        EXPECT_EQ(found.decision.engine->kind, BackendId::Kind::cuda);
        EXPECT_TRUE(found.decision.reason.starts_with("chosen on the device")) << found.decision.reason;
        expect_carried_out(sample, found, far_machine.machine);
        EXPECT_EQ(&product.wait(), &found);
        EXPECT_EQ(stream.waits, 1);
      }
}

TEST_F(Streams, TheHostComputesWhatTheDeviceDoesNot) {
  const FarMachine far_machine;
  for (const auto way :
       {FarStream::not_launched, FarStream::nothing_chosen, FarStream::beyond_the_target, FarStream::infinite}) {
    FarStream stream{way};
    Sample sample(9, 7, 20, false, 50), alone(9, 7, 20, false, 50);
    auto product = multiply_in_stream(sample.call(), Target::dgemm(), far_machine.machine, &stream);
    EXPECT_EQ(stream.waits, way == FarStream::not_launched ? 1 : 0);
    const auto& found = product.wait();
    EXPECT_EQ(stream.waits, 1);
    const auto expected = multiply(alone.call(), Target::dgemm(), far_machine.machine);
    EXPECT_EQ(to_json(found.decision), to_json(expected.decision));
    EXPECT_EQ(to_json(found.certificate), to_json(expected.certificate));
    EXPECT_TRUE(same_bits(sample.c, alone.c));
  }
}

TEST_F(Streams, NativeRecordsAreOfTheMatricesThatWereMultiplied) {
  const FarMachine far_machine;
  for (int changed = 0; changed < 3; ++changed) {
    FarStream stream{FarStream::natively};
    Sample sample(6, 5, 8, false, 70);
    auto product = multiply_in_stream(sample.call(), Target::dgemm(), far_machine.machine, &stream);
    (changed == 0 ? sample.a : changed == 1 ? sample.b : sample.c)(1, 1) += 1;
    const auto& found = product.wait();  // computed again, from the elements that are there now
    EXPECT_FALSE(found.decision.reason.starts_with("chosen on the device"));
    expect_carried_out(sample, found, far_machine.machine);
  }
}

TEST_F(Streams, ProductsMayBeDropped) {
  const FarMachine far_machine;
  FarStream stream{FarStream::by_residues};
  Sample sample(6, 5, 8, false, 80);
  {
    auto product = multiply_in_stream(sample.call(), Target::dgemm(), far_machine.machine, &stream);
    auto other = std::move(product);
    EXPECT_EQ(counterfeit().table().alive(), 2);  // the backend, and the product
  }
  EXPECT_EQ(counterfeit().table().alive(), 1);
  EXPECT_EQ(stream.waits, 0);
}

TEST_F(Streams, ArgumentsAreChecked) {
  const FarMachine far_machine;
  FarStream stream{FarStream::by_residues};
  Sample sample(6, 5, 8, false, 90);
  EXPECT_THROW(multiply_in_stream(sample.call(), Target::dgemm(), Machine::cpu(1), &stream), std::invalid_argument);
  auto overlapping = sample.call();
  overlapping.c = OutputView(sample.a).at(far).block(0, 0, 6, 5);
  EXPECT_THROW(multiply_in_stream(overlapping, Target::dgemm(), far_machine.machine, &stream), std::invalid_argument);
  EXPECT_THROW(multiply_in_stream(sample.call(), Target::componentwise(1e-17), far_machine.machine, &stream), CannotCertify);
  EXPECT_EQ(sample.c(0, 0), -7);
  EXPECT_EQ(stream.waits, 0);
}

}  // namespace
}  // namespace ozbound::test::stream_test
