#include "bounds/products.hpp"

#include "ozbound/bounds/operand_access.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound {
namespace {

/// Memory that its users know by addresses which nobody may touch: whoever reads an element without asking its engine dies.
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

  /// An address for elements, never freed.
  template <class T>
  T* take(Index count) {
    const auto place = used_;
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    if (used_ > bytes) throw std::runtime_error("out of memory");
    return reinterpret_cast<T*>(far_ + place);
  }

  /// Where the elements of an address are.
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

/// The engine of operands in remote memory.
class RemoteEngine final : public Engine, public OperandAccess {
 public:
  explicit RemoteEngine(RemoteMemory& memory) : memory_(memory) {}

  SlicedMatrix slice(InputView x, Side side, Slicing slicing) const override { return engine_.slice(near(x), side, slicing); }
  bool takes(const SlicedMatrix& sliced) const override { return engine_.takes(sliced); }
  SliceFacts measure(InputView x, Side side, Slicing slicing) const override { return engine_.measure(near(x), side, slicing); }
  std::vector<Entry> multiply(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan, const Epilogue& epilogue,
                              OutputView c) const override {
    auto opened = epilogue;
    opened.c0 = near(epilogue.c0);
    return engine_.multiply(a, b, plan, opened, near(c));
  }
  std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                               const SplitPlan& plan) const override {
    return engine_.group_sums(a, b, plan);
  }
  const CostModel& costs() const override { return engine_.costs(); }
  double workspace(const SplitPlan& plan, Index m, Index n, Index k) const override { return engine_.workspace(plan, m, n, k); }
  int threads() const override { return engine_.threads(); }

  std::uint64_t fingerprint(const InputView& x) const override { return host_.fingerprint(near(x)); }
  ExponentRange exponent_range(const InputView& x, Side side) const override { return host_.exponent_range(near(x), side); }
  ExponentRange exponent_range(const InputView& x) const override { return host_.exponent_range(near(x)); }
  std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool is_double) const override {
    return std::make_unique<Owned>(is_double ? view<double>(rows, cols) : view<float>(rows, cols));
  }
  std::unique_ptr<OwnedMatrix> copy(const InputView& x) const override {
    auto result = matrix(x.rows(), x.cols(), true);
    const auto from = near(x);
    const auto to = near(result->view());
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j) to.set_bits(i, j, from.bits(i, j));
    return result;
  }
  SpecialEntries special_entries(const GemmCall& call) const override {
    auto specials = host_.special_entries(near(call));
    specials.c0 = specials.c0.empty() ? InputView() : call.c0;
    return specials;
  }
  Index count(const SpecialEntries& specials) const override { return host_.count(near(specials)); }
  void apply_specials(const GemmCall& call, const SpecialEntries& specials) const override {
    host_.apply_specials(near(call), near(specials));
  }
  void multiply_exactly(const GemmCall& call, const SpecialEntries& specials) const override {
    host_.multiply_exactly(near(call), near(specials));
  }
  void finish_exactly(const GemmCall& call, const std::vector<Entry>& entries) const override {
    host_.finish_exactly(near(call), entries);
  }
  std::unique_ptr<Examination> examine(const Factors& factors, const DecideOptions& options) const override {
    return std::make_unique<Examined>(*this, factors, options);
  }
  void multiply_finite(const GemmCall& call, const SplitPlan& plan, KeptSlices kept, double workspace) const override {
    host_.multiply_finite(near(call), plan, kept, workspace);
  }
  ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                           const SpecialEntries& specials) const override {
    return host_.result_facts(bound, remote, near(c), near(specials));
  }
  std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& specials) const override {
    return host_.infinite_entries(near(c), near(specials));
  }
  std::optional<Entry> last_inexact(const EntryBound& bound, const SpecialEntries& specials) const override {
    return host_.last_inexact(bound, near(specials));
  }
  Accepted accept_relative(const InputView& product, const ErrorBound& bound, double factor, const SpecialEntries& specials,
                           const OutputView& c) const override {
    return host_.accept_relative(near(product), bound, factor, near(specials), near(c));
  }

  [[nodiscard]] OutputView far(const InputView& x) const {
    const auto result = x.is_double() ? view<double>(x.rows(), x.cols()) : view<float>(x.rows(), x.cols());
    const auto to = near(result);
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j)
        to.set_bits(i, j, x.is_double() ? x.bits(i, j) : bits_of((*std::get_if<1>(&x.typed()))(i, j)));
    return result;
  }
  [[nodiscard]] InputView near(const InputView& x) const {
    return std::visit(
        [this]<class T>(const MatrixView<const T>& v) {
          return InputView(MatrixView<const T>(memory_.open(v.data()), v.rows(), v.cols(), v.row_stride(), v.col_stride()));
        },
        x.typed());
  }

 private:
  class Owned final : public OwnedMatrix {
   public:
    explicit Owned(OutputView view) : view_(view) {}
    OutputView view() override { return view_; }

   private:
    OutputView view_;
  };

  /// A bound that is not in the host's memory until it is fetched.
  class Bound final : public RemotePlanBound {
   public:
    explicit Bound(PlanBound bound) : bound_(std::move(bound)) {}
    PlanBound fetch() const override { return bound_; }

   private:
    PlanBound bound_;
  };

  /// With the options that it views.
  class Examined final : public Examination {
   public:
    Examined(const RemoteEngine& engine, Factors factors, DecideOptions options) : options_(options) {
      options_.c0 = engine.near(options.c0);
      factors.a = engine.near(factors.a), factors.b = engine.near(factors.b);
      host_ = engine.host_.examine(factors, options_);
    }
    OperandRecord record() override { return host_->record(); }
    PlanBound bound(const SplitPlan& plan) override { return {{}, {}, {}, std::make_shared<const Bound>(host_->bound(plan))}; }
    double error_at(const SplitPlan& plan, double uniform, Index i, Index j) override {
      return host_->error_at(plan, uniform, i, j);
    }
    std::unique_ptr<Allowance> allowance(const Target& target, double factor) override {
      return host_->allowance(target, factor);
    }

   private:
    DecideOptions options_;
    std::unique_ptr<Examination> host_;
  };

  template <class T>
  [[nodiscard]] OutputView view(Index rows, Index cols) const {
    return MatrixView<T>(memory_.take<T>(rows * cols), rows, cols, cols, 1);
  }
  [[nodiscard]] OutputView near(const OutputView& x) const {
    return std::visit(
        [this]<class T>(const MatrixView<T>& v) {
          return OutputView(MatrixView<T>(memory_.open(v.data()), v.rows(), v.cols(), v.row_stride(), v.col_stride()));
        },
        x.typed());
  }
  [[nodiscard]] GemmCall near(const GemmCall& call) const {
    return {near(call.a), near(call.b), near(call.c), call.alpha, call.beta, near(call.c0)};
  }
  [[nodiscard]] SpecialEntries near(SpecialEntries specials) const {
    specials.c0 = near(specials.c0);
    return specials;
  }

  RemoteMemory& memory_;
  CpuEngine engine_{{.threads = 1}};
  HostAccess host_{engine_};
};

