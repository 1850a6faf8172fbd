// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/detail/residue_choice.hpp"
#include "ozbound/bounds/detail/target_share.hpp"
#include "ozbound/bounds/examiner.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/plugin/export.hpp"
#include "support/plain_gemm.hpp"

// Devices that are really the CPU. They are used in a plug-in and, directly, by the tests that compare both ways.

namespace ozbound::test {

// The far device's memory is the host's under another name.

inline constexpr int far_device = 1;
inline constexpr Place far{far_device};

inline InputView near(const InputView& x) { return x.at(in_host_memory); }
inline OutputView near(const OutputView& x) { return x.at(in_host_memory); }
inline RealProduct near(RealProduct p) {
  p.a = near(p.a), p.b = near(p.b), p.c = near(p.c), p.c0 = near(p.c0);
  return p;
}
inline SpecialEntries near(SpecialEntries specials) {
  specials.c0 = near(specials.c0);
  return specials;
}

/// A matrix with copies in the far memory.
class FarMatrix final : public OwnedMatrix {
 public:
  explicit FarMatrix(std::unique_ptr<OwnedMatrix> of) : of_(std::move(of)) {}
  OutputView view() override { return of_->view().at(far); }

 private:
  std::unique_ptr<OwnedMatrix> of_;
};

/// Copies elements of one format.
inline void copy_elements(const InputView& from, const OutputView& to) {
  for (Index i = 0; i < from.rows(); ++i)
    for (Index j = 0; j < from.cols(); ++j)
      to.set_bits(i, j, from.is_double() ? from.bits(i, j) : bits_of(std::get<1>(from.typed())(i, j)));
}

class Brought final : public RealRepresentation {
 public:
  Brought(const RealProduct& of, const HostMatrices& host) : of_(of), product_(of) {
    const auto take = [&](const InputView& x) {
      copies_.push_back(host.matrix(x.rows(), x.cols(), x.is_double()));
      return copies_.back()->view().at(far);
    };
    const auto copy = [&](const InputView& x) {
      const auto there = take(x);
      copy_elements(x, near(there));
      return there;
    };
    product_.a = copy(of.a).as_input(), product_.b = copy(of.b).as_input();
    const bool in_place = !is_zero(of.beta) && view_data(of.c0) == view_data(of.c.as_input());
    product_.c = in_place ? copy(of.c.as_input()) : take(of.c.as_input());  // C may have no memory (unwritten)
    product_.c0 = is_zero(of.beta) ? InputView() : in_place ? product_.c.as_input() : copy(of.c0).as_input();
  }

  [[nodiscard]] const RealProduct& product() const override { return product_; }
  void write_back() const override { copy_elements(near(product_.c.as_input()), of_.c); }

 private:
  static const void* view_data(const InputView& x) {
    return std::visit([](const auto& v) { return static_cast<const void*>(v.data()); }, x.typed());
  }

  RealProduct of_, product_;
  std::vector<std::unique_ptr<OwnedMatrix>> copies_;
};

class FarMatrices final : public Matrices {
 public:
  explicit FarMatrices(int threads) : host_(threads) {}

