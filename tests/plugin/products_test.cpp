// SPDX-License-Identifier: BSD-3-Clause
// Products through a plug-in equal those of its engine, bit for bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <typeinfo>
#include <vector>

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "plugin/counterfeit.hpp"

namespace ozbound::test::products_test {
namespace {

using Products = PluginTest;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// The kind of a matrix's elements.
enum class Like { uniform, wide, subnormal, huge, special };
constexpr Like all_kinds[] = {Like::uniform, Like::wide, Like::subnormal, Like::huge, Like::special};

double element(Like like, std::mt19937_64& random) {
  const double x = std::ldexp(static_cast<double>(random() >> 11), -53) - 0.5;
  switch (like) {
    case Like::uniform: return x;
    case Like::wide: return std::ldexp(x, static_cast<int>(random() % 80) - 40);
    case Like::subnormal: return std::ldexp(x, -1040 + static_cast<int>(random() % 40));
    case Like::huge: return std::ldexp(x, 500 + static_cast<int>(random() % 20));
    case Like::special: return random() % 40 == 0 ? (random() % 2 == 0 ? nan : inf) : random() % 8 == 0 ? 0 : x;
  }
  return x;
}

template <class T>
Matrix<T> matrix(Index rows, Index cols, Like like, std::mt19937_64& random) {
  Matrix<T> result(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      if constexpr (std::is_floating_point_v<T>)
        result(i, j) = static_cast<T>(element(like, random));
      else
        result(i, j) = {static_cast<typename T::value_type>(element(like, random)),
                        static_cast<typename T::value_type>(element(like, random))};
    }
  return result;
}

/// All visible results of a product: records, the exception's text, and the bits of C.
struct Seen {
  std::string text;
  bool operator==(const Seen&) const = default;
  friend void PrintTo(const Seen& seen, std::ostream* out) { *out << seen.text; }
};

template <class T>
std::string bits_text(const Matrix<T>& c) {
  std::ostringstream text;
  text << std::hex;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(c.data());
  for (std::size_t t = 0; t < static_cast<std::size_t>(c.rows() * c.cols()) * sizeof(T); ++t) text << int{bytes[t]} << ' ';
  return text.str();
}

template <class Work>
std::string or_thrown(const Work& work) {
  try {
    return work();
  } catch (const std::exception& e) {
    return std::string(typeid(e).name()) + ": " + e.what();
  }
}

/// A product C = alpha A B + beta C0 with C in place of C0, built anew for each way of computing it.
template <class T>
struct Case {
  Matrix<T> a, b, c;
  std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>> alpha = 1, beta = 0;
  bool in_far_memory = false;
  bool transposed = false;  ///< a is stored as its transpose

  Case(Index m, Index n, Index k, Like like, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    a = matrix<T>(m, k, like, random), b = matrix<T>(k, n, like, random), c = matrix<T>(m, n, Like::wide, random);
    if (like == Like::special && m > 1 && n > 1) c(1, 1) = static_cast<T>(inf);
  }

  [[nodiscard]] Place place() const { return in_far_memory ? far : in_host_memory; }
  [[nodiscard]] auto view_a() const {
    if constexpr (std::is_floating_point_v<T>)
      return InputView(transposed ? MatrixView<const T>(a.data(), a.cols(), a.rows(), 1, a.cols()) : a.view()).at(place());
    else
      return ComplexInputView(a).at(place());
  }
  [[nodiscard]] auto view_b() const {
    if constexpr (std::is_floating_point_v<T>)
      return InputView(b).at(place());
    else
      return ComplexInputView(b).at(place()).conjugate();
  }
  [[nodiscard]] Product product() {
    if constexpr (std::is_floating_point_v<T>) {
      const auto left = transposed ? view_a().transposed() : view_a();
      const auto out = OutputView(c).at(place());
      return RealProduct{left, view_b(), out, alpha, beta, out.as_input()};
    } else {
      const auto out = ComplexOutputView(c).at(place());
      return ComplexProduct{view_a(), view_b(), out, alpha, beta, out.as_input()};
    }
  }
};

template <class T>
Seen decided(Case<T> of, const Target& target, const Backend& backend, const Choices& choices = {}) {
  const auto record = or_thrown([&] {
    const auto [decision, certificate] = multiply(of.product(), target, backend, choices);
    return to_json(decision).dump() + to_json(certificate).dump();
  });
  return {record + bits_text(of.c)};
}

/// Decides, then multiplies under the decision: with `prepare` twice, from prepared operands; with `least` in least workspace.
template <class T>
Seen replayed(Case<T> of, const Target& target, const Backend& backend, bool prepare, bool least) {
  const auto record = or_thrown([&] {
    const auto product = of.product();
    const auto decision = decide(product, target, backend);
    auto text = to_json(decision).dump();
    MultiplyOptions options;
    std::optional<PreparedOperand> a, b;
    if (prepare && !product.is_complex()) {
      a.emplace(product.real().a, Side::rows_of_a, decision, backend.engine());
      b.emplace(product.real().b, Side::columns_of_b, decision, backend.engine());
      options.prepared_a = &*a, options.prepared_b = &*b;
    }
    if (least) options.workspace = workspace_of(decision, backend.engine()).least;
    const int times = prepare ? 2 : 1;  // the second product uses data kept by the first
    for (int t = 0; t < times; ++t) text += to_json(multiply(product, decision, backend, options)).dump();
    return text;
  });
  return {record + bits_text(of.c)};
}

std::vector<Target> targets() {
  return {Target::correctly_rounded(),           Target::dgemm(),       Target::dgemm_typical(), Target::componentwise(1e-9),
          Target::componentwise(1e-20),          Target::rowcol(1e-12), Target::normwise(1e-13), Target::relative(1e-10),
          Target::relative(std::ldexp(1.0, -23))};
}

constexpr int computing[] = {plain_device, far_away};

template <class T>
void expect_same(const Case<T>& of, const Target& target, const BothWays& both, const std::string& what) {
  const auto direct = both.direct(), through = both.through.backend();
  Choices all, slices, native;
  slices.residues = false;
  slices.native = false, native.slices = false;
  EXPECT_EQ(decided(of, target, direct, all), decided(of, target, through, all)) << what;
  EXPECT_EQ(decided(of, target, direct, slices), decided(of, target, through, slices)) << what;
  EXPECT_EQ(decided(of, target, direct, native), decided(of, target, through, native)) << what;
  EXPECT_EQ(replayed(of, target, direct, true, false), replayed(of, target, through, true, false)) << what;
  EXPECT_EQ(replayed(of, target, direct, false, true), replayed(of, target, through, false, true)) << what;
}

template <class T>
void expect_same_for_all() {
  std::uint64_t seed = 1;
  for (const int device : computing) {
    const BothWays both(device);
    for (const auto like : all_kinds)
      for (const auto& target : targets()) {
        Case<T> of(5, 7, 9, like, ++seed);
        of.transposed = seed % 2 == 0;
        of.in_far_memory = device == far_away && seed % 3 != 0 && std::is_floating_point_v<T>;
        if (seed % 4 != 0) of.alpha = -1.25, of.beta = 0.5;
        expect_same(of, target, both, to_string(target) + ", kind " + std::to_string(static_cast<int>(like)));
      }
  }
}

TEST_F(Products, OfDoubles) { expect_same_for_all<double>(); }
TEST_F(Products, OfFloats) { expect_same_for_all<float>(); }
TEST_F(Products, OfComplexDoubles) { expect_same_for_all<std::complex<double>>(); }
TEST_F(Products, OfComplexFloats) { expect_same_for_all<std::complex<float>>(); }

TEST_F(Products, WithComplexScalars) {
  const BothWays both(plain_device);
  for (const auto& target : targets()) {
    Case<std::complex<double>> of(4, 5, 6, Like::wide, 77);
    of.alpha = {1, -2}, of.beta = {0, 0.5};
    expect_same(of, target, both, to_string(target));
  }
}

TEST_F(Products, WithScalarsOfAllKindsAndEmptyOnes) {
  for (const int device : computing) {
    const BothWays both(device);
    for (const double alpha : {0.0, 1.0, inf, nan, 0x1p-1074, -0x1p1023})
      for (const double beta : {0.0, 1.0, -inf, nan, 0x1p-1074}) {
        Case<double> of(3, 4, 5, Like::special, 5);
        of.alpha = alpha, of.beta = beta;
        expect_same(of, Target::dgemm(), both, "scalars");
      }
    for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{0, 3, 2}, {3, 0, 2}, {2, 3, 0}, {0, 0, 0}})
      expect_same(Case<double>(m, n, k, Like::uniform, 6), Target::correctly_rounded(), both, "empty");
  }
}

