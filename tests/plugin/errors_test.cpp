// SPDX-License-Identifier: BSD-3-Clause
// Errors in a plug-in are thrown by the library, with the same type and text.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cancellation.hpp"
#include "plugin/counterfeit.hpp"

namespace ozbound::test::errors_test {
namespace {

using Errors = PluginTest;

/// A product by slices with 6 x 7 entries.
Matrix<double> product_on(const Engine& engine) {
  Matrix<double> a(6, 3), b(3, 7), c(6, 7);
  for (Index i = 0; i < 6; ++i)
    for (Index l = 0; l < 3; ++l) a(i, l) = static_cast<double>(i + 5 * l);
  for (Index l = 0; l < 3; ++l)
    for (Index j = 0; j < 7; ++j) b(l, j) = 1 / static_cast<double>(1 + l + j);
  multiply_unproven({a, b, c}, SplitPlan::balanced(3, 3, 6), engine);
  return c;
}

/// The text of the exception that a product on a device throws, which must have exactly this type.
template <class Exception>
std::string text_from(int device) {
  const plugin::PluginBackend backend(counterfeit(), device);
  try {
    product_on(backend.engine());
  } catch (const std::exception& e) {
    EXPECT_EQ(typeid(e), typeid(Exception)) << e.what();
    return e.what();
  }
  return "nothing was thrown";
}

TEST_F(Errors, KeepTypeAndText) {
  EXPECT_EQ(text_from<std::invalid_argument>(throws_invalid_argument), "a: is not to my taste");
  EXPECT_EQ(text_from<std::length_error>(throws_length_error), "a is long");
  EXPECT_EQ(text_from<OutOfMemory>(throws_out_of_memory), "no room for anything");
  EXPECT_EQ(text_from<std::bad_alloc>(throws_bad_alloc), std::bad_alloc().what());
  EXPECT_EQ(text_from<CannotCertify>(throws_cannot_certify), "nothing is certain");
  EXPECT_EQ(text_from<plugin::DeviceError>(throws_device_error), "launch: unspecified failure");
  EXPECT_EQ(text_from<std::runtime_error>(throws_runtime_error), "it ran, then it did not");
  EXPECT_EQ(text_from<plugin::InternalError>(throws_logic_error), "this cannot be");
  EXPECT_EQ(text_from<plugin::InternalError>(throws_number), "an exception of no standard type");
}

TEST_F(Errors, OfAnyLengthFit) {
  EXPECT_EQ(text_from<std::invalid_argument>(throws_long_text), std::string(sizeof(ozbound_plugin_call::message) - 1, 'x'));
}

TEST_F(Errors, OutOfMemoryGoesOnInSmallerBlocks) {
  const plugin::PluginBackend little(counterfeit(), little_memory), plain(counterfeit(), plain_device);
  const auto& engine = little.engine();
  const SplitPlan plan = SplitPlan::balanced(3, 3, 6);
  Matrix<double> whole(6, 7);
  const auto a = engine.slice(Matrix<double>(6, 3), Side::rows_of_a, plan.a);
  const auto b = engine.slice(Matrix<double>(3, 7), Side::columns_of_b, plan.b);
  EXPECT_THROW(engine.multiply(a, b, plan, {}, whole), OutOfMemory);
  const auto c = product_on(little.engine()), expected = product_on(plain.engine());
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) EXPECT_EQ(bits_of(c(i, j)), bits_of(expected(i, j)));
}

template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST_F(Errors, OfArgumentsAreTheEngines) {
  const BothWays both(plain_device);
  const Matrix<double> a(3, 4), b(5, 6);
  Matrix<double> c(3, 6);
  const auto refused = [&](const Engine& engine) {
    std::string text;
    const auto plan = SplitPlan::balanced(2, 2, 4);
    const auto x = engine.slice(a, Side::rows_of_a, plan.a), y = engine.slice(b, Side::columns_of_b, plan.b);
    const auto z = engine.slice(b, Side::columns_of_b, {Encoding::balanced(), 3});
    text += refusal([&] { engine.multiply(x, y, plan, {}, c); }) + '\n';
    text += refusal([&] { engine.multiply(y, x, plan, {}, c); }) + '\n';
    text += refusal([&] { engine.multiply(x, z, plan, {}, c); }) + '\n';
    text += refusal([&] { static_cast<void>(engine.slice(a, Side::rows_of_a, {Encoding::balanced(), 21})); }) + '\n';
    text += refusal([&] { static_cast<void>(engine.measure(a, Side::rows_of_a, {Encoding::balanced(), 0})); }) + '\n';
    const auto fits = engine.slice(Matrix<double>(4, 6), Side::columns_of_b, plan.b);
    Epilogue infinite;
    infinite.alpha = std::numeric_limits<double>::infinity();
    text += refusal([&] { engine.multiply(x, fits, plan, infinite, c); }) + '\n';
    Matrix<double> wrong(1, 1);
    text += refusal([&] { engine.multiply(x, fits, plan, {}, wrong); }) + '\n';
    return text;
  };
  const auto expected = refused(both.here->engine());
  EXPECT_EQ(refused(both.through.engine()), expected);
  EXPECT_EQ(std::count(expected.begin(), expected.end(), '\n'), 7);
  EXPECT_EQ(expected.find("\n\n"), std::string::npos) << expected;
}

TEST_F(Errors, NameDevicesThatThereAreNot) {
  for (const int device : {-1, int{counterfeit_count}}) {
    const auto text = "device: there is no device " + std::to_string(device);
    EXPECT_EQ(refusal([&] { plugin::PluginBackend(counterfeit(), device); }), text);
    EXPECT_EQ(refusal([&] { static_cast<void>(counterfeit().device(device)); }), text);
    EXPECT_EQ(refusal([&] { counterfeit().release_memory(device); }), text);
  }
  EXPECT_EQ(refusal([] { plugin::PluginBackend(counterfeit(), plain_device, -1); }), "threads must not be negative: -1");
}

TEST_F(Errors, DevicesSayWhatTheyAre) {
  EXPECT_EQ(counterfeit().obstacle(), "");
  EXPECT_EQ(counterfeit().device_count(), int{counterfeit_count});
  const auto info = counterfeit().device(2), expected = CounterfeitDevices().info(2);
  EXPECT_EQ(info.name, expected.name);
  EXPECT_EQ(info.compute_capability, expected.compute_capability);
  EXPECT_EQ(info.memory, expected.memory);
  EXPECT_EQ(info.calibration, expected.calibration);
}

TEST_F(Errors, CalibrationsComeAsTheyWereMeasured) {
  std::vector<double> told;
  const auto calibration = counterfeit().measure_rates(3, 2, 0.1, [&](double share) { told.push_back(share); });
  EXPECT_EQ(calibration, CounterfeitDevices().measure_rates(3, 2, 0.1, [](double) {}));
  EXPECT_EQ(told, (std::vector{0.25, 0.5, 1.0}));
  EXPECT_EQ(counterfeit().measure_rates(3, 2, 0.1, nullptr), calibration);
}

TEST_F(Errors, OfProgressEndACalibration) {
  std::vector<double> told;
  const auto enough = [&](double share) {
    told.push_back(share);
    if (share == 0.5) throw std::out_of_range("enough");
  };
  EXPECT_THROW(static_cast<void>(counterfeit().measure_rates(3, 2, 0.1, enough)), std::out_of_range);
  EXPECT_EQ(told, (std::vector{0.25, 0.5}));
}

/// Requests cancellation from its `after`-th query on.
struct Patience {
  std::atomic<int> looks = 0;
  int after;