  [[nodiscard]] bool reaches(Place place) const override { return place == far || place.is_host(); }
  [[nodiscard]] std::uint64_t fingerprint(const InputView& x) const override { return host_.fingerprint(near(x)); }
  [[nodiscard]] ExponentRange exponent_range(const InputView& x, Side side) const override {
    return host_.exponent_range(near(x), side);
  }
  [[nodiscard]] ExponentRange exponent_range(const InputView& x) const override { return host_.exponent_range(near(x)); }
  [[nodiscard]] std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool is_double) const override {
    return std::make_unique<FarMatrix>(host_.matrix(rows, cols, is_double));
  }
  [[nodiscard]] std::unique_ptr<OwnedMatrix> copy(const InputView& x) const override {
    return std::make_unique<FarMatrix>(host_.copy(near(x)));
  }
  [[nodiscard]] SpecialEntries special_entries(const RealProduct& p) const override {
    auto specials = host_.special_entries(near(p));
    specials.c0 = specials.c0.at(p.c0.place());
    return specials;
  }
  [[nodiscard]] Index count(const SpecialEntries& specials) const override { return host_.count(near(specials)); }
  void apply_specials(const RealProduct& p, const SpecialEntries& specials) const override {
    host_.apply_specials(near(p), near(specials));
  }
  void multiply_exactly(const RealProduct& p, const SpecialEntries& specials) const override {
    host_.multiply_exactly(near(p), near(specials));
  }
  void finish_exactly(const RealProduct& p, const std::vector<Entry>& entries) const override {
    host_.finish_exactly(near(p), entries);
  }
  [[nodiscard]] std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& specials) const override {
    return host_.infinite_entries(near(c), near(specials));
  }
  [[nodiscard]] std::unique_ptr<RealRepresentation> represent(const ComplexProduct& p) const override {
    return host_.represent(p);
  }
  [[nodiscard]] std::unique_ptr<RealRepresentation> bring(const RealProduct& p) const override {
    if (!p.c.place().is_host()) return nullptr;
    return std::make_unique<Brought>(p, host_);
  }

 private:
  HostMatrices host_;
};

class FarEngine final : public Engine {
 public:
  explicit FarEngine(int threads) : cpu_({.threads = threads}), matrices_(threads) {}

  [[nodiscard]] SlicedMatrix slice(InputView x, Side side, Slicing slicing) const override {
    return cpu_.slice(near(x), side, slicing);
  }
  [[nodiscard]] bool takes(const IntegerOperand& operand) const override { return cpu_.takes(operand); }
  [[nodiscard]] SliceFacts measure(InputView x, Side side, Slicing slicing) const override {
    return cpu_.measure(near(x), side, slicing);
  }
  [[nodiscard]] bool has_residues() const override { return true; }
  [[nodiscard]] std::vector<VectorNorms> norms(InputView x, Side side) const override { return cpu_.norms(near(x), side); }
  [[nodiscard]] std::uint64_t largest_units(InputView a, InputView b) const override {
    return cpu_.largest_units(near(a), near(b));
  }
  [[nodiscard]] IntegerOperand prepare(InputView x, Side side, const OperandForm& form) const override {
    return cpu_.prepare(near(x), side, form);
  }
  std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan, const Epilogue& epilogue,
                              OutputView c) const override {
    auto opened = epilogue;
    opened.c0 = near(epilogue.c0);
    return cpu_.multiply(a, b, plan, opened, near(c));
  }
  [[nodiscard]] const FarMatrices& matrices() const override { return matrices_; }
  [[nodiscard]] bool start(const RealProduct& product, const Plan& plan, KeptOperands kept) const override {
    multiply_finite(near(product), plan, cpu_, kept);
    return true;
  }
  /// Refuses products of a single row.
  [[nodiscard]] std::optional<std::vector<Entry>> multiply_whole(const RealProduct& product, const Plan& plan,
                                                                 KeptOperands kept, ZivBound error) const override {
    if (product.m() == 1) return std::nullopt;
    const auto near_by = near(product);
    const auto form_a = plan.form(Side::rows_of_a), form_b = plan.form(Side::columns_of_b);
    const auto a = kept.a != nullptr ? *kept.a : cpu_.prepare(near_by.a, Side::rows_of_a, form_a);
    const auto b = kept.b != nullptr ? *kept.b : cpu_.prepare(near_by.b, Side::columns_of_b, form_b);
    return cpu_.multiply(a, b, plan, {near_by.alpha, near_by.beta, near_by.c0, error}, near_by.c);
  }
  [[nodiscard]] std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                             const SplitPlan& plan) const override {
    return cpu_.group_sums(a, b, plan);
  }
  [[nodiscard]] std::vector<Matrix<std::int64_t>> recovered_groups(const ResidueMatrix& a, const ResidueMatrix& b,
                                                                   const ResiduePlan& plan) const override {
    return cpu_.recovered_groups(a, b, plan);
  }
  [[nodiscard]] const CostModel& costs() const override { return cpu_.costs(); }
  [[nodiscard]] double workspace(const Plan& plan, Index m, Index n, Index k) const override {
    return cpu_.workspace(plan, m, n, k);
  }
  [[nodiscard]] int threads() const override { return cpu_.threads(); }
  [[nodiscard]] const CpuEngine& cpu() const { return cpu_; }

 private:
  CpuEngine cpu_;
  FarMatrices matrices_;
};