TEST_F(Products, AreLargeToo) {
  for (const int device : computing) {
    const BothWays both(device);
    expect_same(Case<double>(90, 70, 150, Like::wide, 8), Target::dgemm(), both, "large");
    expect_same(Case<double>(90, 70, 150, Like::wide, 9), Target::correctly_rounded(), both, "large");
  }
}

// A remote bound stays remote: the far device's examiner shows that it received its own bound through the plug-in.
TEST_F(Products, KeepRemoteBoundsWhereTheyAre) {
  const BothWays both(far_away);
  Case<double> of(5, 6, 7, Like::uniform, 10);
  of.in_far_memory = true;
  const auto certificate = multiply(of.product(), Target::componentwise(1e-9), both.through.backend()).certificate;
  EXPECT_EQ(certificate.assumed_in_search, "far away");
  auto host = of;
  host.in_far_memory = false;
  const BothWays plain(plain_device);
  const auto usual = multiply(host.product(), Target::componentwise(1e-9), plain.through.backend()).certificate;
  EXPECT_EQ(certificate.largest_bound, 2 * usual.largest_bound);
}

/// A plug-in table that counts how often a bound is fetched.
struct CountedTable {
  inline static std::int32_t (*fetch)(const ozbound_plugin_remote_bound*, ozbound_plugin_plan_bound*, ozbound_plugin_call*);
  inline static int fetches = 0;

  CountedTable() : table(counterfeit().table()) {
    fetch = table.fetch;
    fetches = 0;
    table.fetch = [](const ozbound_plugin_remote_bound* of, ozbound_plugin_plan_bound* bound, ozbound_plugin_call* call) {
      ++fetches;
      return fetch(of, bound, call);
    };
  }

  ozbound_plugin_table table;
};

// A bound is fetched once, for a certificate; Ziv's test and the test of `relative` use it where it lies.
TEST_F(Products, FetchABoundForItsRecordAlone) {
  CountedTable counted;
  const plugin::Plugin plugin(counted.table);
  const plugin::PluginBackend far_backend(plugin, far_away, 1);
  Case<double> of(5, 6, 7, Like::wide, 13);
  of.in_far_memory = true;
  const auto fetches = [&](const Target& target, Method method) {
    const int before = CountedTable::fetches;
    const auto done = multiply(of.product(), target, far_backend.backend(), {.residues = false, .native = false});
    EXPECT_EQ(done.decision.method, method);
    EXPECT_TRUE(done.certificate.holds);
    return CountedTable::fetches - before;
  };
  EXPECT_EQ(fetches(Target::correctly_rounded(), Method::correctly_rounded), 0);
  EXPECT_EQ(fetches(Target::relative(1e-12), Method::one_plan), 0);
  EXPECT_EQ(fetches(Target::componentwise(1e-9), Method::one_plan), 1);
}

