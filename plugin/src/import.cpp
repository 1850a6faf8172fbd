// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/plugin/import.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "conversions.hpp"
#include "fork_watch.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/prepared_operand.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/usable_threads.hpp"

namespace ozbound::plugin {
namespace {

using Table = ozbound_plugin_table;

[[noreturn]] void throw_as(std::int32_t status, const ozbound_plugin_call& call) {
  const std::string message = call.message;
  switch (status) {
    case OZBOUND_PLUGIN_INVALID_ARGUMENT: throw std::invalid_argument(message);
    case OZBOUND_PLUGIN_LENGTH_ERROR: throw std::length_error(message);
    case OZBOUND_PLUGIN_OUT_OF_MEMORY: throw OutOfMemory(message);
    case OZBOUND_PLUGIN_BAD_ALLOC: throw std::bad_alloc();
    case OZBOUND_PLUGIN_CANNOT_CERTIFY: throw CannotCertify(message);
    case OZBOUND_PLUGIN_DEVICE_ERROR: throw DeviceError(message);
    case OZBOUND_PLUGIN_CANCELLED: throw Cancelled(call.c_may_be_written != 0);
    case OZBOUND_PLUGIN_RUNTIME_ERROR: throw std::runtime_error(message);
    default: throw InternalError(message);
  }
}

std::int32_t is_requested(const void* scope) { return static_cast<const CancelScope*>(scope)->requested() ? 1 : 0; }

/// Calls a function of a table under the CancelScope of this thread, with a buffer for its message after the arguments.
/// @throws the exception of the function; DeviceError in a child of fork().
template <class... Parameters, class... Arguments>
void ask(std::int32_t (*function)(Parameters...), Arguments... arguments) {
  if (forked_after_loading()) throw DeviceError(obstacle_in_child);
  ozbound_plugin_call call;
  call.context = CancelScope::innermost();
  call.cancelled = call.context == nullptr ? nullptr : is_requested;
  call.c_may_be_written = 0;
  const auto status = function(arguments..., &call);
  if (status != OZBOUND_PLUGIN_OK) throw_as(status, call);
}

/// Frees a handle, except in a child of fork(), where it belongs to the parent.
template <class T>
class Free {
 public:
  Free(void (*free)(T*)) : free_(free) {}  // NOLINT(google-explicit-constructor): it is the function, and a condition
  void operator()(T* handle) const {
    if (!forked_after_loading()) free_(handle);
  }

 private:
  void (*free_)(T*);
};

/// A handle that frees its object.
template <class T>
using Held = std::unique_ptr<T, Free<T>>;

using Result = Held<ozbound_plugin_result>;

std::vector<Entry> take(const Table& table, const ozbound_plugin_entries& entries) {
  const Result kept(entries.result, table.free_result);
  return entries_from(entries.data, entries.count);
}

std::string take(const Table& table, const ozbound_plugin_string& text) {
  const Result kept(text.result, table.free_result);
  return text_from(text.text);
}

class PluginSlices final : public Slices {
 public:
  PluginSlices(const Table& table, Held<ozbound_plugin_operand> slices, Side side, Slicing slicing, Index count, Index inner)
      : Slices(side, slicing, count, inner), table_(table), slices_(std::move(slices)) {}

  [[nodiscard]] VectorScale scale(Index i) const override {
    std::int32_t exponent = 0, special = 0;
    ask(table_.scale, slices_.get(), i, &exponent, &special);
    return {exponent, special != 0};
  }
  [[nodiscard]] int digit(Index i, int p, Index l) const override {
    std::int32_t digit = 0;
    ask(table_.digit, slices_.get(), i, p, l, &digit);
    return digit;
  }
  [[nodiscard]] std::int64_t sum_of_digits(Index i, int p) const override {
    std::int64_t sum = 0;
    ask(table_.sum_of_digits, slices_.get(), i, p, &sum);
    return sum;
  }
  [[nodiscard]] int weight_exponent(Index i, int p) const override {
    std::int32_t exponent = 0;
    ask(table_.weight_exponent, slices_.get(), i, p, &exponent);
    return exponent;
  }

  [[nodiscard]] const Table& table() const { return table_; }
  [[nodiscard]] ozbound_plugin_operand* handle() const { return slices_.get(); }

 private:
  const Table& table_;
  Held<ozbound_plugin_operand> slices_;
};

class PluginResidues final : public Residues {
 public:
  PluginResidues(const Table& table, Held<ozbound_plugin_operand> residues, Side side, ResidueForm form, Index count,
                 Index inner)
      : Residues(side, form, count, inner), table_(table), residues_(std::move(residues)) {}

  [[nodiscard]] VectorScale scale(Index i) const override {
    std::int32_t exponent = 0, special = 0;
    ask(table_.scale, residues_.get(), i, &exponent, &special);
    return {exponent, special != 0};
  }
  [[nodiscard]] int residue(Index i, int t, Index l) const override {
    std::int32_t residue = 0;
    ask(table_.residue, residues_.get(), i, t, l, &residue);
    return residue;
  }

  [[nodiscard]] const Table& table() const { return table_; }
  [[nodiscard]] ozbound_plugin_operand* handle() const { return residues_.get(); }