/// Native DGEMM of remote operands: an exact product serves as well.
class RemoteNative final : public NativeGemm {
 public:
  explicit RemoteNative(const RemoteEngine& engine) : engine_(engine) {}
  void dgemm(const GemmCall& call) const override { engine_.multiply_exactly(call, engine_.special_entries(call)); }
  std::string name() const override { return "remote"; }

 private:
  const RemoteEngine& engine_;
};

/// The certificate, made with and without what was found out to decide, or why there is none.
std::string certified(const GemmCall& call, const Target& target, const Engine& engine, const DecideOptions& choices,
                      const GemmOptions& options) {
  try {
    const auto [decision, certificate] = gemm(call, target, engine, choices, options);
    const auto again = gemm(call, decision, engine, options);
    return to_json(certificate).dump() + '\n' + to_json(again).dump();
  } catch (const CannotCertify& refusal) {
    return refusal.what();
  }
}

/// Every way to decide and certify asks for elements through OperandAccess alone, and says the same as of matrices of the host.
TEST(OperandAccess, IsTheOnlyReaderOfElements) {
  test::RandomBits random(1);
  RemoteMemory memory;
  const RemoteEngine engine(memory);
  const RemoteNative native(engine);
  const CpuEngine host({.threads = 1});
  static const char* const targets[] = {"dgemm", "componentwise:1e-8", "rowcol:1e-13", "normwise:1e-14", "relative:1e-6",
                                        "cr",    "relative:3"};
  for (const auto family : all_families())
    for (const auto* text : targets)
      for (const bool native_only : {false, true}) {
        memory.clear();
        const auto product = test::sample_product(test::sample_recipe(family, 2, 7, random), random);
        test::Result c(product.m(), product.n(), product.narrow);
        const GemmCall call{product.problem.a, product.problem.b, c.output(), product.alpha, product.beta, product.c0};
        const GemmCall far{
            engine.far(call.a).as_input(), engine.far(call.b).as_input(), engine.far(c.input()), call.alpha, call.beta,
            engine.far(call.c0).as_input()};
        DecideOptions choices;
        choices.encoding = product.encoding;
        choices.native = native_only ? &native : nullptr;
        choices.slices = !native_only;
        const GemmOptions options{.native = &native};
        ASSERT_EQ(certified(far, parse_target(text), engine, choices, options),
                  certified(call, parse_target(text), host, choices, options))
            << product.describe() << ' ' << text;
      }
}

}  // namespace
}  // namespace ozbound