// A bound made by another examiner or by the host can be passed to the plug-in.
TEST_F(Products, TakeBoundsFromElsewhere) {
  const BothWays both(far_away);
  Case<double> of(5, 6, 7, Like::wide, 11);
  const auto product = of.product();
  const SplitPlan plan = SplitPlan::balanced(3, 4, 6);
  const auto here = both.here->examiner().examine(product.real());
  const auto there = both.through.examiner().examine(product.real());
  const auto direct = here->allowance(Target::dgemm(), 0.5)->worst(fetched(here->bound(plan)));
  const auto allowance = there->allowance(Target::dgemm(), 0.5);
  for (const auto& bound : {here->bound(plan), fetched(here->bound(plan)), fetched(there->bound(plan))}) {
    const auto worst = allowance->worst(bound);
    EXPECT_EQ(worst.ratio, direct.ratio);
    EXPECT_EQ(worst.i, direct.i);
    EXPECT_EQ(worst.j, direct.j);
    EXPECT_EQ(worst.assumes, "near by");
  }
  EXPECT_EQ(allowance->worst(there->bound(plan)).assumes, "far away");
}

// A bound outlives the objects it came from, as it is a handle or shared numbers.
TEST_F(Products, LeaveBoundsThatOutliveThem) {
  Case<double> of(5, 6, 7, Like::wide, 12);
  const SplitPlan plan = SplitPlan::balanced(3, 4, 6);
  std::optional<PlanBound> remote, local;
  {
    const BothWays both(far_away);
    remote = both.through.examiner().examine(of.product().real())->bound(plan);
    const BothWays plain(plain_device);
    local = plain.through.examiner().examine(of.product().real())->bound(plan);
  }
  const auto fetched_late = fetched(*remote);
  EXPECT_EQ(fetched_late.row_exponents, local->row_exponents);
  EXPECT_EQ(fetched_late.column_exponents, local->column_exponents);
  ASSERT_EQ(fetched_late.product.terms.size(), local->product.terms.size());
  for (std::size_t t = 0; t < local->product.terms.size(); ++t)
    EXPECT_EQ(fetched_late.product.terms[t].name, local->product.terms[t].name);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 6; ++j) EXPECT_EQ(fetched_late.product.upper(i, j), local->product.upper(i, j));
}

// Functions that few products use give the results of the direct examiner.
TEST_F(Products, AreExaminedAsByTheirExaminer) {
  for (const int device : computing) {
    const BothWays both(device);
    for (const auto like : all_kinds) {
      Case<double> of(6, 5, 7, like, 31);
      of.alpha = 2, of.beta = -3;
      const auto product = of.product().real();
      const auto &here = both.here->engine().matrices(), &there = both.through.engine().matrices();
      const auto specials = here.special_entries(product), specials_there = there.special_entries(product);
      EXPECT_EQ(specials.rows, specials_there.rows);
      EXPECT_EQ(specials.columns, specials_there.columns);
      EXPECT_EQ(specials.everywhere, specials_there.everywhere);
      EXPECT_EQ(here.count(specials), there.count(specials_there));

      const auto examination = both.here->examiner().examine(product), other = both.through.examiner().examine(product);
      const auto record = examination->record(), record_there = other->record();
      EXPECT_EQ(record.a, record_there.a);
      EXPECT_EQ(record.b, record_there.b);
      EXPECT_EQ(record.rows, record_there.rows);
      EXPECT_EQ(record.columns, record_there.columns);

      PlanBound none;
      const auto some = fetched(examination->bound(SplitPlan::balanced(2, 3, 4)));
      none.product.uniform = 0;
      for (const auto* const bound : {&std::as_const(none), &some})
        EXPECT_EQ(both.here->examiner().last_inexact(*bound, specials), both.through.examiner().last_inexact(*bound, specials));
      EXPECT_TRUE(like == Like::special || both.through.examiner().last_inexact(some, specials) == (Entry{5, 4}));
      EXPECT_FALSE(both.through.examiner().last_inexact(none, specials));

      auto c = of.c;
      c(2, 3) = c(4, 1) = inf;
      EXPECT_EQ(here.infinite_entries(c, specials), there.infinite_entries(c, specials));
      EXPECT_TRUE(like == Like::special || there.infinite_entries(c, specials).size() == 2u);
    }
  }
}

void expect_equal(const ResultFacts& x, const ResultFacts& y) {
  EXPECT_EQ(x.fingerprint, y.fingerprint);
  EXPECT_EQ(bits_of(x.largest_bound), bits_of(y.largest_bound));
  EXPECT_EQ(x.infinite, y.infinite);
}

