// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/fingerprint.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "bounds/products.hpp"
#include "ozbound/bounds/enclosure.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/bounds/prepared_operand.hpp"
#include "support/faulty_engine.hpp"

// Decisions and certified products that are cancelled: before the start, or from any of an engine's calls on.

namespace ozbound::cancellation_test {
namespace {

/// Nothing if the call does not throw Cancelled; otherwise what the exception says about whether C may be written.
std::optional<bool> cancelled(const std::atomic<bool>& flag, const std::function<void()>& call) {
  const CancelScope scope(flag);
  try {
    call();
  } catch (const Cancelled& e) {
    return e.c_may_be_written();
  }
  return std::nullopt;
}

/// An engine that sets a flag during the call with the given number and counts the later calls.
class Watched {
  template <class Call>
  auto counted(const Call& call) {
    if (flag_) ++calls_after_;
    auto result = call();
    if (--until_set_ == 0) flag_ = true;
    return result;
  }

 public:
  explicit Watched(int until_set) : until_set_(until_set) {
    engine_.faulty_slice = [this](const Engine& right, InputView operand, Side side, Slicing slicing) {
      return counted([&] { return right.slice(operand, side, slicing); });
    };
    engine_.faulty_measure = [this](const Engine& right, InputView operand, Side side, Slicing slicing) {
      return counted([&] { return right.measure(operand, side, slicing); });
    };
    engine_.faulty_multiply = [this](const Engine& right, const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                                     const Epilogue& epilogue,
                                     OutputView c) { return counted([&] { return right.multiply(a, b, plan, epilogue, c); }); };
  }

  [[nodiscard]] const Engine& engine() const { return engine_; }
  [[nodiscard]] const std::atomic<bool>& flag() const { return flag_; }
  [[nodiscard]] int calls_after() const { return calls_after_; }

 private:
  test::FaultyEngine engine_;
  std::atomic<bool> flag_ = false;
  int until_set_;
  int calls_after_ = 0;
};

struct Way {
  const char* name;
  Target target;
  Method method;
  std::optional<SplitPlan> plan;
};

/// Every method, and every kind of target that takes a path of its own through the slices.
const std::vector<Way>& ways() {
  static const auto plan = SplitPlan::balanced(4, 4, 5);
  static const std::vector<Way> all{{"slices", Target::componentwise(1e-6), Method::one_plan, plan},
                                    {"rowcol", Target::rowcol(1e-6), Method::one_plan, plan},
                                    {"normwise", Target::normwise(1e-6), Method::one_plan, plan},
                                    {"relative", parse_target("relative:1e-12"), Method::one_plan, plan},
                                    {"cr", Target::correctly_rounded(), Method::correctly_rounded, plan},
                                    {"exact", Target::correctly_rounded(), Method::exact, {}}};
  return all;
}

Decision decision_of(const Way& way, const test::SampleProduct& product) {
  return {way.target, way.method, way.plan, product.m(), product.n(), product.k(), 0, 1, {}, {}, {}};
}

bool blank(const Matrix<double>& c) {
  return std::all_of(c.data(), c.data() + c.rows() * c.cols(), [](double x) { return x == -77; });
}

class CertifiedCancellation : public testing::Test {
 protected:
  CertifiedCancellation() { std::fill_n(c.data(), c.rows() * c.cols(), -77.0); }

  [[nodiscard]] RealProduct into_c() { return {product.problem.a, product.problem.b, c}; }
  [[nodiscard]] Choices choices() const { return {.costs = &counted}; }