class FarPlanBound final : public RemotePlanBound {
 public:
  explicit FarPlanBound(PlanBound bound) : bound_(std::move(bound)) {}
  [[nodiscard]] PlanBound fetch() const override { return bound_; }

 private:
  PlanBound bound_;
};

/// A plan's bound with its rounding.
inline ErrorBound far_bound(const RoundingError& rounding, const RemotePlanBound& plan) {
  ErrorBound bound;
  auto here = plan.fetch();
  static_cast<RoundingError&>(bound) = rounding;
  bound.product = std::move(here.product);
  bound.row_exponents = std::move(here.row_exponents), bound.column_exponents = std::move(here.column_exponents);
  return bound;
}

/// Returns twice the bound if it is a FarPlanBound, so certificates show that it was used.
inline ResultFacts far_result_facts(const HostExaminer& host, const ErrorBound& bound, const RemotePlanBound* remote,
                                    const InputView& c, const SpecialEntries& specials) {
  auto facts = host.result_facts(bound, nullptr, near(c), near(specials));
  if (dynamic_cast<const FarPlanBound*>(remote) != nullptr) facts.largest_bound *= 2;
  return facts;
}

/// A started product, which begins only when it is finished. Counts those that have a plan, and those that are finished.
class FarStarted final : public StartedProduct {
 public:
  FarStarted(std::optional<ResiduePlan> plan, const CpuEngine& cpu) : plan_(plan), cpu_(cpu) {
    started += plan ? 1 : 0;
    ++alive;
  }
  ~FarStarted() override { --alive; }
  FarStarted(const FarStarted&) = delete;
  FarStarted& operator=(const FarStarted&) = delete;

  [[nodiscard]] std::optional<ResiduePlan> plan() const override { return plan_; }
  std::function<ResultFacts()> finish(const RealProduct& product, const RoundingError& rounding,
                                      const RemotePlanBound* bound) override {
    ++finished;
    multiply_finite(near(product), *plan_, cpu_, KeptOperands());
    if (dynamic_cast<const FarPlanBound*>(bound) == nullptr) return nullptr;
    const auto specials = cpu_.matrices().special_entries(near(product));
    return [facts = far_result_facts(HostExaminer(cpu_), far_bound(rounding, *bound), bound, product.c.as_input(), specials)] {
      ++facts_used;
      return facts;
    };
  }

  std::optional<std::vector<Entry>> finish_decided(const RealProduct& product, ZivBound error) override {
    if (++decided % 4 == 0) return std::nullopt;
    const FetchedZivBound bound(error);
    return multiply_finite(near(product), *plan_, cpu_, KeptOperands(), bound.get());
  }

  static inline std::atomic<int> started = 0, finished = 0;
  static inline std::atomic<int> decided = 0;  ///< calls of finish_decided
  static inline std::atomic<int> facts_used = 0;
  static inline std::atomic<int> known = 0;        ///< products that were started under a plan of the host
  static inline std::atomic<int> more_moduli = 0;  ///< that a choice takes beyond those of the formula
  static inline std::atomic<int> alive = 0;
  static inline std::atomic<bool> leaves_no_memory = false;  ///< for other work while one is alive
  static inline std::atomic<int> refusals = 0;               ///< of work that had no memory for this reason

 private:
  std::optional<ResiduePlan> plan_;
  const CpuEngine& cpu_;
};