 private:
  const Table& table_;
  Held<ozbound_plugin_operand> residues_;
};

/// The handle of slices or residues made by this plug-in, otherwise null.
ozbound_plugin_operand* handle_of(const IntegerOperand& operand, const Table& table) {
  const auto handle = [&table](const auto* ours) {
    return ours != nullptr && &ours->table() == &table ? ours->handle() : nullptr;
  };
  if (const auto* const residues = operand.residues_or_null())
    return handle(dynamic_cast<const PluginResidues*>(&residues->residues()));
  return handle(dynamic_cast<const PluginSlices*>(&operand.slices().slices()));
}

/// A bound in host memory. Its norms stay in the plug-in's result and are not copied.
PlanBound take(const Table& table, const ozbound_plugin_plan_bound& bound) {
  const std::shared_ptr<const void> owner(bound.result,
                                          [free = table.free_result](ozbound_plugin_result* kept) { free(kept); });
  return plan_bound_from(bound, owner);
}

class PluginPlanBound final : public RemotePlanBound {
 public:
  PluginPlanBound(const Table& table, Held<ozbound_plugin_remote_bound> bound) : table_(table), bound_(std::move(bound)) {}

  [[nodiscard]] PlanBound fetch() const override {
    ozbound_plugin_plan_bound bound = {};
    ask(table_.fetch, bound_.get(), &bound);
    return take(table_, bound);
  }

  [[nodiscard]] const Table& table() const { return table_; }
  [[nodiscard]] ozbound_plugin_remote_bound* handle() const { return bound_.get(); }

 private:
  const Table& table_;
  Held<ozbound_plugin_remote_bound> bound_;
};

/// The handle of a bound that this plug-in keeps, otherwise null.
ozbound_plugin_remote_bound* handle_of(const RemoteEntryBound* remote, const Table& table) {
  const auto* const ours = dynamic_cast<const PluginPlanBound*>(remote);
  return ours != nullptr && &ours->table() == &table ? ours->handle() : nullptr;
}

/// A bound for Ziv's test in the boundary's form: the handle of a bound that this plug-in keeps, or its numbers, or neither.
class ZivBoundTable {
 public:
  ZivBoundTable(ZivBound bound, const Table& table)
      : remote_(handle_of(bound.remote(), table)), here_(remote_ == nullptr ? bound : ZivBound()) {
    if (here_.get() == nullptr) return;
    terms_.emplace(*here_.get());
    numbers_ = terms_->table();
  }

  [[nodiscard]] const ozbound_plugin_entry_bound* here() const { return terms_ ? &numbers_ : nullptr; }
  [[nodiscard]] const ozbound_plugin_remote_bound* remote() const { return remote_; }

 private:
  const ozbound_plugin_remote_bound* remote_;
  FetchedZivBound here_;
  std::optional<BoundTerms> terms_;
  ozbound_plugin_entry_bound numbers_ = {};
};

OperandRecord take(const Table& table, const ozbound_plugin_record& record) {
  const Result kept(record.result, table.free_result);
  return {record.a, record.b, vector_from(record.rows, record.row_count), vector_from(record.columns, record.column_count)};
}

Worst take(const Table& table, const ozbound_plugin_worst& worst) {
  const Result kept(worst.result, table.free_result);
  return {worst.ratio, worst.i, worst.j, text_from(worst.assumes)};
}

/// Passes a bound to `use` in the boundary's form: the handle of a bound that this plug-in keeps, or its numbers.
template <class Use>
auto with_bound(const PlanBound& bound, const Table& table, const Use& use) {
  if (auto* const remote = handle_of(bound.remote.get(), table); remote != nullptr) return use(kept_bound(remote));
  const auto here = fetched(bound);
  return use(PlanBoundTable(here.product, here.row_exponents, here.column_exponents).table());
}

class PluginMatrix final : public OwnedMatrix {
 public:
  PluginMatrix(Held<ozbound_plugin_matrix> matrix, OutputView view) : matrix_(std::move(matrix)), view_(view) {}
  OutputView view() override { return view_; }

 private:
  Held<ozbound_plugin_matrix> matrix_;
  OutputView view_;
};

class PluginRepresentation final : public RealRepresentation {
 public:
  PluginRepresentation(const Table& table, Held<ozbound_plugin_representation> of, const RealProduct& product)
      : table_(table), of_(std::move(of)), product_(product) {}

  [[nodiscard]] const RealProduct& product() const override { return product_; }
  void write_back() const override { ask(table_.write_back, of_.get()); }

 private:
  const Table& table_;
  Held<ozbound_plugin_representation> of_;
  RealProduct product_;
};

class PluginCosts final : public CostModel {
 public:
  PluginCosts(const Table& table, const ozbound_plugin_backend* backend) : table_(table), backend_(backend) {}

  [[nodiscard]] CostOrigin origin() const override {
    ozbound_plugin_cost_origin origin = {};
    ask(table_.cost_origin, backend_, &origin);
    const Result kept(origin.result, table_.free_result);
    return {text_from(origin.model),  text_from(origin.unit), text_from(origin.processor),
            text_from(origin.kernel), origin.threads,         text_from(origin.note)};
  }
  [[nodiscard]] double planned(const Plan& plan, Index m, Index n, Index k) const override {
    const auto crossing = plan_of(plan);
    double cost = 0;
    ask(table_.cost_of_plan, backend_, &crossing, m, n, k, &cost);
    return cost;
  }
  [[nodiscard]] double native(Index m, Index n, Index k) const override {
    double cost = 0;
    ask(table_.cost_of_native, backend_, m, n, k, &cost);
    return cost;
  }
  [[nodiscard]] double exact(Index m, Index n, Index k) const override {
    double cost = 0;
    ask(table_.cost_of_exact, backend_, m, n, k, &cost);
    return cost;
  }

 private:
  const Table& table_;
  const ozbound_plugin_backend* backend_;
};

class PluginMatrices final : public Matrices {
 public:
  PluginMatrices(const Table& table, const ozbound_plugin_backend* backend) : table_(table), backend_(backend) {}

