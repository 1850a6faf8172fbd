// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/products.hpp"

#include "ozbound/bounds/examiner.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/gemm.hpp"

namespace ozbound::remote_matrices_test {
namespace {

/// Memory with addresses that nobody may dereference: code that reads an element without asking its engine crashes.
class RemoteMemory {
 public:
  RemoteMemory() {
    const int file = memfd_create("remote", 0);
    if (file < 0 || ftruncate(file, bytes) != 0) throw std::runtime_error("no memory");
    near_ = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    far_ = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0));
    close(file);
    if (near_ == MAP_FAILED || far_ == MAP_FAILED) throw std::runtime_error("no memory");
  }
  ~RemoteMemory() { munmap(near_, bytes), munmap(far_, bytes); }
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  /// A new address for elements, never freed.
  template <class T>
  T* take(Index count) {
    const auto place = used_;
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    if (used_ > bytes) throw std::runtime_error("out of memory");
    return reinterpret_cast<T*>(far_ + place);
  }

  /// The accessible elements behind an address.
  template <class T>
  [[nodiscard]] T* open(T* address) const {
    auto* const byte = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(address));
    return byte < far_ || byte >= far_ + bytes ? address : reinterpret_cast<T*>(near_ + (byte - far_));
  }

  void clear() { used_ = 0; }

 private:
  static constexpr std::size_t bytes = std::size_t{1} << 24;
  std::byte* near_;
  std::byte* far_;
  std::size_t used_ = 0;
};

/// Accessible views of remote memory.
class Near {
 public:
  explicit Near(RemoteMemory& memory) : memory_(memory) {}

  [[nodiscard]] InputView operator()(const InputView& x) const {
    return std::visit(
        [this]<class T>(const MatrixView<const T>& v) {
          return InputView(MatrixView<const T>(memory_.open(v.data()), v.rows(), v.cols(), v.row_stride(), v.col_stride()));
        },
        x.typed());
  }
  [[nodiscard]] OutputView operator()(const OutputView& x) const {
    return std::visit(
        [this]<class T>(const MatrixView<T>& v) {
          return OutputView(MatrixView<T>(memory_.open(v.data()), v.rows(), v.cols(), v.row_stride(), v.col_stride()));
        },
        x.typed());
  }
  [[nodiscard]] RealProduct operator()(const RealProduct& call) const {
    return {(*this)(call.a), (*this)(call.b), (*this)(call.c), call.alpha, call.beta, (*this)(call.c0)};
  }
  [[nodiscard]] SpecialEntries operator()(SpecialEntries specials) const {
    specials.c0 = (*this)(specials.c0);
    return specials;
  }
  template <class T>
  [[nodiscard]] OutputView take(Index rows, Index cols) const {
    return MatrixView<T>(memory_.take<T>(rows * cols), rows, cols, cols, 1);
  }

 private:
  RemoteMemory& memory_;
};

constexpr Place remote_place = on_cuda_device(7);

/// Matrices that reach remote memory only.
class RemoteMatrices final : public Matrices {
 public:
  explicit RemoteMatrices(const Near& near) : near_(near) {}

  bool reaches(Place place) const override { return place == remote_place; }
  std::uint64_t fingerprint(const InputView& x) const override { return host_.fingerprint(near_(x)); }
  ExponentRange exponent_range(const InputView& x, Side side) const override { return host_.exponent_range(near_(x), side); }
  ExponentRange exponent_range(const InputView& x) const override { return host_.exponent_range(near_(x)); }
  std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool is_double) const override {
    return std::make_unique<Owned>(is_double ? near_.take<double>(rows, cols) : near_.take<float>(rows, cols));
  }
  std::unique_ptr<OwnedMatrix> copy(const InputView& x) const override {
    auto result = matrix(x.rows(), x.cols(), true);
    const auto from = near_(x);
    const auto to = near_(result->view());
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j) to.set_bits(i, j, from.bits(i, j));
    return result;
  }
  SpecialEntries special_entries(const RealProduct& call) const override {
    auto specials = host_.special_entries(near_(call));
    specials.c0 = specials.c0.empty() ? InputView() : call.c0;
    return specials;
  }
  Index count(const SpecialEntries& specials) const override { return host_.count(near_(specials)); }
  void apply_specials(const RealProduct& call, const SpecialEntries& specials) const override {
    host_.apply_specials(near_(call), near_(specials));
  }
  void multiply_exactly(const RealProduct& call, const SpecialEntries& specials) const override {
    host_.multiply_exactly(near_(call), near_(specials));
  }
  void finish_exactly(const RealProduct& call, const std::vector<Entry>& entries) const override {
    host_.finish_exactly(near_(call), entries);
  }
  std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& specials) const override {
    return host_.infinite_entries(near_(c), near_(specials));
  }
  std::unique_ptr<RealRepresentation> represent(const ComplexProduct&) const override {
    throw std::logic_error("complex products are tested elsewhere");
  }

 private:
  class Owned final : public OwnedMatrix {
   public:
    explicit Owned(OutputView view) : view_(view) {}
    OutputView view() override { return view_; }

   private:
    OutputView view_;
  };

  const Near& near_;
  HostMatrices host_{1};
};