class FarAllowance final : public Allowance {
 public:
  FarAllowance(std::unique_ptr<Allowance> of, Examination& examination, const CpuEngine& cpu)
      : of_(std::move(of)), examination_(examination), cpu_(cpu) {}

  [[nodiscard]] Probe probe(Index i, Index j) const override { return of_->probe(i, j); }
  /// The result records whether the bound was the examiner's own.
  [[nodiscard]] Worst worst(const PlanBound& bound) const override {
    auto worst = of_->worst(fetched(bound));
    worst.assumes = dynamic_cast<const FarPlanBound*>(bound.remote.get()) != nullptr ? "far away" : "near by";
    return worst;
  }
  [[nodiscard]] std::function<Worst()> search_worst(const PlanBound& bound) const override {
    return [found = worst(bound)] { return found; };
  }
  /// Makes the choice, if there is one, as a device does.
  [[nodiscard]] std::unique_ptr<StartedProduct> start_product(const RealProduct& product,
                                                              const ProductStart& start) const override {
    if (start.known.moduli > 0) {
      ++FarStarted::known;
      return std::make_unique<FarStarted>(start.known, cpu_);
    }
    const auto facts = examination_.residue_facts();
    if (!facts || normwise()) return nullptr;
    const auto ratios = of_->largest_ratios({&facts->column_sums, &facts->row_sums});
    const ResidueNeeds needs{ratios[0],        ratios[1], facts->exact_bits_a, facts->exact_bits_b, facts->largest_units,
                             near(product).k()};
    auto least = ResidueNeeds::no_choice;
    for (int which = 0; which < ResidueNeeds::choices; ++which) least = std::min(least, needs.rank(which));
    if (least == ResidueNeeds::no_choice) return std::make_unique<FarStarted>(std::nullopt, cpu_);
    const auto bits = needs.ranked(least);
    const int moduli = std::max(needs.fewest_moduli(residue_halves, bits), start.least_moduli);
    if (moduli > start.most_moduli || moduli > start.most_by_bits[(bits.sum() + 1) / 2])
      return std::make_unique<FarStarted>(std::nullopt, cpu_);
    const auto spent = needs.spend(residue_halves, bits, moduli);
    return std::make_unique<FarStarted>(ResiduePlan{moduli + FarStarted::more_moduli, spent.a, spent.b}, cpu_);
  }
  [[nodiscard]] bool normwise() const override { return of_->normwise(); }
  [[nodiscard]] double normwise_share(Index i, Index j, double error) const override {
    return of_->normwise_share(i, j, error);
  }
  [[nodiscard]] std::vector<Probe> probes(Index per_side) const override { return of_->probes(per_side); }

 private:
  std::unique_ptr<Allowance> of_;
  Examination& examination_;
  const CpuEngine& cpu_;
};

class FarExamination final : public Examination {
 public:
  FarExamination(std::unique_ptr<Examination> of, const CpuEngine& cpu) : of_(std::move(of)), cpu_(cpu) { ++made; }

  OperandRecord record() override { return of_->record(); }
  PlanBound bound(const Plan& plan) override {
    PlanBound there;
    there.remote = std::make_shared<const FarPlanBound>(of_->bound(plan));
    return there;
  }
  double error_at(const Plan& plan, double uniform, Index i, Index j) override {
    asked_of_slices += plan.by_residues() ? 0 : 1;
    if (FarStarted::leaves_no_memory && FarStarted::alive > 0) {
      ++FarStarted::refusals;
      throw OutOfMemory("a started product holds all memory");
    }
    return of_->error_at(plan, uniform, i, j);
  }
  bool holds(const ResiduePlan& plan) override { return of_->holds(plan); }
  std::optional<ResidueFacts> residue_facts() override {
    auto facts = of_->residue_facts();
    for (auto* const sums : {&facts->row_sums, &facts->column_sums}) {
      PlanBound there;
      there.remote = std::make_shared<const FarPlanBound>(std::move(*sums));
      *sums = std::move(there);
    }
    return facts;
  }
  std::optional<OuterRanges> outer_ranges() override { return of_->outer_ranges(); }
  std::unique_ptr<Allowance> allowance(const Target& target, double factor) override {
    return std::make_unique<FarAllowance>(of_->allowance(target, factor), *of_, cpu_);
  }