  [[nodiscard]] bool reaches(Place place) const override {
    std::int32_t reaches = 0;
    ask(table_.reaches, backend_, place.device, &reaches);
    return reaches != 0;
  }
  [[nodiscard]] std::uint64_t fingerprint(const InputView& matrix) const override {
    const auto view = view_of(matrix);
    std::uint64_t fingerprint = 0;
    ask(table_.fingerprint, backend_, &view, &fingerprint);
    return fingerprint;
  }
  [[nodiscard]] ExponentRange exponent_range(const InputView& operand, Side side) const override {
    const auto view = view_of(operand);
    ozbound_plugin_range range = {};
    ask(table_.exponent_range_of_vectors, backend_, &view, side_of(side), &range);
    return range_from(range);
  }
  [[nodiscard]] ExponentRange exponent_range(const InputView& matrix) const override {
    const auto view = view_of(matrix);
    ozbound_plugin_range range = {};
    ask(table_.exponent_range, backend_, &view, &range);
    return range_from(range);
  }
  [[nodiscard]] std::unique_ptr<OwnedMatrix> matrix(Index rows, Index cols, bool is_double) const override {
    return owned(
        [&](auto** matrix, auto* view) { ask(table_.new_matrix, backend_, rows, cols, is_double ? 1 : 0, matrix, view); });
  }
  [[nodiscard]] std::unique_ptr<OwnedMatrix> copy(const InputView& of) const override {
    const auto from = view_of(of);
    return owned([&](auto** matrix, auto* view) { ask(table_.copy_matrix, backend_, &from, matrix, view); });
  }
  [[nodiscard]] SpecialEntries special_entries(const RealProduct& product) const override {
    const auto crossing = product_of(product);
    ozbound_plugin_specials specials = {};
    ask(table_.special_entries, backend_, &crossing, &specials);
    const Result kept(specials.result, table_.free_result);
    return specials_from(specials);
  }
  [[nodiscard]] Index count(const SpecialEntries& specials) const override {
    const auto crossing = specials_of(specials);
    Index count = 0;
    ask(table_.count_specials, backend_, &crossing, &count);
    return count;
  }
  void apply_specials(const RealProduct& product, const SpecialEntries& specials) const override {
    const auto crossing = product_of(product);
    const auto known = specials_of(specials);
    ask(table_.apply_specials, backend_, &crossing, &known);
  }
  void write_specials(const RealProduct& product) const override {
    const auto crossing = product_of(product);
    ask(table_.write_specials, backend_, &crossing);
  }
  void multiply_exactly(const RealProduct& product, const SpecialEntries& specials) const override {
    const auto crossing = product_of(product);
    const auto known = specials_of(specials);
    ask(table_.multiply_exactly, backend_, &crossing, &known);
  }
  void finish_exactly(const RealProduct& product, const std::vector<Entry>& entries) const override {
    const auto crossing = product_of(product);
    const auto list = entries_of(entries);
    ask(table_.finish_exactly, backend_, &crossing, list.data(), count_of(list));
  }
  [[nodiscard]] std::vector<Entry> infinite_entries(const InputView& c, const SpecialEntries& specials) const override {
    const auto view = view_of(c);
    const auto known = specials_of(specials);
    ozbound_plugin_entries entries = {};
    ask(table_.infinite_entries, backend_, &view, &known, &entries);
    return take(table_, entries);
  }
  [[nodiscard]] std::unique_ptr<RealRepresentation> represent(const ComplexProduct& product) const override {
    return representation(table_.represent, product_of(product));
  }
  [[nodiscard]] std::unique_ptr<RealRepresentation> bring(const RealProduct& product) const override {
    return representation(table_.bring, product_of(product));
  }

 private:
  template <class Make>
  std::unique_ptr<OwnedMatrix> owned(const Make& make) const {
    ozbound_plugin_matrix* matrix = nullptr;
    ozbound_plugin_view view = {};
    make(&matrix, &view);
    return std::make_unique<PluginMatrix>(Held<ozbound_plugin_matrix>(matrix, table_.free_matrix), output_from(view));
  }

  template <class Function, class Crossing>
  std::unique_ptr<RealRepresentation> representation(Function function, const Crossing& product) const {
    ozbound_plugin_representation* made = nullptr;
    ozbound_plugin_product stands = {};
    ask(function, backend_, &product, &made, &stands);
    if (made == nullptr) return nullptr;
    return std::make_unique<PluginRepresentation>(table_, Held<ozbound_plugin_representation>(made, table_.free_representation),
                                                  product_from(stands));
  }

  const Table& table_;
  const ozbound_plugin_backend* backend_;
};

VectorFacts facts_from(const ozbound_plugin_vector_facts& v) {
  const auto norms = [](const std::uint64_t* numbers) { return IntegerNorms{numbers[0], numbers[1], numbers[2]}; };
  VectorFacts facts;
  facts.vector = norms(v.vector);
  facts.floor_squares = v.floor_squares;
  for (Index p = 0; p < v.slice_count; ++p) facts.slices.push_back(norms(v.slices + 3 * p));
  for (Index p = 0; p < v.tail_count; ++p) facts.tails.push_back(norms(v.tails + 3 * p));
  facts.scale = {v.exponent, v.special != 0};
  facts.weights = vector_from(v.weights, v.weight_count);
  return facts;
}

class PluginEngine final : public Engine {
 public:
  PluginEngine(const Table& table, const ozbound_plugin_backend* backend)
      : table_(table), backend_(backend), matrices_(table, backend), costs_(table, backend) {}