// A device begins products and searches before their results are needed, and multiplies whole products with Ziv's test. All of
// this passes through the plug-in.
TEST_F(Products, BeginWhatTheirEngineBegins) {
  const BothWays both(far_away);
  int plans = 0;
  for (const auto like : all_kinds) {
    Case<double> of(6, 5, 7, like, 41), of_there = of;
    of.beta = of_there.beta = 0;
    const auto product = of.product().real(), product_there = of_there.product().real();
    const auto here = both.here->examiner().examine(product), there = both.through.examiner().examine(product_there);
    const auto allowance = here->allowance(Target::dgemm(), 0x1p-40);
    const auto allowance_there = there->allowance(Target::dgemm(), 0x1p-40);
    const auto facts = here->residue_facts(), facts_there = there->residue_facts();
    ASSERT_TRUE(facts && facts_there);
    const auto ranges = here->outer_ranges(), ranges_there = there->outer_ranges();
    ASSERT_TRUE(ranges && ranges_there);
    for (const auto of_operand : {&OuterRanges::a, &OuterRanges::b}) {
      EXPECT_EQ(((*ranges).*of_operand).least, ((*ranges_there).*of_operand).least);
      EXPECT_EQ(((*ranges).*of_operand).top, ((*ranges_there).*of_operand).top);
    }
    EXPECT_EQ(allowance->largest_ratios({&facts->column_sums, &facts->row_sums}),
              allowance_there->largest_ratios({&facts_there->column_sums, &facts_there->row_sums}));

    ProductStart none{20, 2, {}, {0, 0, 0}}, any = none;
    std::ranges::fill(any.most_by_bits, std::uint8_t{20});
    EXPECT_FALSE(allowance_there->start_product(product_there, none)->plan());
    const auto started = allowance->start_product(product, any),
               started_there = allowance_there->start_product(product_there, any);
    ASSERT_TRUE(started && started_there);
    EXPECT_EQ(started->plan(), started_there->plan());
    const ResiduePlan plan = started->plan().value_or(ResiduePlan{20, 50, 53});
    EXPECT_EQ(allowance_there->start_product(product_there, {20, 20, {}, plan})->plan(), plan);
    const auto bound = here->bound(plan), bound_there = there->bound(plan);
    if (started->plan()) {
      ++plans;
      EXPECT_FALSE(started_there->finish(product_there, {}, nullptr));
      const auto found = started->finish(product, {.underflow = 3}, bound.remote.get());
      const auto found_there = started_there->finish(product_there, {.underflow = 3}, bound_there.remote.get());
      ASSERT_TRUE(found && found_there);
      expect_equal(found(), found_there());
      EXPECT_EQ(bits_text(of.c), bits_text(of_there.c));
    }

    const auto worst = allowance->search_worst(bound)(), worst_there = allowance_there->search_worst(bound_there)();
    EXPECT_EQ(bits_of(worst.ratio), bits_of(worst_there.ratio));
    EXPECT_EQ(std::tie(worst.i, worst.j, worst.assumes), std::tie(worst_there.i, worst_there.j, worst_there.assumes));
    EXPECT_FALSE(allowance_there->search_worst(fetched(bound_there)));

    const auto specials = both.here->engine().matrices().special_entries(product);
    const auto passes = both.here->examiner().start_result_facts({.alpha = 3}, bound.remote.get(), of.c, specials);
    const auto passes_there =
        both.through.examiner().start_result_facts({.alpha = 3}, bound_there.remote.get(), of.c, specials);
    ASSERT_TRUE(passes && passes_there);
    expect_equal(passes(), passes_there());
    EXPECT_FALSE(both.through.examiner().start_result_facts({}, nullptr, of.c, specials));

    const auto& engine = both.here->engine();
    const auto& engine_there = both.through.engine();
    const auto on_host = fetched(bound);
    for (const auto& [error, error_there] :
         {std::pair(ziv_bound(bound), ziv_bound(bound_there)), std::pair(ziv_bound(on_host), ziv_bound(on_host)),
          std::pair<ZivBound, ZivBound>()}) {
      const auto open = engine.multiply_whole(product, plan, {}, error);
      ASSERT_TRUE(open);
      EXPECT_EQ(open, engine_there.multiply_whole(product_there, plan, {}, error_there));
      EXPECT_EQ(bits_text(of.c), bits_text(of_there.c));
    }
    auto row = product_there;
    row.a = row.a.block(0, 0, 1, 7), row.c = row.c.block(0, 0, 1, 5), row.c0 = row.c0.block(0, 0, 1, 5);
    EXPECT_FALSE(engine_there.multiply_whole(row, plan, {}, nullptr));
  }
  EXPECT_GT(plans, 2);
}

// A device that starts a product whose decision takes slices has multiplied in vain.
TEST_F(Products, AreSeldomStartedInVain) {
  const FarBackend device(1);
  const Backend backend(device.engine(), device.examiner(), nullptr, nullptr, {BackendId::Kind::cpu, "far"});
  const int started = FarStarted::started, finished = FarStarted::finished, facts = FarStarted::facts_used;
  for (const auto like : {Like::uniform, Like::wide, Like::huge})
    for (const Index k : {40, 1000})
      for (const double tau : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9, 1e-11, 1e-13}) {
        Case<double> of(12, 11, k, like, 51);
        of.beta = 0, of.in_far_memory = true;
        EXPECT_TRUE(multiply(of.product(), Target::componentwise(tau), backend).certificate.holds);
      }
  const int used = FarStarted::finished - finished, in_vain = FarStarted::started - started - used;
  EXPECT_GE(used, 30);
  EXPECT_EQ(FarStarted::facts_used - facts, used);
  EXPECT_LE(in_vain, 4);
}

// Where no device chooses, a product starts under the plan of the host, before slices are tried.
TEST_F(Products, AreStartedUnderAPlanThatIsKnown) {
  const FarBackend device(1);
  const Backend backend(device.engine(), device.examiner(), nullptr, nullptr, {BackendId::Kind::cpu, "far"});
  const int known = FarStarted::known, finished = FarStarted::finished, asked = FarExamination::asked_of_slices;
  int taken = 0;
  for (const double tau : {1e-9, 1e-11, 1e-13}) {
    Case<double> of(12, 11, 40, Like::uniform, 91);
    of.beta = 0, of.in_far_memory = true;
    const auto done = multiply(of.product(), Target::normwise(tau), backend);
    EXPECT_TRUE(done.certificate.holds);
    taken += done.decision.plan && done.decision.plan->by_residues() ? 1 : 0;
  }
  EXPECT_EQ(taken, 3);
  EXPECT_EQ(FarStarted::known, known + 3);
  EXPECT_EQ(FarStarted::finished, finished + 3);
  EXPECT_EQ(FarExamination::asked_of_slices, asked);
  Case<double> with_c0(12, 11, 40, Like::uniform, 91);  // whose copy needs memory
  with_c0.beta = 0x1p-20, with_c0.in_far_memory = true;
  const auto done = multiply(with_c0.product(), Target::normwise(1e-13), backend);
  EXPECT_TRUE(done.certificate.holds && done.decision.plan && done.decision.plan->by_residues());
  EXPECT_EQ(FarStarted::known, known + 3);
}