  static inline std::atomic<int> made = 0;             ///< examinations
  static inline std::atomic<int> asked_of_slices = 0;  ///< errors of single entries under plans by slices

 private:
  std::unique_ptr<Examination> of_;
  const CpuEngine& cpu_;
};

class FarExaminer final : public Examiner {
 public:
  explicit FarExaminer(const FarEngine& engine) : cpu_(engine.cpu()), host_(engine.cpu()) {}

  [[nodiscard]] std::unique_ptr<Examination> examine(const RealProduct& p, const PreparedOperands& prepared) const override {
    return std::make_unique<FarExamination>(host_.examine(near(p), prepared), cpu_);
  }
  [[nodiscard]] ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                                         const SpecialEntries& specials) const override {
    return far_result_facts(host_, bound, remote, c, specials);
  }
  [[nodiscard]] std::function<ResultFacts()> start_result_facts(const RoundingError& rounding, const RemotePlanBound* remote,
                                                                const InputView& c,
                                                                const SpecialEntries& specials) const override {
    const auto* const own = dynamic_cast<const FarPlanBound*>(remote);
    if (own == nullptr) return nullptr;
    return [facts = result_facts(far_bound(rounding, *own), remote, c, specials)] { return facts; };
  }
  [[nodiscard]] std::optional<Entry> last_inexact(const PlanBound& bound, const SpecialEntries& specials) const override {
    return host_.last_inexact(bound, near(specials));
  }
  Accepted accept_relative(const InputView& product, const PlanBound& bound, double alpha, double factor,
                           const SpecialEntries& specials, const OutputView& c) const override {
    return host_.accept_relative(near(product), bound, alpha, factor, near(specials), near(c));
  }

 private:
  const CpuEngine& cpu_;
  HostExaminer host_;
};

class FarNative final : public NativeGemm {
 public:
  [[nodiscard]] std::string name() const override { return "three far loops"; }
  void dgemm(const RealProduct& call) const override { PlainGemm().dgemm(near(call)); }
};

/// The stream of a far device: it says how the device decides a product, and counts waits.
struct FarStream {
  enum Way { not_launched, nothing_chosen, by_residues, beyond_the_target, infinite, natively } way;
  int waits = 0;
};

/// A product that is computed when it is launched.
class FarLaunched final : public LaunchedProduct {
 public:
  FarLaunched(const RealProduct& call, const Target& target, FarStream& stream, const CpuEngine& cpu, const NativeGemm& native)
      : stream_(stream) {
    if (stream.way == FarStream::nothing_chosen) return;
    const FloatEnvironment environment;
    const Backend backend(cpu, &native);
    auto& record = record_.emplace();
    const auto examination = backend.examiner().examine(call);
    static_cast<void>(examination->residue_facts());
    record.operands = examination->record();
    record.ranges = *examination->outer_ranges();
    Decision decision{target, Method::native, {}, call.m(), call.n(), call.k(), 0, 0, {}, {}};
    record.native = stream.way == FarStream::natively;
    if (!record.native) {
      record.plan = {17, 58, 57};
      decision.method = Method::one_plan, decision.plan = record.plan;
      record.bound = examination->bound(record.plan);
      const double tau = target_tau(target, call.k(), binary64, false);
      record.worst =
          examination->allowance(target, share_before_rounding_lower(tau, unit_roundoff(binary64)))->worst(record.bound);
      if (stream.way == FarStream::beyond_the_target) record.worst.ratio = 2;
    }
    const auto certificate = multiply(call, decision, backend);
    record.of_c = {certificate.fingerprints.c, record.native ? 0 : certificate.largest_bound,
                   stream.way == FarStream::infinite};
  }
  [[nodiscard]] std::optional<StreamRecord> wait() const override {
    ++stream_.waits;
    return record_;
  }