  [[nodiscard]] SlicedMatrix slice(InputView operand, Side side, Slicing slicing) const override {
    return prepare(operand, side, slicing).slices();
  }
  [[nodiscard]] bool has_residues() const override {
    std::int32_t has = 0;
    ask(table_.has_residues, backend_, &has);
    return has != 0;
  }
  [[nodiscard]] IntegerOperand prepare(InputView operand, Side side, const OperandForm& form) const override {
    const auto view = view_of(operand);
    const auto crossing = form_of(form);
    ozbound_plugin_operand* made = nullptr;
    Index count = 0, inner = 0;
    ask(table_.prepare, backend_, &view, side_of(side), &crossing, &made, &count, &inner);
    Held<ozbound_plugin_operand> held(made, table_.free_operand);
    if (const auto* const residues = std::get_if<ResidueForm>(&form))
      return ResidueMatrix(std::make_shared<const PluginResidues>(table_, std::move(held), side, *residues, count, inner));
    return SlicedMatrix(
        std::make_shared<const PluginSlices>(table_, std::move(held), side, std::get<Slicing>(form), count, inner));
  }
  [[nodiscard]] bool takes(const IntegerOperand& operand) const override {
    const auto* const integers = handle_of(operand, table_);
    if (integers == nullptr) return false;
    std::int32_t takes = 0;
    ask(table_.takes, backend_, integers, &takes);
    return takes != 0;
  }
  [[nodiscard]] std::vector<VectorNorms> norms(InputView operand, Side side) const override {
    const auto view = view_of(operand);
    ozbound_plugin_norms norms = {};
    ask(table_.norms, backend_, &view, side_of(side), &norms);
    const Result kept(norms.result, table_.free_result);
    std::vector<VectorNorms> vectors;
    vectors.reserve(static_cast<std::size_t>(norms.count));
    for (Index i = 0; i < norms.count; ++i) vectors.push_back(norms_from(norms.vectors[i]));
    return vectors;
  }
  [[nodiscard]] SliceFacts measure(InputView operand, Side side, Slicing slicing) const override {
    const auto view = view_of(operand);
    const auto crossing = slicing_of(slicing);
    ozbound_plugin_facts facts = {};
    ask(table_.measure, backend_, &view, side_of(side), &crossing, &facts);
    const Result kept(facts.result, table_.free_result);
    std::vector<VectorFacts> vectors;
    vectors.reserve(static_cast<std::size_t>(facts.count));
    for (Index i = 0; i < facts.count; ++i) vectors.push_back(facts_from(facts.vectors[i]));
    return {slicing_from(facts.slicing), std::move(vectors)};
  }
  [[nodiscard]] std::uint64_t largest_units(InputView a, InputView b) const override {
    const auto left = view_of(a), right = view_of(b);
    std::uint64_t units = 0;
    ask(table_.largest_units, backend_, &left, &right, &units);
    return units;
  }
  std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan, const Epilogue& epilogue,
                              OutputView c) const override {
    const auto crossing = plan_of(plan);
    const auto* const left = handle_of(a, table_);
    const auto* const right = handle_of(b, table_);
    if (left == nullptr || right == nullptr) {
      check_operands(a, b, plan);
      check_epilogue(epilogue, c, a.count(), b.count());
      refuse_operands();
    }
    const auto c0 = view_of(epilogue.c0), to = view_of(c);
    const ZivBoundTable error(epilogue.error, table_);
    ozbound_plugin_entries open = {};
    ask(table_.multiply, backend_, left, right, &crossing, epilogue.alpha, epilogue.beta, &c0, error.here(), error.remote(),
        &to, &open);
    return take(table_, open);
  }
  [[nodiscard]] const Matrices& matrices() const override { return matrices_; }
  [[nodiscard]] bool start(const RealProduct& product, const Plan& plan, KeptOperands kept) const override {
    const auto [a, b] = handles_of(kept);
    const auto crossing = product_of(product);
    const auto under = plan_of(plan);
    std::int32_t started = 0;
    ask(table_.start, backend_, &crossing, &under, a, b, &started);
    return started != 0;
  }
  [[nodiscard]] std::optional<std::vector<Entry>> multiply_whole(const RealProduct& product, const Plan& plan,
                                                                 KeptOperands kept, ZivBound error) const override {
    const auto [a, b] = handles_of(kept);
    const auto crossing = product_of(product);
    const auto under = plan_of(plan);
    const ZivBoundTable bound(error, table_);
    std::int32_t done = 0;
    ozbound_plugin_entries open = {};
    ask(table_.multiply_whole, backend_, &crossing, &under, a, b, bound.here(), bound.remote(), &done, &open);
    return done != 0 ? std::optional(take(table_, open)) : std::nullopt;
  }
  [[nodiscard]] std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                             const SplitPlan& plan) const override {
    return sums_of(a, b, plan);
  }
  [[nodiscard]] std::vector<Matrix<std::int64_t>> recovered_groups(const ResidueMatrix& a, const ResidueMatrix& b,
                                                                   const ResiduePlan& plan) const override {
    return sums_of(a, b, plan);
  }
  [[nodiscard]] const CostModel& costs() const override { return costs_; }
  [[nodiscard]] double workspace(const Plan& plan, Index m, Index n, Index k) const override {
    const auto crossing = plan_of(plan);
    double bytes = 0;
    ask(table_.workspace, backend_, &crossing, m, n, k, &bytes);
    return bytes;
  }
  [[nodiscard]] int threads() const override {
    std::int32_t threads = 0;
    ask(table_.threads, backend_, &threads);
    return usable_threads(threads);
  }

