// SPDX-License-Identifier: BSD-3-Clause
#include "api/blas_calls.hpp"

#include "ozbound/batch.hpp"
#include "ozbound/machine.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/native.hpp"
#include "support/plain_gemm.hpp"

namespace ozbound::machine_test {
namespace {

/// Counts how often A and B were read, by the calls that read them.
class Looks {
 public:
  Looks() = default;
  Looks(const InputView& a, const InputView& b) : a_(memory_of(a)), b_(memory_of(b)) {}

  /// Records that a call reads a view: all of an operand, one of its vectors, or neither A nor B.
  void at(const std::string& call, const InputView& view) {
    for (const auto* const operand : {&a_, &b_}) {
      const auto [first, last] = memory_of(view);
      if (first < operand->first || last > operand->second) continue;
      const bool whole = last - first == operand->second - operand->first;
      ++(operand == &a_ ? of_a : of_b)[whole ? call : call + " of a part"];
      return;
    }
    ++of_others[call];
  }
  void at_factors(const std::string& call, const RealProduct& product) { at(call, product.a), at(call, product.b); }

  std::map<std::string, int> of_a, of_b, of_others;
  std::map<Side, int> sliced;  ///< number of slicings by side, for any operand

 private:
  using Memory = std::pair<const char*, const char*>;

  static Memory memory_of(const InputView& view) {
    if (view.empty()) return {};
    const auto ends = [](const auto& x) {
      return Memory(reinterpret_cast<const char*>(&x(0, 0)), reinterpret_cast<const char*>(&x(x.rows() - 1, x.cols() - 1) + 1));
    };
    return std::visit(ends, view.typed());
  }

  Memory a_, b_;
};

/// The host's matrices, with every use counted.
class CountingMatrices final : public Matrices {
 public:
  explicit CountingMatrices(Looks& looks) : looks_(looks) {}

  bool reaches(Place place) const override { return host_.reaches(place); }
  std::uint64_t fingerprint(const InputView& x) const override { return looks_.at("fingerprint", x), host_.fingerprint(x); }
  ExponentRange exponent_range(const InputView& x, Side side) const override {
    return looks_.at("exponent_range", x), host_.exponent_range(x, side);
  }
  ExponentRange exponent_range(const InputView& x) const override {
    return looks_.at("exponent_range", x), host_.exponent_range(x);
  }
  std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool wide) const override {
    return host_.matrix(rows, cols, wide);
  }
  std::unique_ptr<OwnedMatrix> copy(const InputView& x) const override { return looks_.at("copy", x), host_.copy(x); }
  SpecialEntries special_entries(const RealProduct& p) const override {
    return looks_.at_factors("special_entries", p), host_.special_entries(p);
  }
  Index count(const SpecialEntries& specials) const override { return host_.count(specials); }
  void apply_specials(const RealProduct& p, const SpecialEntries& s) const override {
    looks_.at_factors("apply_specials", p), host_.apply_specials(p, s);
  }
  void multiply_exactly(const RealProduct& p, const SpecialEntries& s) const override {
    looks_.at_factors("multiply_exactly", p), host_.multiply_exactly(p, s);
  }
  void finish_exactly(const RealProduct& p, const std::vector<Entry>& e) const override {
    if (!e.empty()) looks_.at_factors("finish_exactly", p);
    host_.finish_exactly(p, e);
  }
  std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& s) const override {
    return host_.infinite_entries(c, s);
  }
  std::unique_ptr<RealRepresentation> represent(const ComplexProduct& p) const override { return host_.represent(p); }

 private:
  Looks& looks_;
  HostMatrices host_{1};
};

/// The CPU's engine behind a decorator that counts.
class CountingEngine final : public Engine {
 public:
  explicit CountingEngine(Looks& looks) : looks_(looks), matrices_(looks) {}