 private:
  FarStream& stream_;
  std::optional<StreamRecord> record_;
};

class FarLauncher final : public StreamLauncher {
 public:
  FarLauncher(const FarEngine& engine, const NativeGemm& native) : cpu_(engine.cpu()), native_(native) {}

  [[nodiscard]] std::unique_ptr<LaunchedProduct> launch(const RealProduct& product, const Target& target,
                                                        void* stream) const override {
    auto& far_stream = *static_cast<FarStream*>(stream);
    if (far_stream.way == FarStream::not_launched) return nullptr;
    return std::make_unique<FarLaunched>(near(product), target, far_stream, cpu_, native_);
  }
  void wait(void* stream) const override { ++static_cast<FarStream*>(stream)->waits; }

 private:
  const CpuEngine& cpu_;
  const NativeGemm& native_;
};

class FarBackend final : public plugin::ExportedBackend {
 public:
  explicit FarBackend(int threads) : engine_(threads), examiner_(engine_), launcher_(engine_, near_native_) {}
  [[nodiscard]] const StreamLauncher* launcher() const override { return &launcher_; }
  [[nodiscard]] const Engine& engine() const override { return engine_; }
  [[nodiscard]] const Examiner& examiner() const override { return examiner_; }
  [[nodiscard]] const NativeGemm* native() const override { return &native_; }

 private:
  FarEngine engine_;
  FarExaminer examiner_;
  FarNative native_;
  PlainGemm near_native_;
  FarLauncher launcher_;
};

class PlainBackend final : public plugin::ExportedBackend {
 public:
  explicit PlainBackend(CpuEngine::Options options) : engine_(options), examiner_(engine_) {}
  [[nodiscard]] const Engine& engine() const override { return engine_; }
  [[nodiscard]] const Examiner& examiner() const override { return examiner_; }
  [[nodiscard]] const NativeGemm* native() const override { return &native_; }

 private:
  CpuEngine engine_;
  HostExaminer examiner_;
  PlainGemm native_;
};

/// The error that a counterfeit device reports.
class CounterfeitError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An engine that fails at every product, or at products with more entries than it has room for.
class FailingEngine final : public Engine {
 public:
  explicit FailingEngine(std::function<void(Index entries)> fail) : cpu_({.threads = 1}), fail_(std::move(fail)) {}

  [[nodiscard]] SlicedMatrix slice(InputView x, Side side, Slicing slicing) const override {
    return cpu_.slice(x, side, slicing);
  }
  [[nodiscard]] bool takes(const IntegerOperand& operand) const override { return cpu_.takes(operand); }
  [[nodiscard]] SliceFacts measure(InputView x, Side side, Slicing slicing) const override {
    return cpu_.measure(x, side, slicing);
  }
  std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan, const Epilogue& epilogue,
                              OutputView c) const override {
    fail_(c.rows() * c.cols());
    return cpu_.multiply(a, b, plan, epilogue, c);
  }
  [[nodiscard]] const Matrices& matrices() const override { return cpu_.matrices(); }
  [[nodiscard]] std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                             const SplitPlan& plan) const override {
    return cpu_.group_sums(a, b, plan);
  }
  [[nodiscard]] const CostModel& costs() const override { return cpu_.costs(); }
  [[nodiscard]] double workspace(const Plan& plan, Index m, Index n, Index k) const override {
    return cpu_.workspace(plan, m, n, k);
  }
  [[nodiscard]] int threads() const override { return 1; }

 private:
  CpuEngine cpu_;
  std::function<void(Index)> fail_;
};