 private:
  struct Handles {
    const ozbound_plugin_operand *a, *b;
  };

  /// Null for operands that are not kept. @throws std::invalid_argument for those of another engine.
  [[nodiscard]] Handles handles_of(KeptOperands kept) const {
    const auto handle = [this](const IntegerOperand* operand) {
      return operand == nullptr ? nullptr : handle_of(*operand, table_);
    };
    const Handles handles{handle(kept.a), handle(kept.b)};
    if ((handles.a == nullptr) != (kept.a == nullptr) || (handles.b == nullptr) != (kept.b == nullptr)) refuse_operands();
    return handles;
  }

  [[noreturn]] static void refuse_operands() {
    throw std::invalid_argument("a and b must be prepared by an engine with the same options");
  }

  [[nodiscard]] std::vector<Matrix<std::int64_t>> sums_of(const IntegerOperand& a, const IntegerOperand& b,
                                                          const Plan& plan) const {
    const auto* const left = handle_of(a, table_);
    const auto* const right = handle_of(b, table_);
    if (left == nullptr || right == nullptr) {
      check_operands(a, b, plan);
      refuse_operands();
    }
    const auto crossing = plan_of(plan);
    ozbound_plugin_sums sums = {};
    ask(table_.group_sums, backend_, left, right, &crossing, &sums);
    const Result kept(sums.result, table_.free_result);
    std::vector<Matrix<std::int64_t>> groups;
    for (Index t = 0; t < sums.count; ++t)
      std::copy_n(sums.data[t], sums.rows * sums.cols, groups.emplace_back(sums.rows, sums.cols).data());
    return groups;
  }

  const Table& table_;
  const ozbound_plugin_backend* backend_;
  PluginMatrices matrices_;
  PluginCosts costs_;
};

ozbound_plugin_rounding rounding_of(const RoundingError& rounding) {
  return {rounding.alpha, rounding.result_factor, rounding.underflow, rounding.rounded_once ? 1 : 0, 0};
}

/// Waits for passes of the plug-in. Null if there are none.
std::function<ResultFacts()> facts_of(ozbound_plugin_passes* passes, const Table& table) {
  if (passes == nullptr) return nullptr;
  return [held = std::shared_ptr<ozbound_plugin_passes>(Held<ozbound_plugin_passes>(passes, table.free_passes)), &table] {
    ozbound_plugin_result_facts facts = {};
    ask(table.started_result_facts, held.get(), &facts);
    return ResultFacts{facts.fingerprint, facts.largest_bound, facts.infinite != 0};
  };
}

/// A product that the plug-in started.
class PluginStarted final : public StartedProduct {
 public:
  PluginStarted(const Table& table, Held<ozbound_plugin_started> of) : table_(table), of_(std::move(of)) {}

  [[nodiscard]] std::optional<ResiduePlan> plan() const override {
    ozbound_plugin_chosen_plan plan = {};
    ask(table_.started_plan, of_.get(), &plan);
    return plan.moduli == 0 ? std::nullopt : std::optional(ResiduePlan{plan.moduli, plan.bits_a, plan.bits_b});
  }
  std::function<ResultFacts()> finish(const RealProduct& product, const RoundingError& rounding,
                                      const RemotePlanBound* bound) override {
    const auto crossing = product_of(product);
    const auto crossing_rounding = rounding_of(rounding);
    ozbound_plugin_passes* passes = nullptr;
    ask(table_.finish_started, of_.get(), &crossing, &crossing_rounding, handle_of(bound, table_), &passes);
    return facts_of(passes, table_);
  }
  std::optional<std::vector<Entry>> finish_decided(const RealProduct& product, ZivBound error) override {
    const auto crossing = product_of(product);
    const ZivBoundTable bound(error, table_);
    std::int32_t done = 0;
    ozbound_plugin_entries open = {};
    ask(table_.finish_decided, of_.get(), &crossing, bound.here(), bound.remote(), &done, &open);
    return done != 0 ? std::optional(take(table_, open)) : std::nullopt;
  }

 private:
  const Table& table_;
  Held<ozbound_plugin_started> of_;
};

class PluginAllowance final : public Allowance {
 public:
  PluginAllowance(const Table& table, Held<ozbound_plugin_allowance> of) : table_(table), of_(std::move(of)) {}