  SlicedMatrix slice(InputView x, Side side, Slicing slicing) const override {
    ++looks_.sliced[side];
    looks_.at("slice", x);
    return engine_.slice(x, side, slicing);
  }
  bool has_residues() const override { return true; }
  std::vector<VectorNorms> norms(InputView x, Side side) const override {
    looks_.at("norms", x);
    return engine_.norms(x, side);
  }
  IntegerOperand prepare(InputView x, Side side, const OperandForm& form) const override {
    if (!std::holds_alternative<ResidueForm>(form)) return Engine::prepare(x, side, form);
    looks_.at("prepare", x);
    return engine_.prepare(x, side, form);
  }
  bool takes(const IntegerOperand& operand) const override { return engine_.takes(operand); }
  SliceFacts measure(InputView x, Side side, Slicing slicing) const override {
    looks_.at("measure " + std::to_string(slicing.slices), x);
    return engine_.measure(x, side, slicing);
  }
  std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan, const Epilogue& epilogue,
                              OutputView c) const override {
    return engine_.multiply(a, b, plan, epilogue, c);
  }
  const Matrices& matrices() const override { return matrices_; }
  std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                               const SplitPlan& plan) const override {
    return engine_.group_sums(a, b, plan);
  }
  const CostModel& costs() const override { return engine_.costs(); }
  double workspace(const Plan& plan, Index m, Index n, Index k) const override { return engine_.workspace(plan, m, n, k); }
  int threads() const override { return 1; }

 private:
  Looks& looks_;
  CountingMatrices matrices_;
  CpuEngine engine_{{.threads = 1}};
};

/// An examination that counts every answer that reads elements. Its own engine calls are counted by the engine.
class CountingExamination final : public Examination {
 public:
  CountingExamination(Looks& looks, const RealProduct& of, std::unique_ptr<Examination> host)
      : looks_(looks), of_(of), host_(std::move(host)) {}

  OperandRecord record() override { return looks_.at_factors("record", of_), host_->record(); }
  PlanBound bound(const Plan& plan) override { return host_->bound(plan); }
  double error_at(const Plan& plan, double uniform, Index i, Index j) override { return host_->error_at(plan, uniform, i, j); }
  std::unique_ptr<Allowance> allowance(const Target& target, double factor) override {
    return looks_.at_factors("allowance", of_), host_->allowance(target, factor);
  }
  bool holds(const ResiduePlan& plan) override { return host_->holds(plan); }
  std::optional<ResidueFacts> residue_facts() override { return host_->residue_facts(); }

 private:
  Looks& looks_;
  RealProduct of_;
  std::unique_ptr<Examination> host_;
};

class CountingExaminer final : public Examiner {
 public:
  CountingExaminer(Looks& looks, const Engine& engine) : looks_(looks), host_(engine) {}

  std::unique_ptr<Examination> examine(const RealProduct& product, const PreparedOperands& prepared) const override {
    looks_.at_factors("examine", product);
    return std::make_unique<CountingExamination>(looks_, product, host_.examine(product, prepared));
  }
  ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                           const SpecialEntries& specials) const override {
    return host_.result_facts(bound, remote, c, specials);
  }
  std::optional<Entry> last_inexact(const PlanBound& bound, const SpecialEntries& specials) const override {
    return host_.last_inexact(bound, specials);
  }
  Accepted accept_relative(const InputView& product, const PlanBound& bound, double alpha, double factor,
                           const SpecialEntries& specials, const OutputView& c) const override {
    return host_.accept_relative(product, bound, alpha, factor, specials, c);
  }

 private:
  Looks& looks_;
  HostExaminer host_;
};

/// A native DGEMM that counts its calls.
class CountingNative final : public NativeGemm {
 public:
  explicit CountingNative(Looks& looks) : looks_(looks) {}
  std::string name() const override { return native_.name(); }
  void dgemm(const RealProduct& product) const override { looks_.at_factors("dgemm", product), native_.dgemm(product); }

 private:
  Looks& looks_;
  test::PlainGemm native_;
};

std::string records(const Multiplied& product) {
  return to_json(product.decision).dump(1) + to_json(product.certificate).dump(1);
}

/// Costs in seconds that are the given numbers only.
struct Prices final : CostModel {
  double of_slices, of_native;

  Prices(double slices, double native) : of_slices(slices), of_native(native) {}
  [[nodiscard]] CostOrigin origin() const override { return {"test", "seconds", "", "", 0, ""}; }
  [[nodiscard]] double planned(const Plan& plan, Index, Index, Index) const override { return of_slices * plan.products(); }
  [[nodiscard]] double native(Index, Index, Index) const override { return of_native; }
  [[nodiscard]] double exact(Index, Index, Index) const override { return 1e9; }
};