/// The engine of operands in remote memory.
class RemoteEngine final : public Engine {
 public:
  explicit RemoteEngine(RemoteMemory& memory) : near_(memory) {}

  SlicedMatrix slice(InputView x, Side side, Slicing slicing) const override { return engine_.slice(near_(x), side, slicing); }
  bool takes(const IntegerOperand& operand) const override { return engine_.takes(operand); }
  SliceFacts measure(InputView x, Side side, Slicing slicing) const override {
    return engine_.measure(near_(x), side, slicing);
  }
  std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan, const Epilogue& epilogue,
                              OutputView c) const override {
    auto opened = epilogue;
    opened.c0 = near_(epilogue.c0);
    return engine_.multiply(a, b, plan, opened, near_(c));
  }
  const Matrices& matrices() const override { return matrices_; }
  bool start(const RealProduct& product, const Plan& plan, KeptOperands kept) const override {
    multiply_finite(near_(product), plan, engine_, kept);
    return true;
  }
  std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                               const SplitPlan& plan) const override {
    return engine_.group_sums(a, b, plan);
  }
  const CostModel& costs() const override { return engine_.costs(); }
  double workspace(const Plan& plan, Index m, Index n, Index k) const override { return engine_.workspace(plan, m, n, k); }
  int threads() const override { return engine_.threads(); }

  [[nodiscard]] OutputView far(const InputView& x) const {
    const auto result =
        (x.is_double() ? near_.take<double>(x.rows(), x.cols()) : near_.take<float>(x.rows(), x.cols())).at(remote_place);
    const auto to = near_(result);
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j)
        to.set_bits(i, j, x.is_double() ? x.bits(i, j) : bits_of((*std::get_if<1>(&x.typed()))(i, j)));
    return result;
  }
  [[nodiscard]] const Near& near() const { return near_; }

 private:
  Near near_;
  CpuEngine engine_{{.threads = 1}};
  RemoteMatrices matrices_{near_};
};

/// The examiner of a RemoteEngine. Its bounds are not in the host's memory until they are fetched.
class RemoteExaminer final : public Examiner {
 public:
  explicit RemoteExaminer(const RemoteEngine& engine) : near_(engine.near()) {}

  std::unique_ptr<Examination> examine(const RealProduct& product, const PreparedOperands& prepared) const override {
    return std::make_unique<Examined>(host_.examine(near_(product), prepared));
  }
  ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                           const SpecialEntries& specials) const override {
    return host_.result_facts(bound, remote, near_(c), near_(specials));
  }
  std::optional<Entry> last_inexact(const PlanBound& bound, const SpecialEntries& specials) const override {
    return host_.last_inexact(bound, near_(specials));
  }
  Accepted accept_relative(const InputView& product, const PlanBound& bound, double alpha, double factor,
                           const SpecialEntries& specials, const OutputView& c) const override {
    return host_.accept_relative(near_(product), bound, alpha, factor, near_(specials), near_(c));
  }

 private:
  class Bound final : public RemotePlanBound {
   public:
    explicit Bound(PlanBound bound) : bound_(std::move(bound)) {}
    PlanBound fetch() const override { return bound_; }

   private:
    PlanBound bound_;
  };

  class Examined final : public Examination {
   public:
    explicit Examined(std::unique_ptr<Examination> host) : host_(std::move(host)) {}
    OperandRecord record() override { return host_->record(); }
    PlanBound bound(const Plan& plan) override { return {{}, {}, {}, std::make_shared<const Bound>(host_->bound(plan))}; }
    double error_at(const Plan& plan, double uniform, Index i, Index j) override {
      return host_->error_at(plan, uniform, i, j);
    }
    std::unique_ptr<Allowance> allowance(const Target& target, double factor) override {
      return host_->allowance(target, factor);
    }

   private:
    std::unique_ptr<Examination> host_;
  };

  const Near& near_;
  CpuEngine engine_{{.threads = 1}};
  HostExaminer host_{engine_};
};