  [[nodiscard]] Probe probe(Index i, Index j) const override {
    ozbound_plugin_probe probe = {};
    ask(table_.probe, of_.get(), i, j, &probe);
    return probe_from(probe);
  }
  [[nodiscard]] Worst worst(const PlanBound& bound) const override {
    return with_bound(bound, table_, [this](const ozbound_plugin_plan_bound& crossing) { return worst(crossing); });
  }
  [[nodiscard]] std::function<Worst()> search_worst(const PlanBound& bound) const override {
    auto* const remote = handle_of(bound.remote.get(), table_);
    if (remote == nullptr) return nullptr;
    const auto crossing = kept_bound(remote);
    ozbound_plugin_search* search = nullptr;
    ask(table_.search_worst, of_.get(), &crossing, &search);
    if (search == nullptr) return nullptr;
    return [held = std::shared_ptr<ozbound_plugin_search>(Held<ozbound_plugin_search>(search, table_.free_search)),
            &table = table_] {
      ozbound_plugin_worst worst = {};
      ask(table.searched_worst, held.get(), &worst);
      return take(table, worst);
    };
  }
  [[nodiscard]] std::vector<double> largest_ratios(const std::vector<const PlanBound*>& bounds) const override {
    std::vector<ozbound_plugin_plan_bound> crossing;
    for (const auto* const bound : bounds)
      if (auto* const remote = handle_of(bound->remote.get(), table_); remote != nullptr)
        crossing.push_back(kept_bound(remote));
    if (crossing.size() != bounds.size()) return Allowance::largest_ratios(bounds);
    std::vector<double> ratios(bounds.size());
    ask(table_.largest_ratios, of_.get(), crossing.data(), static_cast<std::int64_t>(crossing.size()), ratios.data());
    return ratios;
  }
  [[nodiscard]] std::unique_ptr<StartedProduct> start_product(const RealProduct& product,
                                                              const ProductStart& start) const override {
    const auto crossing = product_of(product);
    ozbound_plugin_product_start known{
        {start.known.moduli, start.known.bits_a, start.known.bits_b, 0}, start.most_moduli, start.least_moduli, {}, {}};
    static_assert(sizeof known.most_by_bits == sizeof start.most_by_bits);
    std::ranges::copy(start.most_by_bits, known.most_by_bits);
    ozbound_plugin_started* started = nullptr;
    ask(table_.start_product, of_.get(), &crossing, &known, &started);
    if (started == nullptr) return nullptr;
    return std::make_unique<PluginStarted>(table_, Held<ozbound_plugin_started>(started, table_.free_started));
  }
  [[nodiscard]] bool normwise() const override {
    std::int32_t normwise = 0;
    ask(table_.normwise, of_.get(), &normwise);
    return normwise != 0;
  }
  [[nodiscard]] double normwise_share(Index i, Index j, double error) const override {
    double share = 0;
    ask(table_.normwise_share, of_.get(), i, j, error, &share);
    return share;
  }
  [[nodiscard]] std::vector<Probe> probes(Index per_side) const override {
    ozbound_plugin_probes probes = {};
    ask(table_.probes, of_.get(), per_side, &probes);
    const Result kept(probes.result, table_.free_result);
    std::vector<Probe> all;
    for (Index t = 0; t < probes.count; ++t) all.push_back(probe_from(probes.data[t]));
    return all;
  }

 private:
  [[nodiscard]] Worst worst(const ozbound_plugin_plan_bound& bound) const {
    ozbound_plugin_worst worst = {};
    ask(table_.worst, of_.get(), &bound, &worst);
    return take(table_, worst);
  }

  const Table& table_;
  Held<ozbound_plugin_allowance> of_;
};

class PluginExamination final : public Examination {
 public:
  PluginExamination(const Table& table, Held<ozbound_plugin_examination> of) : table_(table), of_(std::move(of)) {}

  OperandRecord record() override {
    ozbound_plugin_record record = {};
    ask(table_.record, of_.get(), &record);
    return take(table_, record);
  }
  PlanBound bound(const Plan& plan) override {
    const auto crossing = plan_of(plan);
    ozbound_plugin_plan_bound bound = {};
    ask(table_.bound, of_.get(), &crossing, &bound);
    return Crossed(table_, bound).bound();
  }
  double error_at(const Plan& plan, double uniform, Index i, Index j) override {
    const auto crossing = plan_of(plan);
    double error = 0;
    ask(table_.error_at, of_.get(), &crossing, uniform, i, j, &error);
    return error;
  }
  bool holds(const ResiduePlan& plan) override {
    const auto crossing = plan_of(plan);
    std::int32_t holds = 0;
    ask(table_.holds, of_.get(), &crossing, &holds);
    return holds != 0;
  }
  std::optional<ResidueFacts> residue_facts() override {
    std::int32_t has = 0;
    ozbound_plugin_residue_facts facts = {};
    ask(table_.residue_facts, of_.get(), &has, &facts);
    if (has == 0) return std::nullopt;
    Crossed rows(table_, facts.row_sums), columns(table_, facts.column_sums);
    auto row_sums = rows.bound(), column_sums = columns.bound();
    return ResidueFacts{std::move(row_sums), std::move(column_sums), facts.exact_bits_a, facts.exact_bits_b,
                        facts.largest_units};
  }
  std::optional<OuterRanges> outer_ranges() override {
    std::int32_t has = 0;
    ozbound_plugin_range a = {}, b = {};
    ask(table_.outer_ranges, of_.get(), &has, &a, &b);
    return has == 0 ? std::nullopt : std::optional(OuterRanges{range_from(a), range_from(b)});
  }
  std::unique_ptr<Allowance> allowance(const Target& target, double factor) override {
    const auto crossing = target_of(target);
    ozbound_plugin_allowance* allowance = nullptr;
    ask(table_.allowance, of_.get(), &crossing, factor, &allowance);
    return std::make_unique<PluginAllowance>(table_, Held<ozbound_plugin_allowance>(allowance, table_.free_allowance));
  }

 private:
  /// A bound received from the plug-in. Frees it unless `bound` has been called.
  class Crossed {
   public:
    Crossed(const Table& table, const ozbound_plugin_plan_bound& from)
        : table_(table), from_(from), remote_(from.remote, table.free_remote_bound), result_(from.result, table.free_result) {}

    /// The bound's numbers, or the handle of a bound that the plug-in keeps. Call it only once.
    [[nodiscard]] PlanBound bound() {
      if (remote_ == nullptr) {
        static_cast<void>(result_.release());
        return take(table_, from_);
      }
      PlanBound bound;
      bound.remote = std::make_shared<const PluginPlanBound>(table_, std::move(remote_));
      return bound;
    }