// Products that Ziv's test refines start under the first plan, too. A device that cannot finish one leaves it to the engine.
TEST_F(Products, AreStartedWhereZivsTestFinishesThem) {
  const FarBackend device(1);
  const Backend backend(device.engine(), device.examiner(), nullptr, nullptr, {BackendId::Kind::cpu, "far"});
  const CpuEngine cpu({.threads = 1});
  const int known = FarStarted::known, decided = FarStarted::decided;
  int taken = 0, exact = 0;
  for (const auto like : {Like::uniform, Like::wide, Like::special})
    for (int t = 0; t < 3; ++t) {
      Case<double> of(12, 11, 40, like, 95 + static_cast<std::uint64_t>(t)), alone(of);
      of.beta = alone.beta = 0, of.in_far_memory = true;
      const int asked = FarExamination::asked_of_slices;
      const auto done = multiply(of.product(), Target::correctly_rounded(), backend);
      // A device takes long to find the facts of slices, which are no use where residues are far cheaper.
      EXPECT_EQ(FarExamination::asked_of_slices == asked, done.decision.plan->by_residues());
      const auto expected = multiply(alone.product(), Target::correctly_rounded(), cpu);
      EXPECT_EQ(bits_text(of.c), bits_text(alone.c));
      EXPECT_EQ(to_json(done.decision).at("plan"), to_json(expected.decision).at("plan"));
      EXPECT_EQ(done.certificate.exact, expected.certificate.exact);
      EXPECT_TRUE(done.certificate.holds);
      taken += done.decision.method == Method::correctly_rounded && done.decision.plan->by_residues() ? 1 : 0;
      exact += done.certificate.exact > 0 ? 1 : 0;
    }
  EXPECT_GE(taken, 6);
  EXPECT_GT(exact, 0);
  EXPECT_EQ(FarStarted::known, known + taken);
  EXPECT_EQ(FarStarted::decided, decided + taken);
}

// Through the plug-in, too, Ziv's test finds the open entries under the bound that stays on the device.
TEST_F(Products, LeaveTheSameEntriesOpenWhenTheyAreFinished) {
  const plugin::PluginBackend through(counterfeit(), far_device, 1);
  const auto backend = through.backend();
  const CpuEngine cpu({.threads = 1});
  const ResiduePlan plan{15, 50, 49};
  std::size_t open_entries = 0, finished = 0;
  for (int t = 0; t < 8; ++t) {  // some of which the device does not finish
    Case<double> of(12, 11, 40, Like::wide, 95 + static_cast<std::uint64_t>(t)), alone(of);
    of.beta = alone.beta = 0, of.in_far_memory = true;
    const auto call = of.product().real();
    const auto examination = backend.examiner().examine(call);
    const auto started =
        examination->allowance(Target::componentwise(1), 1)->start_product(call, {plan.moduli, plan.moduli, {}, plan});
    ASSERT_TRUE(started);
    const auto bound = examination->bound(plan);
    const auto open = started->finish_decided(call, ziv_bound(bound));
    if (!open) continue;
    ++finished;
    const auto here = HostExaminer(cpu).examine(alone.product().real());
    const auto same_bound = here->bound(plan);
    EXPECT_EQ(*open, multiply_finite(alone.product().real(), plan, cpu, ziv_bound(same_bound)));
    EXPECT_EQ(bits_text(of.c), bits_text(alone.c));
    open_entries += open->size();
  }
  EXPECT_EQ(finished, 6U);
  EXPECT_GT(open_entries, 50U);
}

// A decision that is carried out later takes one examination of its operands, which shows that the plan holds them.
TEST_F(Products, AreExaminedOnceWhenADecisionIsCarriedOut) {
  const FarBackend device(1);
  const Backend backend(device.engine(), device.examiner(), device.native(), nullptr, {BackendId::Kind::cpu, "far"});
  for (const bool residues : {true, false}) {
    Case<double> of(12, 11, 40, Like::uniform, 99);
    of.beta = 0, of.in_far_memory = true;
    Decision decision{Target::dgemm(), Method::native, {}, 12, 11, 40, 0, 0, {}, {}};
    if (residues) decision.method = Method::one_plan, decision.plan = ResiduePlan{17, 58, 58};
    const int made = FarExamination::made;
    EXPECT_TRUE(multiply(of.product(), decision, backend).holds);
    EXPECT_EQ(FarExamination::made, made + 1);
  }
}

/// Native DGEMM costs less than any plan that reaches its accuracy.
class CheapNative final : public CostModel {
 public:
  [[nodiscard]] CostOrigin origin() const override { return {}; }
  [[nodiscard]] double planned(const Plan& plan, Index, Index, Index) const override { return plan.products(); }
  [[nodiscard]] double native(Index, Index, Index) const override { return 9; }
  [[nodiscard]] double exact(Index, Index, Index) const override { return 1000; }
};

// No product is started that costs more than native DGEMM, unless native DGEMM cannot certify the target.
TEST_F(Products, AreStartedWhereNativeDgemmCannotCertify) {
  const FarBackend device(1);
  const CheapNative costs;
  const Backend backend(device.engine(), device.examiner(), device.native(), &costs, {BackendId::Kind::cpu, "far"});
  const Index k = 50;
  const auto multiplied = [&](const Target& target) {
    Case<double> of(9, 8, k, Like::uniform, 81);
    of.beta = 0, of.in_far_memory = true;
    return multiply(of.product(), target, backend);
  };
  const int started = FarStarted::started, finished = FarStarted::finished;
  EXPECT_EQ(multiplied(Target::dgemm()).decision.method, Method::native);
  EXPECT_EQ(FarStarted::started, started);
  const auto done = multiplied(Target::componentwise(static_cast<double>(k - 1) * 0x1p-53));
  EXPECT_EQ(done.decision.method, Method::one_plan);
  EXPECT_TRUE(done.certificate.holds);
  EXPECT_EQ(FarStarted::finished, finished + 1);
}