class FailingBackend final : public plugin::ExportedBackend {
 public:
  explicit FailingBackend(std::function<void(Index)> fail) : engine_(std::move(fail)), examiner_(engine_) {}
  [[nodiscard]] const Engine& engine() const override { return engine_; }
  [[nodiscard]] const Examiner& examiner() const override { return examiner_; }
  [[nodiscard]] const NativeGemm* native() const override { return nullptr; }

 private:
  FailingEngine engine_;
  HostExaminer examiner_;
};

/// The device numbers.
enum CounterfeitDevice : int {
  plain_device,
  far_away = far_device,
  other_layout,  ///< slices have another layout than those of plain_device
  little_memory,
  throws_invalid_argument,
  throws_length_error,
  throws_out_of_memory,
  throws_bad_alloc,
  throws_cannot_certify,
  throws_device_error,
  throws_runtime_error,
  throws_logic_error,
  throws_number,
  throws_long_text,
  counterfeit_count
};

inline void fail_as(int device, Index entries) {
  switch (device) {
    case little_memory:
      if (entries > 30) throw OutOfMemory("room for 30 entries");
      return;
    case throws_invalid_argument: throw std::invalid_argument("a: is not to my taste");
    case throws_length_error: throw std::length_error("a is long");
    case throws_out_of_memory: throw OutOfMemory("no room for anything");
    case throws_bad_alloc: throw std::bad_alloc();
    case throws_cannot_certify: throw CannotCertify("nothing is certain");
    case throws_device_error: throw CounterfeitError("launch: unspecified failure");
    case throws_runtime_error: throw std::runtime_error("it ran, then it did not");
    case throws_logic_error: throw std::logic_error("this cannot be");
    case throws_number: throw 42;  // NOLINT(hicpp-exception-baseclass)
    default: throw std::invalid_argument(std::string(5000, 'x'));
  }
}

class CounterfeitDevices final : public plugin::ExportedDevices {
 public:
  [[nodiscard]] std::string obstacle() const override { return ""; }
  [[nodiscard]] int count() const override { return counterfeit_count; }
  [[nodiscard]] plugin::DeviceInfo info(int device) const override {
    check(device);
    plugin::DeviceInfo info{"Counterfeit " + std::to_string(device), "1." + std::to_string(device), 1u << 20, {}};
    info.calibration.processor = info.name, info.calibration.kernel = "slow", info.calibration.version = "0";
    info.calibration.engine = "cuda", info.calibration.blas = "three loops", info.calibration.tile = {4, 8};
    return info;
  }
  void release_memory(int device) const override { check(device); }
  [[nodiscard]] Calibration measure_rates(int device, int threads, double seconds,
                                          const std::function<void(double)>& progress) const override {
    auto calibration = info(device).calibration;
    Rates rates;
    rates.threads = threads;
    for (std::size_t t = 0; t < rates.slices.size(); ++t) rates.slices[t] = seconds / static_cast<double>(3 + t);
    for (std::size_t t = 0; t < rates.exact.size(); ++t) rates.exact[t] = seconds / static_cast<double>(5 + t);
    for (const double share : {0.25, 0.5, 1.0}) progress(share);
    calibration.rates = {rates};
    return calibration;
  }
  [[nodiscard]] std::unique_ptr<plugin::ExportedBackend> make(int device, int threads) const override {
    check(device);
    switch (device) {
      case plain_device: return std::make_unique<PlainBackend>(CpuEngine::Options{.threads = threads});
      case far_away: return std::make_unique<FarBackend>(threads);
      case other_layout: return std::make_unique<PlainBackend>(CpuEngine::Options{.threads = threads, .inner_block = 4});
      default: return std::make_unique<FailingBackend>([device](Index entries) { fail_as(device, entries); });
    }
  }
  [[nodiscard]] bool is_device_error(const std::exception& error) const override {
    return dynamic_cast<const CounterfeitError*>(&error) != nullptr;
  }

 private:
  static void check(int device) {
    if (device < 0 || device >= counterfeit_count)
      throw std::invalid_argument("device: there is no device " + std::to_string(device));
  }
};

}  // namespace ozbound::test