  static bool ended(const void* of) {
    auto& patience = *static_cast<Patience*>(const_cast<void*>(of));
    return patience.looks++ >= patience.after;
  }
};

// A cancel scope of the caller's thread works through the table at every query, and the exception says correctly whether C is
// unchanged.
TEST_F(Errors, ARequestToEndIsSeenThere) {
  constexpr Index n = 40;
  constexpr double unwritten = -77;
  Matrix<double> a(n, n), b(n, n);
  for (Index t = 0; t < n * n; ++t) a.data()[t] = 1 / static_cast<double>(t % 1009 + 3), b.data()[t] = a.data()[t] + 2;
  const plugin::PluginBackend through(counterfeit(), plain_device, 1);
  int ended = 0, in_time = 0;
  for (int after = 0;; ++after) {
    Matrix<double> c(n, n);
    std::fill_n(c.data(), n * n, unwritten);
    Patience patience{.after = after};
    const CancelScope scope(Patience::ended, &patience);
    try {
      multiply_unproven({a, b, c}, SplitPlan::balanced(3, 3, 6), through.engine());
      break;
    } catch (const Cancelled& e) {
      ++ended;
      if (e.c_may_be_written()) continue;
      ++in_time;
      EXPECT_EQ(std::count(c.data(), c.data() + n * n, unwritten), n * n) << after;
    }
  }
  EXPECT_GT(in_time, 0);
  EXPECT_GT(ended, in_time);
}

// Plug-in functions run in a FloatEnvironment and leave their caller's environment unchanged.
TEST_F(Errors, TheEnvironmentOfTheCallerIsLeft) {
  const plugin::PluginBackend plain(counterfeit(), plain_device), failing(counterfeit(), throws_number);
  const auto expected = product_on(plain.engine());
  std::fesetround(FE_UPWARD);
  const auto c = product_on(plain.engine());
  EXPECT_THROW(product_on(failing.engine()), plugin::InternalError);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) EXPECT_EQ(bits_of(c(i, j)), bits_of(expected(i, j)));
}

}  // namespace
}  // namespace ozbound::test::errors_test