// A product that was started under another plan than the decision's is dropped, and starts again under the decision's.
TEST_F(Products, AreNotTakenFromAnotherPlan) {
  const FarBackend device(1);
  const Backend backend(device.engine(), device.examiner(), nullptr, nullptr, {BackendId::Kind::cpu, "far"});
  const auto multiplied = [&](int more_moduli) {
    Case<double> of(9, 8, 50, Like::uniform, 61);
    of.beta = 0, of.in_far_memory = true;
    FarStarted::more_moduli = more_moduli;
    const auto done = multiply(of.product(), Target::dgemm(), backend);
    FarStarted::more_moduli = 0;
    return to_json(done.certificate).dump() + bits_text(of.c);
  };
  const int before = FarStarted::finished, known = FarStarted::known;
  const auto usual = multiplied(0);
  EXPECT_EQ(FarStarted::finished, before + 1);
  EXPECT_EQ(FarStarted::known, known);
  EXPECT_EQ(multiplied(1), usual);
  EXPECT_EQ(FarStarted::finished, before + 2);
  EXPECT_EQ(FarStarted::known, known + 1);
}

// A started product is dropped where the decision needs its memory, and the result is the same.
TEST_F(Products, GiveTheirMemoryToTheDecision) {
  const FarBackend device(1);
  const Backend backend(device.engine(), device.examiner(), nullptr, nullptr, {BackendId::Kind::cpu, "far"});
  for (const double tau : {1e-7, 1e-9, 1e-11}) {
    const auto multiplied = [&](bool leaves_no_memory) {
      Case<double> of(9, 8, 50, Like::uniform, 71);
      of.beta = 0, of.in_far_memory = true;
      FarStarted::leaves_no_memory = leaves_no_memory;
      const auto seen = decided(of, Target::componentwise(tau), backend);
      FarStarted::leaves_no_memory = false;
      return seen;
    };
    const int finished = FarStarted::finished, refusals = FarStarted::refusals;
    const auto usual = multiplied(false);
    EXPECT_EQ(FarStarted::finished, finished + 1);
    EXPECT_EQ(multiplied(true), usual);
    EXPECT_EQ(FarStarted::finished, finished + 1);
    EXPECT_EQ(FarStarted::refusals, refusals + 1);
  }
}

bool same_norms(const IntegerNorms& x, const IntegerNorms& y) {
  return x.sum == y.sum && x.sum_squares == y.sum_squares && x.max == y.max;
}

bool same_norms(const std::vector<IntegerNorms>& x, const std::vector<IntegerNorms>& y) {
  return x.size() == y.size() &&
         std::equal(x.begin(), x.end(), y.begin(), [](const auto& u, const auto& v) { return same_norms(u, v); });
}

TEST_F(Products, HaveTheSameSlicesFactsAndSums) {
  const BothWays both(plain_device);
  const auto &here = both.here->engine(), &there = both.through.engine();
  std::mt19937_64 random(3);
  const auto a = matrix<double>(4, 6, Like::wide, random), b = matrix<double>(6, 3, Like::special, random);
  for (const auto& encoding : all_encodings()) {
    const Slicing slicing{encoding, 5};
    const bool common = encoding.common_ratio();
    const SplitPlan plan{slicing, slicing, common ? 8 : 10, common ? Accumulation::exact : Accumulation::per_product};
    const auto rows = here.slice(a, Side::rows_of_a, slicing), rows_there = there.slice(a, Side::rows_of_a, slicing);
    const auto columns = here.slice(b, Side::columns_of_b, slicing);
    const auto columns_there = there.slice(b, Side::columns_of_b, slicing);
    for (const auto& [x, y] : {std::pair(rows, rows_there), std::pair(columns, columns_there)}) {
      EXPECT_EQ(x.side(), y.side());
      EXPECT_EQ(x.slicing(), y.slicing());
      ASSERT_EQ(x.count(), y.count());
      ASSERT_EQ(x.inner_dimension(), y.inner_dimension());
      for (Index i = 0; i < x.count(); ++i) {
        EXPECT_EQ(x.exponent(i), y.exponent(i));
        EXPECT_EQ(x.special(i), y.special(i));
        for (int p = 1; p <= 5; ++p) {
          EXPECT_EQ(x.sum_of_digits(i, p), y.sum_of_digits(i, p));
          EXPECT_EQ(x.weight_exponent(i, p), y.weight_exponent(i, p));
          for (Index l = 0; l < x.inner_dimension(); ++l) EXPECT_EQ(x.digit(i, p, l), y.digit(i, p, l));
        }
      }
    }
    const auto facts = here.measure(b, Side::columns_of_b, slicing),
               facts_there = there.measure(b, Side::columns_of_b, slicing);
    EXPECT_EQ(facts.slicing, facts_there.slicing);
    ASSERT_EQ(facts.vectors.size(), facts_there.vectors.size());
    for (std::size_t i = 0; i < facts.vectors.size(); ++i) {
      const auto &x = facts.vectors[i], &y = facts_there.vectors[i];
      EXPECT_TRUE(same_norms(x.vector, y.vector) && same_norms(x.slices, y.slices) && same_norms(x.tails, y.tails));
      EXPECT_EQ(x.floor_squares, y.floor_squares);
      EXPECT_EQ(x.scale.exponent, y.scale.exponent);
      EXPECT_EQ(x.scale.special, y.scale.special);
      EXPECT_EQ(x.weights, y.weights);
    }
    const auto sums = here.group_sums(rows, columns, plan), sums_there = there.group_sums(rows_there, columns_there, plan);
    ASSERT_EQ(sums.size(), sums_there.size());
    for (std::size_t t = 0; t < sums.size(); ++t) EXPECT_EQ(bits_text(sums[t]), bits_text(sums_there[t]));
    EXPECT_EQ(here.workspace(plan, 4, 3, 6), there.workspace(plan, 4, 3, 6));
  }
}