/// Native DGEMM of remote operands, replaced by an exact product.
class RemoteNative final : public NativeGemm {
 public:
  explicit RemoteNative(const RemoteEngine& engine) : matrices_(engine.matrices()) {}
  void dgemm(const RealProduct& call) const override { matrices_.multiply_exactly(call, matrices_.special_entries(call)); }
  std::string name() const override { return "remote"; }

 private:
  const Matrices& matrices_;
};

/// The certificate, computed with and without the examination made for the decision, or the reason for having none.
std::string certified(const RealProduct& call, const Target& target, const Backend& backend, const Choices& choices) {
  try {
    const auto [decision, certificate] = multiply(call, target, backend, choices);
    const auto again = multiply(call, decision, backend);
    return to_json(certificate).dump() + '\n' + to_json(again).dump();
  } catch (const CannotCertify& refusal) {
    return refusal.what();
  }
}

/// Every way to decide and certify reads elements only through Matrices and Examiner, and gives the result of host matrices.
TEST(RemoteMatrices, AreReadByTheirOwnAlone) {
  test::RandomBits random(1);
  RemoteMemory memory;
  const RemoteEngine engine(memory);
  const RemoteExaminer examiner(engine);
  const RemoteNative native(engine);
  const CpuEngine cpu({.threads = 1});
  static const char* const targets[] = {"dgemm", "componentwise:1e-8", "rowcol:1e-13", "normwise:1e-14", "relative:1e-6",
                                        "cr",    "relative:3"};
  for (const auto family : all_families())
    for (const auto* text : targets)
      for (const bool native_only : {false, true}) {
        memory.clear();
        const auto product = test::sample_product(test::sample_recipe(family, 2, 7, random), random);
        test::Result c(product.m(), product.n(), product.narrow);
        const RealProduct call{product.problem.a, product.problem.b, c.output(), product.alpha, product.beta, product.c0};
        const RealProduct far{
            engine.far(call.a).as_input(), engine.far(call.b).as_input(), engine.far(c.input()), call.alpha, call.beta,
            engine.far(call.c0).as_input()};
        const Choices choices{.slices = !native_only, .residues = false, .native = native_only};
        // The host's matrices, multiplied by the same "DGEMM".
        struct Same final : NativeGemm {
          void dgemm(const RealProduct& real) const override { multiply_exactly(real, 1); }
          [[nodiscard]] std::string name() const override { return "remote"; }
        };
        const Same same;
        ASSERT_EQ(certified(far, parse_target(text), Backend(engine, examiner, &native, nullptr, {}), choices),
                  certified(call, parse_target(text), Backend(cpu, &same), choices))
            << product.describe() << ' ' << text;
      }
}

/// Matrices that an engine does not reach are refused by every function.
TEST(RemoteMatrices, AreRefusedByOthers) {
  RemoteMemory memory;
  const RemoteEngine engine(memory);
  const CpuEngine cpu({.threads = 1});
  const Matrix<double> one(1, 1);
  Matrix<double> c(1, 1);
  const auto a = engine.far(one).as_input();
  const auto there = engine.far(c);
  const Decision exact{Target::dgemm(), Method::exact, {}, 1, 1, 1, 0, 0, {}, {}};
  EXPECT_THROW((void)decide({a, a}, Target::dgemm(), cpu), std::invalid_argument);
  EXPECT_THROW((void)multiply({a, a, there}, exact, cpu), std::invalid_argument);
  EXPECT_THROW((void)multiply({a, a, there}, Target::dgemm(), cpu), std::invalid_argument);
  EXPECT_THROW(multiply_unproven({a, a, there}, SplitPlan::balanced(2, 2, 4), cpu), std::invalid_argument);
  EXPECT_THROW((void)multiply({a, one, there}, exact, cpu), std::invalid_argument) << "of two memories";
  EXPECT_THROW((void)multiply({one, one, c}, exact, Backend(engine)), std::invalid_argument);
  EXPECT_THROW((void)multiply({a, a, there}, exact, Backend(engine)), std::invalid_argument) << "with the host's examiner";
}

}  // namespace
}  // namespace ozbound::remote_matrices_test