/// The calls that read all of A, and all of B, when a product is decided, multiplied and certified in one call.
struct WholeLooks {
  Multiplied multiplied;
  std::map<std::string, int> of_a, of_b;
};

WholeLooks looks_of(const char* target, double price_of_native, bool offers_native, bool residues = true) {
  const auto product = test::product_of({Family::wide_exponents, 20, 21, 60, 3, 5});
  Looks looks(product.problem.a, product.problem.b);
  const CountingEngine engine(looks);
  const CountingExaminer examiner(looks, engine);
  const CountingNative native(looks);
  const Prices prices(1, price_of_native);
  const Machine machine({Backend(engine, examiner, offers_native ? &native : nullptr, &prices, {})});
  Matrix<double> c(20, 21);
  auto multiplied =
      multiply(Product{product.problem.a, product.problem.b, c}, parse_target(target), machine, {.residues = residues});
  const auto whole = [](std::map<std::string, int> calls) {
    std::erase_if(calls, [](const auto& call) { return call.first.ends_with(" of a part"); });
    return calls;
  };
  return {std::move(multiplied), whole(looks.of_a), whole(looks.of_b)};
}

/// An operand is read for one examination, which serves the decision and the certificate, and for its slices or residues; it is
/// measured once under each slicing.
TEST(Machine, ExaminesOperandsOnce) {
  for (const bool residues : {false, true})
    for (const bool offers_native : {false, true})
      for (const auto* text : {"dgemm", "componentwise:1e-9", "rowcol:1e-12", "normwise:1e-13", "relative:1e-9", "cr"}) {
        const auto looks = looks_of(text, 1e6, offers_native, residues);
        const auto target = parse_target(text);
        EXPECT_TRUE(looks.multiplied.certificate.holds) << text;
        for (auto calls : {looks.of_a, looks.of_b}) {
          const auto measured =
              std::erase_if(calls, [](const auto& call) { return call.first.starts_with("measure ") && call.second == 1; });
          EXPECT_TRUE(residues || measured > 0) << text;
          const auto plans = static_cast<int>(looks.multiplied.certificate.plans.size());
          std::map<std::string, int> expected{{"examine", 1}, {"allowance", 1}, {"record", 1}};
          expected[residues ? "prepare" : "slice"] = plans;
          if (residues || target.kind == Target::Kind::rowcol) expected["norms"] = 1;
          if (offers_native) expected["exponent_range"] = 1;
          if (looks.multiplied.certificate.exact > 0) expected["finish_exactly"] = 1;  // only for open entries
          EXPECT_EQ(calls, expected) << text << (offers_native ? ", native DGEMM considered" : "");
        }
      }
}

/// Native DGEMM reads operands once for exponents and for norms of one slice; no enclosure is computed.
TEST(Machine, ExaminesOperandsOfNativeDgemmOnce) {
  for (const auto* text : {"dgemm", "rowcol:1e-12", "componentwise:1e-9"}) {
    const auto looks = looks_of(text, 0.5, true);
    EXPECT_EQ(looks.multiplied.decision.method, Method::native) << text;
    EXPECT_TRUE(looks.multiplied.certificate.holds) << text;
    const std::map<std::string, int> expected{
        {"examine", 1}, {"exponent_range", 1}, {"record", 1}, {"measure 1", 1}, {"dgemm", 1}};
    EXPECT_EQ(looks.of_a, expected) << text;
    EXPECT_EQ(looks.of_b, expected) << text;
  }
}