TEST_F(Products, HaveTheSameResiduesNormsAndIntegers) {
  for (const int device : computing) {
    const BothWays both(device);
    const auto &here = both.here->engine(), &there = both.through.engine();
    EXPECT_TRUE(there.has_residues());
    std::mt19937_64 random(3);
    const auto a = matrix<double>(4, 6, Like::wide, random), b = matrix<double>(6, 3, Like::special, random);
    for (const ResiduePlan plan : {ResiduePlan{2, 5, 6}, ResiduePlan{13, 46, 47}, ResiduePlan{20, 120, 20}}) {
      const auto row = here.prepare(a, Side::rows_of_a, plan.a()), row_there = there.prepare(a, Side::rows_of_a, plan.a());
      const auto column = here.prepare(b, Side::columns_of_b, plan.b());
      const auto column_there = there.prepare(b, Side::columns_of_b, plan.b());
      for (const auto& [x, y] : {std::pair(row, row_there), std::pair(column, column_there)}) {
        const auto &of_x = x.residues().residues(), &of_y = y.residues().residues();
        EXPECT_EQ(of_x.side(), of_y.side());
        EXPECT_EQ(of_x.form(), of_y.form());
        ASSERT_EQ(of_x.count(), of_y.count());
        ASSERT_EQ(of_x.inner_dimension(), of_y.inner_dimension());
        for (Index i = 0; i < of_x.count(); ++i) {
          EXPECT_EQ(of_x.scale(i).exponent, of_y.scale(i).exponent);
          EXPECT_EQ(of_x.scale(i).special, of_y.scale(i).special);
          for (int t = 0; t < plan.moduli; ++t)
            for (Index l = 0; l < of_x.inner_dimension(); ++l) EXPECT_EQ(of_x.residue(i, t, l), of_y.residue(i, t, l));
        }
      }
      const auto groups = here.recovered_groups(row.residues(), column.residues(), plan);
      const auto groups_there = there.recovered_groups(row_there.residues(), column_there.residues(), plan);
      ASSERT_EQ(groups.size(), groups_there.size());
      for (std::size_t g = 0; g < groups.size(); ++g) EXPECT_EQ(bits_text(groups[g]), bits_text(groups_there[g]));
      EXPECT_EQ(here.workspace(plan, 4, 3, 6), there.workspace(plan, 4, 3, 6));
      EXPECT_EQ(here.costs().planned(plan, 4, 3, 6), there.costs().planned(plan, 4, 3, 6));
      Matrix<double> unwritten(4, 3);
      const RealProduct product{a, b, unwritten};
      EXPECT_EQ(both.here->examiner().examine(product)->holds(plan), both.through.examiner().examine(product)->holds(plan));
    }
    Matrix<double> c(4, 3);
    EXPECT_FALSE(both.through.examiner().examine(RealProduct{a, b, c})->holds({2, 30, 30}));
    EXPECT_EQ(here.largest_units(a, b), there.largest_units(a, b));
    const auto norms = here.norms(b, Side::columns_of_b), norms_there = there.norms(b, Side::columns_of_b);
    ASSERT_EQ(norms.size(), norms_there.size());
    for (std::size_t j = 0; j < norms.size(); ++j) {
      EXPECT_TRUE(same_norms(norms[j].norms, norms_there[j].norms));
      EXPECT_EQ(norms[j].floor_squares, norms_there[j].floor_squares);
      EXPECT_EQ(norms[j].last_bit, norms_there[j].last_bit);
      EXPECT_EQ(norms[j].scale.exponent, norms_there[j].scale.exponent);
      EXPECT_EQ(norms[j].scale.special, norms_there[j].scale.special);
    }
  }
}

/// C under a plan and a cap, and the text of an exception.
Seen seen_under(const Plan& plan, const Engine& engine, double cap) {
  Case<double> of(6, 5, 7, Like::wide, 21);
  of.alpha = -2, of.beta = 3;
  const auto thrown = or_thrown([&] {
    multiply_unproven(of.product(), plan, engine, cap);
    return std::string();
  });
  return Seen{thrown + bits_text(of.c)};
}

TEST_F(Products, ByResiduesUnderEveryCap) {
  for (const int device : computing) {
    const BothWays both(device);
    for (const ResiduePlan plan : {ResiduePlan{4, 10, 11}, ResiduePlan{13, 46, 47}, ResiduePlan{2, 53, 53}})
      for (const double cap : {unlimited_workspace, least_workspace(both.here->engine(), plan, 7), 1.0})
        EXPECT_EQ(seen_under(plan, both.here->engine(), cap), seen_under(plan, both.through.engine(), cap))
            << to_string(Plan(plan)) << cap;
  }
}

TEST_F(Products, UnderEveryPlanAndCap) {
  for (const int device : computing) {
    const BothWays both(device);
    for (const auto& encoding : all_encodings())
      for (const auto accumulation : {Accumulation::exact, Accumulation::per_product, Accumulation::per_diagonal}) {
        const SplitPlan plan{{encoding, 3}, {encoding, 2}, 4, accumulation};
        if (!encoding.common_ratio() && accumulation != Accumulation::per_product) continue;
        for (const double cap : {unlimited_workspace, least_workspace(both.here->engine(), plan, 7), 1.0})
          EXPECT_EQ(seen_under(plan, both.here->engine(), cap), seen_under(plan, both.through.engine(), cap))
              << to_string(plan) << cap;
      }
  }
}

/// Compares products with kept operands. Residues are kept for two moduli more than the plan has.
void expect_same_with_kept(const Plan& plan) {
  const auto kept_form = [&plan](Side side) {
    auto form = plan.form(side);
    if (auto* const residues = std::get_if<ResidueForm>(&form)) residues->moduli += 2;
    return form;
  };
  for (const int device : computing) {
    const BothWays both(device);
    const auto seen = [&](const Engine& engine, bool ziv) {
      Case<double> of(8, 9, 10, Like::wide, 22);
      of.alpha = 3, of.beta = -1;
      const auto product = of.product().real();
      const IntegerOperand a = engine.prepare(product.a, Side::rows_of_a, kept_form(Side::rows_of_a));
      const IntegerOperand b = engine.prepare(product.b, Side::columns_of_b, kept_form(Side::columns_of_b));
      const auto bound = fetched(both.here->examiner().examine(product)->bound(plan)).product;
      const auto open = multiply_finite(product, plan, engine, {&a, &b}, ziv ? &bound : nullptr);
      std::string text;
      for (const auto& entry : open) text += std::to_string(entry.i) + "," + std::to_string(entry.j) + " ";
      start_finite(product, plan, engine, {&a, nullptr}, unlimited_workspace);
      return Seen{text + bits_text(of.c)};
    };
    for (const bool ziv : {false, true}) EXPECT_EQ(seen(both.here->engine(), ziv), seen(both.through.engine(), ziv));
    EXPECT_NE(seen(both.here->engine(), true).text.find(','), std::string::npos) << "no entry is left open";
  }
}