   private:
    const Table& table_;
    ozbound_plugin_plan_bound from_;
    Held<ozbound_plugin_remote_bound> remote_;
    Result result_;
  };

  const Table& table_;
  Held<ozbound_plugin_examination> of_;
};

class PluginExaminer final : public Examiner {
 public:
  PluginExaminer(const Table& table, const ozbound_plugin_backend* backend) : table_(table), backend_(backend) {}

  [[nodiscard]] std::unique_ptr<Examination> examine(const RealProduct& product,
                                                     const PreparedOperands& prepared) const override {
    const auto crossing = product_of(product);
    const auto a = known(prepared.a), b = known(prepared.b);
    ozbound_plugin_examination* examination = nullptr;
    ask(table_.examine, backend_, &crossing, a ? &*a : nullptr, b ? &*b : nullptr, &examination);
    return std::make_unique<PluginExamination>(table_, Held<ozbound_plugin_examination>(examination, table_.free_examination));
  }
  [[nodiscard]] ResultFacts result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                                         const SpecialEntries& specials) const override {
    const ErrorBoundTable holder(bound);
    const auto crossing = holder.table();
    const auto view = view_of(c);
    const auto known = specials_of(specials);
    ozbound_plugin_result_facts facts = {};
    ask(table_.result_facts, backend_, &crossing, handle_of(remote, table_), &view, &known, &facts);
    return {facts.fingerprint, facts.largest_bound, facts.infinite != 0};
  }
  [[nodiscard]] std::function<ResultFacts()> start_result_facts(const RoundingError& rounding, const RemotePlanBound* remote,
                                                                const InputView& c,
                                                                const SpecialEntries& specials) const override {
    const auto crossing = rounding_of(rounding);
    const auto view = view_of(c);
    const auto known = specials_of(specials);
    ozbound_plugin_passes* passes = nullptr;
    ask(table_.start_result_facts, backend_, &crossing, handle_of(remote, table_), &view, &known, &passes);
    return facts_of(passes, table_);
  }
  [[nodiscard]] std::optional<Entry> last_inexact(const PlanBound& bound, const SpecialEntries& specials) const override {
    const auto known = specials_of(specials);
    std::int32_t found = 0;
    ozbound_plugin_entry entry = {};
    with_bound(bound, table_, [&](const ozbound_plugin_plan_bound& crossing) {
      ask(table_.last_inexact, backend_, &crossing, &known, &found, &entry);
    });
    return found != 0 ? std::optional(Entry{entry.i, entry.j}) : std::nullopt;
  }
  Accepted accept_relative(const InputView& product, const PlanBound& bound, double alpha, double factor,
                           const SpecialEntries& specials, const OutputView& c) const override {
    const auto from = view_of(product), to = view_of(c);
    const auto known = specials_of(specials);
    ozbound_plugin_accepted accepted = {};
    with_bound(bound, table_, [&](const ozbound_plugin_plan_bound& crossing) {
      ask(table_.accept_relative, backend_, &from, &crossing, alpha, factor, &known, &to, &accepted);
    });
    return {take(table_, accepted.open), accepted.worst};
  }

 private:
  /// Integers of another engine are useless to this one: the operand is measured again.
  [[nodiscard]] std::optional<ozbound_plugin_prepared> known(const PreparedOperand* operand) const {
    if (operand == nullptr) return std::nullopt;
    const auto* const parts = operand->parts();
    auto* const integers = parts == nullptr ? nullptr : handle_of(parts->integers, table_);
    return ozbound_plugin_prepared{view_of(operand->view()), operand->fingerprint(), integers};
  }

  const Table& table_;
  const ozbound_plugin_backend* backend_;
};

class PluginNative final : public NativeGemm {
 public:
  PluginNative(const Table& table, const ozbound_plugin_backend* backend) : table_(table), backend_(backend) {}

  [[nodiscard]] std::string name() const override {
    ozbound_plugin_string name = {};
    ask(table_.native_name, backend_, &name);
    return take(table_, name);
  }
  void dgemm(const RealProduct& product) const override {
    const auto crossing = product_of(product);
    ask(table_.native_dgemm, backend_, &crossing);
  }

 private:
  const Table& table_;
  const ozbound_plugin_backend* backend_;
};

class PluginLaunched final : public LaunchedProduct {
 public:
  PluginLaunched(const Table& table, Held<ozbound_plugin_launched> of) : table_(table), of_(std::move(of)) {}

  [[nodiscard]] std::optional<StreamRecord> wait() const override {
    ozbound_plugin_stream_record found = {};
    ask(table_.wait_for_launched, of_.get(), &found);
    if (found.found == 0) return std::nullopt;
    Result of_operands(found.operands.result, table_.free_result), of_bound(found.bound.result, table_.free_result),
        of_worst(found.worst.result, table_.free_result);
    const auto& plan = found.plan;
    StreamRecord record{found.native != 0, {plan.moduli, plan.bits_a, plan.bits_b}, {}, {}, {}, {}, {}};
    record.ranges = {range_from(found.range_a), range_from(found.range_b)};
    record.of_c = {found.of_c.fingerprint, found.of_c.largest_bound, found.of_c.infinite != 0};
    static_cast<void>(of_operands.release());
    record.operands = take(table_, found.operands);
    static_cast<void>(of_bound.release());
    record.bound = take(table_, found.bound);
    static_cast<void>(of_worst.release());
    record.worst = take(table_, found.worst);
    return record;
  }

 private:
  const Table& table_;
  Held<ozbound_plugin_launched> of_;
};