/// A batch slices a shared operand once for all products with the same slicing, given as one operand or by equal pointers;
/// equal elements elsewhere are another operand.
TEST(Machine, ABatchSlicesWhatProductsShareOnce) {
  const auto product = test::product_of({Family::uniform, 6, 7, 20, 1, 5});
  const Matrix<double>&a = product.problem.a, &b = product.problem.b;
  Looks looks;
  const CountingEngine engine(looks);
  const CountingExaminer examiner(looks, engine);
  const Machine machine({Backend(engine, examiner, nullptr, nullptr, {})});
  const BlasOptions options{.native = false, .residues = false, .costs = &test::products, .machine = &machine};
  Matrix<double> copies(4 * 6, 20), c(4 * 6, 7);
  for (Index t = 0; t < copies.rows() * copies.cols(); ++t) copies.data()[t] = a.data()[t % (6 * 20)];
  std::vector<const double*> apart, equal{a.data(), copies.data(), a.data(), copies.data()};
  std::vector<double*> results;
  for (Index t = 0; t < 4; ++t) apart.push_back(copies.data() + 120 * t), results.push_back(c.data() + 42 * t);
  const auto slicings = [&](const PerProduct<const double*>& as) {
    const GemmBatch<double> batch{Layout::row_major, Op::none, Op::none, 6, 7, 20, 1, as, 20, b.data(), 7, 0, results, 7, 4};
    const auto decisions = decide_batched(batch, Target::dgemm(), options);
    looks = {};
    (void)gemm_batched(batch, decisions, options);
    return std::pair(looks.sliced[Side::rows_of_a], looks.sliced[Side::columns_of_b]);
  };
  const auto [each_a, one_b] = slicings(apart);
  const auto [one_a, one_b_again] = slicings(a.data());
  const auto [two_a, two_b] = slicings(equal);
  EXPECT_EQ(each_a, one_a + 3);
  EXPECT_EQ(one_b_again, one_b);
  EXPECT_EQ(two_a, one_a + 1);
  EXPECT_EQ(two_b, one_b);
  EXPECT_EQ(each_a, one_b + 3);
}

/// A decorated engine keeps the engine's capabilities and gives the same records.
TEST(Machine, ADecoratedEngineIsTheSame) {
  test::RandomBits random(3);
  for (const auto family : all_families())
    for (const auto* text : {"dgemm", "normwise:1e-13", "relative:1e-9", "cr"}) {
      const auto product = test::sample_product(test::sample_recipe(family, 2, 9, random), random);
      Looks looks;
      const CountingEngine engine(looks);
      const CountingExaminer examiner(looks, engine);
      const CpuEngine plain({.threads = 1});
      test::Result c(product.m(), product.n(), product.narrow), d(product.m(), product.n(), product.narrow);
      const auto of = [&](test::Result& result) {
        return Product{product.problem.a, product.problem.b, result.output(), product.alpha, product.beta, product.c0};
      };
      try {
        const auto decorated = multiply(of(c), parse_target(text), Machine({Backend(engine, examiner, nullptr, nullptr, {})}));
        EXPECT_EQ(records(decorated), records(multiply(of(d), parse_target(text), Machine({plain}))));
        EXPECT_EQ(c.bits(), d.bits());
      } catch (const CannotCertify&) {
        EXPECT_THROW((void)multiply(of(d), parse_target(text), Machine({plain})), CannotCertify);
      }
    }
}

struct Exact final : NativeGemm {
  [[nodiscard]] std::string name() const override { return "exact"; }
  void dgemm(const RealProduct& product) const override { multiply_exactly(product, 1); }
};

/// One decision is made for all backends. The cheapest backend carries it out, and the record names it.
TEST(Machine, TakesTheBackendWhereTheProductCostsLeast) {
  const auto product = test::product_of({Family::uniform, 9, 8, 30, 0, 7});
  const CpuEngine cpu({.threads = 1}), other({.threads = 1, .row_tile = 8});
  const HostExaminer examiner(other);
  const Exact native;
  const BackendId device{BackendId::Kind::cuda, "a device"};
  struct Case {
    Prices here, there;
    bool native_here;
    Method method;
    BackendId runs;
  };
  for (const auto& [here, there, native_here, method, runs] :
       {Case{{2, 1e6}, {1, 1e6}, true, Method::one_plan, device}, Case{{1, 1e6}, {2, 1e6}, true, Method::one_plan, {}},
        Case{{1, 1e6}, {1, 1e6}, true, Method::one_plan, {}}, Case{{100, 1}, {1, 1e6}, true, Method::native, {}},
        Case{{1, 1e6}, {100, 0.5}, false, Method::native, device}}) {
    const Machine machine({Backend(cpu, native_here ? &native : nullptr, &here),
                           Backend(other, examiner, native_here ? nullptr : &native, &there, device)});
    Matrix<double> c(9, 8), d(9, 8);
    const Product once{product.problem.a, product.problem.b, c}, twice{product.problem.a, product.problem.b, d};
    const auto multiplied = multiply(once, Target::dgemm(), machine);
    EXPECT_EQ(multiplied.decision.method, method);
    EXPECT_EQ(multiplied.decision.engine, runs);
    EXPECT_EQ(&machine.backend_of(multiplied.decision).engine(), runs == device ? &other : &cpu);
    EXPECT_TRUE(multiplied.certificate.holds);
    const auto decision = decide(twice, Target::dgemm(), machine);
    EXPECT_EQ(to_json(decision), to_json(multiplied.decision));
    EXPECT_EQ(to_json(multiply(twice, decision, machine)), to_json(multiplied.certificate));
    for (Index t = 0; t < 72; ++t) EXPECT_EQ(bits_of(c.data()[t]), bits_of(d.data()[t]));
  }
}