TEST_F(Products, WithKeptSlices) { expect_same_with_kept(SplitPlan::balanced(4, 3, 6)); }
TEST_F(Products, WithKeptResidues) { expect_same_with_kept(ResiduePlan{8, 24, 25}); }

TEST_F(Products, TakeSlicesOfTheirOwnLayoutAlone) {
  const BothWays plain(plain_device), other(other_layout);
  const auto &engine = plain.through.engine(), &another = other.through.engine();
  std::mt19937_64 random(4);
  const auto a = matrix<double>(3, 200, Like::uniform, random), b = matrix<double>(200, 3, Like::uniform, random);
  const SplitPlan plan = SplitPlan::balanced(2, 2, 4);
  const auto ours = engine.slice(a, Side::rows_of_a, plan.a), right = engine.slice(b, Side::columns_of_b, plan.b);
  const auto theirs = another.slice(a, Side::rows_of_a, plan.a);
  const auto foreign = plain.here->engine().slice(a, Side::rows_of_a, plan.a);
  EXPECT_TRUE(engine.takes(ours));
  EXPECT_TRUE(another.takes(theirs));
  EXPECT_FALSE(engine.takes(theirs));
  EXPECT_FALSE(another.takes(ours));
  EXPECT_FALSE(engine.takes(foreign));
  EXPECT_FALSE(plain.here->engine().takes(ours));
  EXPECT_TRUE(BothWays(plain_device).through.engine().takes(ours));  // another engine with the same options
  Matrix<double> c(3, 3);
  for (const auto& left : {theirs, foreign}) {
    EXPECT_THROW(engine.multiply(left, right, plan, {}, c), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(engine.group_sums(left, right, plan)), std::invalid_argument);
  }
  const IntegerOperand kept_a = foreign, kept_b = right;
  EXPECT_THROW(static_cast<void>(engine.start({a, b, c}, plan, {&kept_a, &kept_b})), std::invalid_argument);
}

// Operands prepared by another engine are ignored and change nothing.
TEST_F(Products, WithOperandsPreparedElsewhere) {
  const BothWays both(plain_device);
  Case<double> of(5, 6, 7, Like::wide, 13);
  const auto product = of.product().real();
  const SplitPlan plan = SplitPlan::balanced(3, 3, 5);
  const PreparedOperand a(product.a, Side::rows_of_a, plan.a, both.here->engine());
  const auto with = both.through.examiner().examine(product, {&a, nullptr})->bound(plan);
  const auto without = both.through.examiner().examine(product)->bound(plan);
  EXPECT_EQ(with.product.upper(2, 3), without.product.upper(2, 3));
  EXPECT_EQ(with.row_exponents, without.row_exponents);
}

TEST_F(Products, HaveTheMatricesOfTheirEngine) {
  for (const int device : computing) {
    const BothWays both(device);
    const auto &here = both.here->engine().matrices(), &there = both.through.engine().matrices();
    for (const auto place : {in_host_memory, far, on_cuda_device(5)}) EXPECT_EQ(here.reaches(place), there.reaches(place));
    std::mt19937_64 random(14);
    for (const auto like : all_kinds) {
      const auto x = matrix<float>(4, 5, like, random);
      EXPECT_EQ(here.fingerprint(x), there.fingerprint(x));
      for (const auto side : {Side::rows_of_a, Side::columns_of_b}) {
        EXPECT_EQ(here.exponent_range(x, side).least, there.exponent_range(x, side).least);
        EXPECT_EQ(here.exponent_range(x, side).top, there.exponent_range(x, side).top);
      }
      EXPECT_EQ(here.exponent_range(x).least, there.exponent_range(x).least);
      EXPECT_EQ(here.exponent_range(x).top, there.exponent_range(x).top);
      const auto copy = there.copy(x);
      EXPECT_EQ(copy->view().place(), here.copy(x)->view().place());
      EXPECT_EQ(copy->view().is_double(), here.copy(x)->view().is_double());
      EXPECT_EQ(here.fingerprint(near(copy->view().as_input())), here.fingerprint(here.copy(x)->view().as_input()));
    }
    EXPECT_FALSE(there.matrix(2, 3, false)->view().is_double());
    EXPECT_EQ(there.matrix(2, 3, true)->view().rows(), 2);
  }
}

TEST_F(Products, CostWhatTheirEngineSays) {
  const BothWays both(plain_device);
  const auto &here = both.here->engine().costs(), &there = both.through.engine().costs();
  const SplitPlan plan = SplitPlan::balanced(3, 4, 5);
  EXPECT_EQ(here.origin(), there.origin());
  EXPECT_EQ(here.planned(plan, 2, 3, 4), there.planned(plan, 2, 3, 4));
  EXPECT_EQ(here.native(2, 3, 4), there.native(2, 3, 4));
  EXPECT_EQ(here.exact(2, 3, 4), there.exact(2, 3, 4));
  EXPECT_EQ(both.through.native()->name(), both.here->native()->name());
  EXPECT_EQ(to_string(both.through.backend().id()), "cuda: Counterfeit 0");
}

TEST_F(Products, HaveTheThreadsThatWereAskedFor) {
  for (const int threads : {1, 3})
    EXPECT_EQ(plugin::PluginBackend(counterfeit(), plain_device, threads).engine().threads(), threads);
  EXPECT_EQ(plugin::PluginBackend(counterfeit(), plain_device).engine().threads(), CpuEngine().threads());
}

}  // namespace
}  // namespace ozbound::test::products_test