  const ProductCount counted;
  const test::SampleProduct product = test::product_of({Family::wide_exponents, 40, 90, 60, 1, 3});
  const CpuEngine engine{{.threads = 2}};
  const std::atomic<bool> set = true, unset = false;
  Matrix<double> c{40, 90};
};

TEST_F(CertifiedCancellation, EndsEveryVerbAtOnce) {
  const auto& [recipe, a, b] = product.problem;
  for (const auto& way : ways()) {
    EXPECT_EQ(cancelled(set, [&] { decide({a, b}, way.target, engine, choices()); }), false) << way.name;
    EXPECT_EQ(cancelled(set, [&] { multiply(into_c(), way.target, engine, choices(), {}); }), false) << way.name;
    EXPECT_EQ(cancelled(set, [&] { multiply(into_c(), decision_of(way, product), engine); }), false) << way.name;
  }
  EXPECT_TRUE(cancelled(set, [&] { enclose_product(a, b, engine); }));
  EXPECT_TRUE(cancelled(set, [&] { PreparedOperand(a, Side::rows_of_a, Slicing{Encoding::balanced(), 3}, engine); }));
  EXPECT_TRUE(cancelled(set, [&] { fingerprint(a, 2); }));
  Matrix<std::complex<double>> x(20, 30), y(30, 20), z(20, 20);
  for (const std::complex<double> alpha : {std::complex<double>(1), std::complex<double>(0, 1)}) {
    const ComplexProduct complex{x, y, z, alpha};
    EXPECT_TRUE(cancelled(set, [&] { decide(complex, Target::dgemm(), engine, choices()); })) << alpha;
    EXPECT_TRUE(cancelled(set, [&] { multiply(complex, Target::dgemm(), engine, choices(), {}); })) << alpha;
  }
  EXPECT_TRUE(blank(c));
}

TEST_F(CertifiedCancellation, ChangesNothingOfWhatIsNotCancelled) {
  for (const auto& way : ways()) {
    const auto expected = test::compute_with(product, decision_of(way, product), engine);
    EXPECT_FALSE(cancelled(unset, [&] {
      const auto same = test::compute_with(product, decision_of(way, product), engine);
      EXPECT_TRUE(test::same_bits(same.c, expected.c)) << way.name;
      EXPECT_EQ(to_json(same.certificate), to_json(expected.certificate)) << way.name;
    }));
  }
}

/// A product cancelled during any engine call ends before its certificate, makes at most one further call, and reports
/// correctly that C is unchanged.
TEST_F(CertifiedCancellation, EndsAProductFromEachCallOn) {
  for (const auto& way : ways()) {
    bool was_writing = false;
    for (int calls = 1;; ++calls) {
      std::fill_n(c.data(), c.rows() * c.cols(), -77.0);
      Watched watched(calls);
      const auto ended = cancelled(watched.flag(), [&] { multiply(into_c(), decision_of(way, product), watched.engine()); });
      EXPECT_EQ(ended.has_value(), watched.flag()) << way.name << ", call " << calls;
      EXPECT_LE(watched.calls_after(), 1) << way.name << ", call " << calls;
      if (!ended) break;
      EXPECT_TRUE(*ended || blank(c)) << way.name << ", call " << calls;
      EXPECT_TRUE(*ended || !was_writing) << way.name << ", call " << calls;
      was_writing = *ended;
    }
  }
}

TEST_F(CertifiedCancellation, EndsADecisionFromEachCallOn) {
  for (const auto& way : ways()) {
    const auto expected = decide({product.problem.a, product.problem.b}, way.target, Watched(-1).engine(), choices());
    for (int calls = 1;; ++calls) {
      Watched watched(calls);
      const auto ended = cancelled(watched.flag(), [&] {
        const auto same = decide({product.problem.a, product.problem.b}, way.target, watched.engine(), choices());
        EXPECT_EQ(to_json(same), to_json(expected)) << "only work that was done ends well";
      });
      EXPECT_LE(watched.calls_after(), 1) << way.name << ", call " << calls;
      EXPECT_NE(ended, true) << way.name << ", call " << calls;
      if (!watched.flag()) break;
    }
  }
}

class CountedNative final : public NativeGemm {
 public:
  [[nodiscard]] std::string name() const override { return "counted"; }
  void dgemm(const RealProduct&) const override { ++calls; }
  mutable int calls = 0;
};

TEST_F(CertifiedCancellation, NativeDgemmIsNotBegun) {
  const CountedNative native;
  const Way way{"native", Target::dgemm(), Method::native, {}};
  EXPECT_EQ(cancelled(set, [&] { multiply(into_c(), decision_of(way, product), {engine, &native}); }), false);
  EXPECT_EQ(native.calls, 0);
}

/// Another thread ends each of the ways soon after its start, on operands for which each would take seconds.
TEST(CertifiedCancellationLong, AnotherThreadEndsEveryWay) {
  const auto product = test::product_of({Family::wide_exponents, 700, 800, 2500, 1, 3});
  const CpuEngine engine({.threads = 2});
  Matrix<double> c(700, 800);
  const RealProduct call{product.problem.a, product.problem.b, c};
  for (const auto& way : ways())
    for (const int milliseconds : {5, 200}) {
      std::atomic<bool> flag = false;
      std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        flag = true;
      });
      auto decision = decision_of(way, product);
      if (decision.plan) decision.plan = SplitPlan::balanced(20, 20, 40);
      EXPECT_TRUE(cancelled(flag, [&] { multiply(call, decision, engine); })) << way.name << ' ' << milliseconds;
      other.join();
    }
}

}  // namespace
}  // namespace ozbound::cancellation_test