TEST(Machine, RefusesWhatIsNotHere) {
  using testing::HasSubstr;
  using testing::ThrowsMessage;
  EXPECT_THROW(Machine({}), std::invalid_argument);
  EXPECT_THROW(Machine::cpu(-1), std::invalid_argument);
  const CpuEngine engine({.threads = 1});
  const Prices seconds(1, 1);
  EXPECT_THROW(Machine({Backend(engine), Backend(engine, nullptr, &seconds)}), std::invalid_argument) << "two units";
  const Machine machine({engine});
  Decision elsewhere{Target::dgemm(), Method::native, {}, 1, 1, 1, 0, 0, {}, {}};
  elsewhere.engine = BackendId{BackendId::Kind::cuda, "a device"};
  Matrix<double> a(1, 1), c(1, 1);
  c(0, 0) = 7;
  EXPECT_THAT([&] { (void)multiply(Product{a, a, c}, elsewhere, machine); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("native DGEMM of 'cuda: a device', which is not here")));
  const auto far = [](const auto& view) { return view.at(on_cuda_device(0)); };
  const Product there{far(InputView(a)), far(InputView(a)), far(OutputView(c))};
  const auto not_reached = ThrowsMessage<std::invalid_argument>(HasSubstr("the memory of CUDA device 0"));
  EXPECT_THAT([&] { (void)multiply(there, Target::dgemm(), machine); }, not_reached);
  EXPECT_THAT([&] { (void)decide(there, Target::dgemm(), machine); }, not_reached);
  elsewhere.engine.reset();
  elsewhere.method = Method::exact;
  EXPECT_THAT([&] { (void)multiply(there, elsewhere, machine); }, not_reached);
  EXPECT_THAT([&] { (void)multiply(Product{far(InputView(a)), a, c}, Target::dgemm(), machine); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("a must lie where c does")));
  EXPECT_EQ(c(0, 0), 7);
  const auto without_c = ThrowsMessage<std::invalid_argument>(HasSubstr("c must be given"));
  const Matrix<std::complex<double>> z(1, 1);
  EXPECT_THAT([&] { (void)multiply({a, a}, Target::dgemm(), machine); }, without_c);
  EXPECT_THAT([&] { (void)multiply({z, z}, Target::dgemm(), machine); }, without_c);
  EXPECT_THAT([&] { (void)multiply({a, a}, elsewhere, engine); }, without_c);
  EXPECT_THAT([&] { multiply_unproven({a, a}, SplitPlan::balanced(2, 2, 4), engine); }, without_c);
  EXPECT_NO_THROW((void)decide({a, a}, Target::dgemm(), machine));
}

/// A decision for slices made on another machine gives the same bits on this one.
TEST(Machine, CarriesOutWhatWasDecidedElsewhere) {
  const auto product = test::product_of({Family::uniform, 5, 6, 7, 0, 7});
  const Machine machine = Machine::cpu(1);
  Matrix<double> c(5, 6), d(5, 6);
  auto decision = decide({product.problem.a, product.problem.b}, Target::dgemm(), machine, {.native = false});
  const auto here = multiply({product.problem.a, product.problem.b, c}, decision, machine);
  decision.engine = BackendId{BackendId::Kind::cuda, "a device"};
  EXPECT_EQ(to_json(multiply({product.problem.a, product.problem.b, d}, decision, machine)), to_json(here));
  for (Index t = 0; t < 30; ++t) EXPECT_EQ(bits_of(c.data()[t]), bits_of(d.data()[t]));
}