class PluginLauncher final : public StreamLauncher {
 public:
  PluginLauncher(const Table& table, const ozbound_plugin_backend* backend) : table_(table), backend_(backend) {}

  [[nodiscard]] std::unique_ptr<LaunchedProduct> launch(const RealProduct& product, const Target& target,
                                                        void* stream) const override {
    const auto crossing = product_of(product);
    const auto of_target = target_of(target);
    ozbound_plugin_launched* launched = nullptr;
    ask(table_.launch, backend_, &crossing, &of_target, stream, &launched);
    if (launched == nullptr) return nullptr;
    return std::make_unique<PluginLaunched>(table_, Held<ozbound_plugin_launched>(launched, table_.free_launched));
  }
  void wait(void* stream) const override { ask(table_.wait_for_stream, backend_, stream); }

 private:
  const Table& table_;
  const ozbound_plugin_backend* backend_;
};

Held<ozbound_plugin_backend> make_backend(const Table& table, int device, int threads) {
  // The plug-in may have been loaded in a child of fork() without knowing it.
  if (threads >= 0) threads = usable_threads(threads > 0 ? threads : omp_get_max_threads());
  ozbound_plugin_backend* backend = nullptr;
  ask(table.make_backend, device, threads, &backend);
  return {backend, table.free_backend};
}

/// True if a backend has a part that it may lack.
bool has(std::int32_t (*part)(const ozbound_plugin_backend*, std::int32_t*, ozbound_plugin_call*),
         const ozbound_plugin_backend* backend) {
  std::int32_t has = 0;
  ask(part, backend, &has);
  return has != 0;
}

/// Carries an exception of a caller's function past the C frames.
class Progress {
 public:
  explicit Progress(const std::function<void(double)>& tell) : tell_(tell) {}

  static std::int32_t tell(void* progress, double share) noexcept {
    auto& self = *static_cast<Progress*>(progress);
    try {
      if (self.tell_) self.tell_(share);
      return 0;
    } catch (...) {
      self.thrown_ = std::current_exception();
      return 1;
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  const std::function<void(double)>& tell_;
  std::exception_ptr thrown_;
};

}  // namespace

std::string mismatch(const ozbound_plugin_table* table) {
  if (table == nullptr || table->magic != OZBOUND_PLUGIN_MAGIC) return "is no plug-in of Ozbound";
  if (table->version != OZBOUND_PLUGIN_VERSION || table->size != sizeof(ozbound_plugin_table))
    return "has version " + std::to_string(table->version) + " of the interface, where this library has version " +
           std::to_string(OZBOUND_PLUGIN_VERSION);
  if (std::string_view(table->release) != release)
    return std::string("is of Ozbound ") + table->release + ", where this library is " + release;
  return "";
}

std::string Plugin::obstacle() const {
  ozbound_plugin_string why = {};
  ask(table_->obstacle, &why);
  return take(*table_, why);
}

int Plugin::device_count() const {
  std::int32_t count = 0;
  ask(table_->device_count, &count);
  return count;
}

DeviceInfo Plugin::device(int device) const {
  ozbound_plugin_device info = {};
  ask(table_->device_info, device, &info);
  const Result kept(info.result, table_->free_result);
  Calibration calibration;
  calibration.processor = text_from(info.processor), calibration.kernel = text_from(info.kernel);
  calibration.version = text_from(info.version), calibration.engine = text_from(info.engine);
  calibration.blas = text_from(info.blas), calibration.tile = {info.tile_rows, info.tile_columns};
  return {text_from(info.name), text_from(info.compute_capability), info.memory, std::move(calibration)};
}

void Plugin::release_memory(int device) const { ask(table_->release_memory, device); }

Calibration Plugin::measure_rates(int device, int threads, double seconds, const std::function<void(double)>& tell) const {
  Progress progress(tell);
  ozbound_plugin_string calibration = {};
  try {
    ask(table_->measure_rates, device, threads, seconds, &Progress::tell, static_cast<void*>(&progress), &calibration);
  } catch (...) {
    progress.rethrow();
    throw;
  }
  const auto text = take(*table_, calibration);
  return calibrations_from_json(nlohmann::json::parse(text)).at(0);
}

struct PluginBackend::Parts {
  Parts(const Plugin& plugin, int device, int threads)
      : backend(make_backend(plugin.table(), device, threads)),
        engine(plugin.table(), backend.get()),
        examiner(plugin.table(), backend.get()),
        name(plugin.device(device).name) {
    if (has(plugin.table().has_native, backend.get())) native.emplace(plugin.table(), backend.get());
    if (has(plugin.table().has_launcher, backend.get())) launcher.emplace(plugin.table(), backend.get());
  }

  Held<ozbound_plugin_backend> backend;
  PluginEngine engine;
  PluginExaminer examiner;
  std::optional<PluginNative> native;
  std::optional<PluginLauncher> launcher;
  std::string name;
};

PluginBackend::PluginBackend(const Plugin& plugin, int device, int threads)
    : parts_(std::make_unique<const Parts>(plugin, device, threads)) {}
PluginBackend::~PluginBackend() = default;

const Engine& PluginBackend::engine() const { return parts_->engine; }
const Examiner& PluginBackend::examiner() const { return parts_->examiner; }
const NativeGemm* PluginBackend::native() const { return parts_->native ? &*parts_->native : nullptr; }

Backend PluginBackend::backend(const CostModel* costs) const {
  const StreamLauncher* const launcher = parts_->launcher ? &*parts_->launcher : nullptr;
  return {engine(), examiner(), native(), costs, {BackendId::Kind::cuda, parts_->name}, launcher};
}

}  // namespace ozbound::plugin