/// Costs supplied by the caller are recorded, in whatever unit the machine's costs are.
TEST(Machine, RecordsTheCostsThatItWasToldToCompareBy) {
  const auto product = test::product_of({Family::uniform, 9, 8, 30, 0, 7});
  const CpuEngine cpu({.threads = 1}), other({.threads = 1});
  const HostExaminer examiner(other);
  const Prices here(2, 1e6), there(1, 1e6);
  const Machine two(
      {Backend(cpu, nullptr, &here), Backend(other, examiner, nullptr, &there, {BackendId::Kind::cuda, "a device"})});
  const auto on_two = decide({product.problem.a, product.problem.b}, Target::dgemm(), two, {.costs = &test::products});
  EXPECT_EQ(on_two.costs.unit, "products");
  EXPECT_EQ(on_two.cost, on_two.plan->products());
  EXPECT_EQ(on_two.engine->kind, BackendId::Kind::cuda) << "where it takes less time";
  const auto on_cpu =
      decide({product.problem.a, product.problem.b}, Target::dgemm(), Machine::cpu(1), {.costs = &test::products});
  EXPECT_EQ(on_cpu.costs.unit, "products");
  EXPECT_EQ(on_cpu.cost, on_cpu.plan->products());
}

/// The callback gets the decision before anything is written, and may still refuse.
TEST(Machine, TellsTheDecisionBeforeItWrites) {
  const auto product = test::product_of({Family::uniform, 3, 3, 3, 0, 5});
  Matrix<double> c(3, 3);
  c(1, 1) = 7;
  MultiplyOptions options;
  std::string told;
  options.decided = [&](const Decision& decision) {
    told = to_json(decision).dump();
    EXPECT_EQ(c(1, 1), 7);
  };
  const auto multiplied =
      multiply(Product{product.problem.a, product.problem.b, c}, Target::dgemm(), Machine::cpu(1), {}, options);
  EXPECT_EQ(told, to_json(multiplied.decision).dump());
  EXPECT_NE(c(1, 1), 7);
  c(1, 1) = 7;
  options.decided = [](const Decision&) { throw std::runtime_error("no"); };
  EXPECT_THROW((void)multiply(Product{product.problem.a, product.problem.b, c}, Target::dgemm(), Machine::cpu(1), {}, options),
               std::runtime_error);
  EXPECT_EQ(c(1, 1), 7);
}

/// BLAS-shaped calls go through the machine. Bits of native DGEMM are not compared: a BLAS may sum in another order for another
/// storage order.
TEST(Machine, IsWhatBlasShapedCallsGoThrough) {
  test::RandomBits random(4);
  for (int t = 0; t < 60; ++t) {
    test::BlasCall<double> call(random.pick(test::layouts), random.pick(test::ops), random.pick(test::ops),
                                random.between(1, 6), random.between(1, 6), random.between(1, 9), 2, random);
    const bool native = t % 2 == 0;
    const auto c0 = call.product.c0;
    Matrix<double> c = c0;
    const Machine machine = Machine::cpu(1);
    const auto expected =
        multiply(Product{call.product.problem.a, call.product.problem.b, c, call.product.alpha, call.product.beta, c},
                 Target::dgemm(), machine, {.native = native});
    const auto found = gemm(call.layout, call.op_a, call.op_b, call.product.m(), call.product.n(), call.product.k(), call.alpha,
                            call.a.data(), call.a.ld, call.b.data(), call.b.ld, call.beta, call.c.data(), call.c.ld,
                            Target::dgemm(), {.native = native, .machine = &machine});
    EXPECT_EQ(found.method, expected.certificate.method);
    EXPECT_EQ(found.holds, expected.certificate.holds);
    if (found.method == Method::native) continue;
    EXPECT_EQ(to_json(found), to_json(expected.certificate));
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j) EXPECT_EQ(bits_of(call.c.at(i, j)), bits_of(c(i, j)));
  }
}

}  // namespace
}  // namespace ozbound::machine_test
