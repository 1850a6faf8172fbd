// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/plugin/export.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "conversions.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/prepared_operand.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/usable_threads.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound::plugin {
namespace {

std::atomic<std::int64_t> alive{0};
const ExportedDevices* devices = nullptr;

}  // namespace

/// An object that the other side holds by a handle.
class Held {
 public:
  Held() { ++alive; }
  virtual ~Held() { --alive; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
};

}  // namespace ozbound::plugin

using namespace ozbound;  // NOLINT(google-build-using-namespace): the handles have names of C
using plugin::Held;

struct ozbound_plugin_result : Held {};

struct ozbound_plugin_backend final : Held {
  explicit ozbound_plugin_backend(std::unique_ptr<plugin::ExportedBackend> made) : of(std::move(made)) {}

  [[nodiscard]] const Engine& engine() const { return of->engine(); }
  [[nodiscard]] const Matrices& matrices() const { return of->engine().matrices(); }
  [[nodiscard]] const Examiner& examiner() const { return of->examiner(); }

  std::unique_ptr<plugin::ExportedBackend> of;
};

struct ozbound_plugin_operand final : Held {
  explicit ozbound_plugin_operand(IntegerOperand made) : integers(std::move(made)) {}

  IntegerOperand integers;

  // The operand of these integers, prepared when a product with it is first examined.
  std::mutex mutex;
  std::shared_ptr<const PreparedOperand> prepared;
};

struct ozbound_plugin_matrix final : Held {
  explicit ozbound_plugin_matrix(std::unique_ptr<OwnedMatrix> made) : matrix(std::move(made)) {}

  std::unique_ptr<OwnedMatrix> matrix;
};

struct ozbound_plugin_representation final : Held {
  explicit ozbound_plugin_representation(std::unique_ptr<RealRepresentation> made) : of(std::move(made)) {}

  std::unique_ptr<RealRepresentation> of;
};

struct ozbound_plugin_examination final : Held {
  std::shared_ptr<const PreparedOperand> a, b;
  std::unique_ptr<Examination> of;
};

struct ozbound_plugin_allowance final : Held {
  explicit ozbound_plugin_allowance(std::unique_ptr<Allowance> made) : of(std::move(made)) {}

  std::unique_ptr<Allowance> of;
};

struct ozbound_plugin_remote_bound final : Held {
  explicit ozbound_plugin_remote_bound(std::shared_ptr<const RemotePlanBound> made) : of(std::move(made)) {}

  std::shared_ptr<const RemotePlanBound> of;
};

struct ozbound_plugin_started final : Held {
  explicit ozbound_plugin_started(std::unique_ptr<StartedProduct> made) : of(std::move(made)) {}

  std::unique_ptr<StartedProduct> of;
};

struct ozbound_plugin_launched final : Held {
  explicit ozbound_plugin_launched(std::unique_ptr<LaunchedProduct> made) : of(std::move(made)) {}

  std::unique_ptr<LaunchedProduct> of;
};

struct ozbound_plugin_search final : Held {
  explicit ozbound_plugin_search(std::function<Worst()> made) : worst(std::move(made)) {}

  std::function<Worst()> worst;
};

struct ozbound_plugin_passes final : Held {
  explicit ozbound_plugin_passes(std::function<Examiner::ResultFacts()> made) : facts(std::move(made)) {}

  std::function<Examiner::ResultFacts()> facts;
};

namespace ozbound::plugin {
namespace {

using Call = ozbound_plugin_call;
using Handle = const ozbound_plugin_backend;
using View = const ozbound_plugin_view;
using Specials = const ozbound_plugin_specials;
using RealCall = const ozbound_plugin_product;
using TablePlan = const ozbound_plugin_plan;
using Status = std::int32_t;

template <class T>
struct Kept final : ozbound_plugin_result {
  explicit Kept(T kept) : value(std::move(kept)) {}
  T value;
};

template <class T>
std::unique_ptr<Kept<T>> keep(T value) {
  return std::make_unique<Kept<T>>(std::move(value));
}

/// While it lives, the work on this side heeds the caller's cancel scope.
class CallersCancelScope {
 public:
  explicit CallersCancelScope(const Call& call) noexcept : scope_(requested, &call) {}

 private:
  static bool requested(const void* call) {
    const auto& of = *static_cast<const Call*>(call);
    return of.cancelled(of.context) != 0;
  }

  CancelScope scope_;
};

Status failed(Call* call, Status status, const char* message) {
  const auto length = std::min(std::strlen(message), sizeof call->message - 1);
  std::memcpy(call->message, message, length);
  call->message[length] = 0;
  return status;
}

/// The status of the exception that is being handled.
Status failed(Call* call) {
  try {
    throw;
  } catch (const std::invalid_argument& e) {
    return failed(call, OZBOUND_PLUGIN_INVALID_ARGUMENT, e.what());
  } catch (const std::length_error& e) {
    return failed(call, OZBOUND_PLUGIN_LENGTH_ERROR, e.what());
  } catch (const OutOfMemory& e) {
    return failed(call, OZBOUND_PLUGIN_OUT_OF_MEMORY, e.what());
  } catch (const CannotCertify& e) {
    return failed(call, OZBOUND_PLUGIN_CANNOT_CERTIFY, e.what());
  } catch (const std::bad_alloc& e) {
    return failed(call, OZBOUND_PLUGIN_BAD_ALLOC, e.what());
  } catch (const Cancelled& e) {
    call->c_may_be_written = e.c_may_be_written() ? 1 : 0;
    return failed(call, OZBOUND_PLUGIN_CANCELLED, e.what());
  } catch (const std::runtime_error& e) {
    const bool of_device = devices->is_device_error(e);
    return failed(call, of_device ? OZBOUND_PLUGIN_DEVICE_ERROR : OZBOUND_PLUGIN_RUNTIME_ERROR, e.what());
  } catch (const std::exception& e) {
    return failed(call, OZBOUND_PLUGIN_INTERNAL, e.what());
  } catch (...) {
    return failed(call, OZBOUND_PLUGIN_INTERNAL, "an exception of no standard type");
  }
}

template <class Work>
Status run(Call* call, const Work& work) noexcept {
  try {
    const FloatEnvironment environment;
    std::optional<CallersCancelScope> scope;
    if (call->cancelled != nullptr) scope.emplace(*call);
    work();
    return OZBOUND_PLUGIN_OK;
  } catch (...) {
    return failed(call);
  }
}

// The owner of a result is released last, when no exception can occur any more.

void give(std::string text, ozbound_plugin_string* out) {
  auto kept = keep(std::move(text));
  *out = {text_of(kept->value), kept.get()};
  static_cast<void>(kept.release());
}

void give(const std::vector<Entry>& entries, ozbound_plugin_entries* out) {
  *out = {nullptr, 0, nullptr};
  if (entries.empty()) return;
  auto kept = keep(entries_of(entries));
  *out = {kept->value.data(), count_of(kept->value), kept.get()};
  static_cast<void>(kept.release());
}

void give(PlanBound bound, ozbound_plugin_plan_bound* out) {
  *out = {};
  if (bound.remote != nullptr) {
    out->remote = new ozbound_plugin_remote_bound(std::move(bound.remote));
    return;
  }
  struct Whole {
    explicit Whole(PlanBound b) : bound(std::move(b)), table(bound.product, bound.row_exponents, bound.column_exponents) {}
    PlanBound bound;
    PlanBoundTable table;
  };
  auto kept = keep(std::make_unique<Whole>(std::move(bound)));
  *out = kept->value->table.table();
  out->result = kept.release();
}

// Devices.

Status obstacle(ozbound_plugin_string* why, Call* call) noexcept {
  return run(call, [&] { give(devices->obstacle(), why); });
}

Status device_count(std::int32_t* count, Call* call) noexcept {
  return run(call, [&] { *count = devices->count(); });
}

Status device_info(std::int32_t device, ozbound_plugin_device* out, Call* call) noexcept {
  return run(call, [&] {
    auto kept = keep(devices->info(device));
    const auto& info = kept->value;
    const auto& key = info.calibration;
    *out = {text_of(info.name),  text_of(info.compute_capability),
            info.memory,         text_of(key.processor),
            text_of(key.kernel), text_of(key.version),
            text_of(key.engine), text_of(key.blas),
            key.tile.rows,       key.tile.columns,
            kept.get()};
    static_cast<void>(kept.release());
  });
}

Status release_memory(std::int32_t device, Call* call) noexcept {
  return run(call, [&] { devices->release_memory(device); });
}

Status measure_rates(std::int32_t device, std::int32_t threads, double seconds, std::int32_t (*progress)(void*, double),
                     void* context, ozbound_plugin_string* calibration, Call* call) noexcept {
  return run(call, [&] {
    const auto tell = [&](double share) {
      if (progress(context, share) != 0) throw Cancelled();
    };
    give(to_json(std::vector{devices->measure_rates(device, threads, seconds, tell)}).dump(), calibration);
  });
}

Status make_backend(std::int32_t device, std::int32_t threads, ozbound_plugin_backend** backend, Call* call) noexcept {
  return run(call, [&] { *backend = new ozbound_plugin_backend(devices->make(device, threads)); });
}

template <class T>
void release_handle(T* handle) noexcept {
  const FloatEnvironment environment;
  delete handle;
}

// Engine.

Status threads_of(Handle* backend, std::int32_t* threads, Call* call) noexcept {
  return run(call, [&] { *threads = backend->engine().threads(); });
}

Status has_residues(Handle* backend, std::int32_t* has, Call* call) noexcept {
  return run(call, [&] { *has = backend->engine().has_residues() ? 1 : 0; });
}

Status prepare(Handle* backend, View* operand, std::int32_t side, const ozbound_plugin_form* form,
               ozbound_plugin_operand** integers, std::int64_t* count, std::int64_t* inner_dimension, Call* call) noexcept {
  return run(call, [&] {
    auto made = backend->engine().prepare(input_from(*operand), side_from(side), form_from(*form));
    *count = made.count(), *inner_dimension = made.inner_dimension();
    *integers = new ozbound_plugin_operand(std::move(made));
  });
}

Status takes(Handle* backend, const ozbound_plugin_operand* integers, std::int32_t* out, Call* call) noexcept {
  return run(call, [&] { *out = backend->engine().takes(integers->integers) ? 1 : 0; });
}

/// Facts in the form of a table.
struct FactsTable {
  explicit FactsTable(SliceFacts measured) : facts(std::move(measured)) {
    vectors.reserve(facts.vectors.size());
    for (const auto& v : facts.vectors)
      vectors.push_back({&v.vector.sum, numbers(v.slices), numbers(v.tails), v.weights.data(), count_of(v.slices),
                         count_of(v.tails), count_of(v.weights), v.floor_squares, v.scale.exponent, v.scale.special ? 1 : 0});
  }

  static const std::uint64_t* numbers(const std::vector<IntegerNorms>& norms) {
    return norms.empty() ? nullptr : &norms[0].sum;
  }
  static_assert(sizeof(IntegerNorms) == 3 * sizeof(std::uint64_t) && std::is_standard_layout_v<IntegerNorms>);

  SliceFacts facts;
  std::vector<ozbound_plugin_vector_facts> vectors;
};

Status measure(Handle* backend, View* operand, std::int32_t side, const ozbound_plugin_slicing* slicing,
               ozbound_plugin_facts* out, Call* call) noexcept {
  return run(call, [&] {
    auto kept = keep(
        std::make_unique<FactsTable>(backend->engine().measure(input_from(*operand), side_from(side), slicing_from(*slicing))));
    const auto& table = *kept->value;
    *out = {slicing_of(table.facts.slicing), 0, table.vectors.data(), count_of(table.vectors), kept.get()};
    static_cast<void>(kept.release());
  });
}

Status norms(Handle* backend, View* operand, std::int32_t side, ozbound_plugin_norms* out, Call* call) noexcept {
  return run(call, [&] {
    auto kept = keep(std::vector<ozbound_plugin_vector_norms>());
    for (const auto& vector : backend->engine().norms(input_from(*operand), side_from(side)))
      kept->value.push_back(norms_of(vector));
    *out = {kept->value.data(), count_of(kept->value), kept.get()};
    static_cast<void>(kept.release());
  });
}

Status largest_units(Handle* backend, View* a, View* b, std::uint64_t* units, Call* call) noexcept {
  return run(call, [&] { *units = backend->engine().largest_units(input_from(*a), input_from(*b)); });
}

/// An error bound for Ziv's test that crossed the table: its numbers, or a bound that this side keeps.
class CrossedZivBound {
 public:
  CrossedZivBound(const ozbound_plugin_entry_bound* error, const ozbound_plugin_remote_bound* remote) : remote_(remote) {
    if (error != nullptr) here_ = bound_from(*error, nullptr);
  }
  [[nodiscard]] ZivBound bound() const {
    if (remote_ != nullptr) return remote_->of.get();
    return here_ ? &*here_ : nullptr;
  }

 private:
  std::optional<EntryBound> here_;
  const ozbound_plugin_remote_bound* remote_;
};

KeptOperands kept_from(const ozbound_plugin_operand* a, const ozbound_plugin_operand* b) {
  return {a == nullptr ? nullptr : &a->integers, b == nullptr ? nullptr : &b->integers};
}

Status multiply(Handle* backend, const ozbound_plugin_operand* a, const ozbound_plugin_operand* b, TablePlan* plan,
                double alpha, double beta, View* c0, const ozbound_plugin_entry_bound* error,
                const ozbound_plugin_remote_bound* remote_error, View* c, ozbound_plugin_entries* open, Call* call) noexcept {
  return run(call, [&] {
    const CrossedZivBound crossed(error, remote_error);
    const Epilogue epilogue{alpha, beta, input_from(*c0), crossed.bound()};
    give(backend->engine().multiply(a->integers, b->integers, plan_from(*plan), epilogue, output_from(*c)), open);
  });
}

Status start(Handle* backend, RealCall* product, TablePlan* plan, const ozbound_plugin_operand* a,
             const ozbound_plugin_operand* b, std::int32_t* started, Call* call) noexcept {
  return run(call,
             [&] { *started = backend->engine().start(product_from(*product), plan_from(*plan), kept_from(a, b)) ? 1 : 0; });
}

Status multiply_whole(Handle* backend, RealCall* product, TablePlan* plan, const ozbound_plugin_operand* a,
                      const ozbound_plugin_operand* b, const ozbound_plugin_entry_bound* error,
                      const ozbound_plugin_remote_bound* remote_error, std::int32_t* done, ozbound_plugin_entries* open,
                      Call* call) noexcept {
  return run(call, [&] {
    const CrossedZivBound crossed(error, remote_error);
    auto left = backend->engine().multiply_whole(product_from(*product), plan_from(*plan), kept_from(a, b), crossed.bound());
    *done = left ? 1 : 0;
    if (left) give(*std::move(left), open);
  });
}

Status group_sums(Handle* backend, const ozbound_plugin_operand* a, const ozbound_plugin_operand* b, TablePlan* plan,
                  ozbound_plugin_sums* out, Call* call) noexcept {
  struct Sums {
    std::vector<Matrix<std::int64_t>> groups;
    std::vector<const std::int64_t*> data;
  };
  return run(call, [&] {
    const auto& engine = backend->engine();
    auto kept = keep(
        Sums{plan_from(*plan).visit(
                 [&](const SplitPlan& slices) { return engine.group_sums(a->integers.slices(), b->integers.slices(), slices); },
                 [&](const ResiduePlan& residues) {
                   return engine.recovered_groups(a->integers.residues(), b->integers.residues(), residues);
                 }),
             {}});
    auto& [groups, data] = kept->value;
    for (const auto& group : groups) data.push_back(group.data());
    *out = {data.data(), count_of(groups), a->integers.count(), b->integers.count(), kept.get()};
    static_cast<void>(kept.release());
  });
}

Status workspace(Handle* backend, TablePlan* plan, std::int64_t m, std::int64_t n, std::int64_t k, double* bytes,
                 Call* call) noexcept {
  return run(call, [&] { *bytes = backend->engine().workspace(plan_from(*plan), m, n, k); });
}

Status scale(const ozbound_plugin_operand* slices, std::int64_t i, std::int32_t* exponent, std::int32_t* special,
             Call* call) noexcept {
  return run(call, [&] {
    const auto* const residues = slices->integers.residues_or_null();
    const auto found = residues == nullptr ? slices->integers.slices().slices().scale(i) : residues->residues().scale(i);
    *exponent = found.exponent, *special = found.special ? 1 : 0;
  });
}

Status digit(const ozbound_plugin_operand* slices, std::int64_t i, std::int32_t p, std::int64_t l, std::int32_t* out,
             Call* call) noexcept {
  return run(call, [&] { *out = slices->integers.slices().digit(i, p, l); });
}

Status sum_of_digits(const ozbound_plugin_operand* slices, std::int64_t i, std::int32_t p, std::int64_t* sum,
                     Call* call) noexcept {
  return run(call, [&] { *sum = slices->integers.slices().sum_of_digits(i, p); });
}

Status weight_exponent(const ozbound_plugin_operand* slices, std::int64_t i, std::int32_t p, std::int32_t* exponent,
                       Call* call) noexcept {
  return run(call, [&] { *exponent = slices->integers.slices().weight_exponent(i, p); });
}

Status residue(const ozbound_plugin_operand* residues, std::int64_t i, std::int32_t t, std::int64_t l, std::int32_t* out,
               Call* call) noexcept {
  return run(call, [&] { *out = residues->integers.residues().residues().residue(i, t, l); });
}

// Costs.

Status cost_origin(Handle* backend, ozbound_plugin_cost_origin* out, Call* call) noexcept {
  return run(call, [&] {
    auto kept = keep(backend->engine().costs().origin());
    const auto& origin = kept->value;
    *out = {text_of(origin.model),
            text_of(origin.unit),
            text_of(origin.processor),
            text_of(origin.kernel),
            text_of(origin.note),
            origin.threads,
            0,
            kept.get()};
    static_cast<void>(kept.release());
  });
}

Status cost_of_plan(Handle* backend, TablePlan* plan, std::int64_t m, std::int64_t n, std::int64_t k, double* cost,
                    Call* call) noexcept {
  return run(call, [&] { *cost = backend->engine().costs().planned(plan_from(*plan), m, n, k); });
}

Status cost_of_native(Handle* backend, std::int64_t m, std::int64_t n, std::int64_t k, double* cost, Call* call) noexcept {
  return run(call, [&] { *cost = backend->engine().costs().native(m, n, k); });
}

Status cost_of_exact(Handle* backend, std::int64_t m, std::int64_t n, std::int64_t k, double* cost, Call* call) noexcept {
  return run(call, [&] { *cost = backend->engine().costs().exact(m, n, k); });
}

// Matrices.

Status reaches(Handle* backend, std::int32_t device, std::int32_t* out, Call* call) noexcept {
  return run(call, [&] { *out = backend->matrices().reaches({device}) ? 1 : 0; });
}

Status fingerprint(Handle* backend, View* matrix, std::uint64_t* out, Call* call) noexcept {
  return run(call, [&] { *out = backend->matrices().fingerprint(input_from(*matrix)); });
}

Status exponent_range_of_vectors(Handle* backend, View* operand, std::int32_t side, ozbound_plugin_range* range,
                                 Call* call) noexcept {
  return run(call, [&] { *range = range_of(backend->matrices().exponent_range(input_from(*operand), side_from(side))); });
}

Status exponent_range(Handle* backend, View* matrix, ozbound_plugin_range* range, Call* call) noexcept {
  return run(call, [&] { *range = range_of(backend->matrices().exponent_range(input_from(*matrix))); });
}

void give(std::unique_ptr<OwnedMatrix> made, ozbound_plugin_matrix** matrix, ozbound_plugin_view* view) {
  auto held = std::make_unique<ozbound_plugin_matrix>(std::move(made));
  *view = view_of(held->matrix->view());
  *matrix = held.release();
}

Status new_matrix(Handle* backend, std::int64_t rows, std::int64_t cols, std::int32_t is_double, ozbound_plugin_matrix** matrix,
                  ozbound_plugin_view* view, Call* call) noexcept {
  return run(call, [&] { give(backend->matrices().matrix(rows, cols, is_double != 0), matrix, view); });
}

Status copy_matrix(Handle* backend, View* of, ozbound_plugin_matrix** matrix, ozbound_plugin_view* view, Call* call) noexcept {
  return run(call, [&] { give(backend->matrices().copy(input_from(*of)), matrix, view); });
}

Status special_entries(Handle* backend, RealCall* product, ozbound_plugin_specials* out, Call* call) noexcept {
  return run(call, [&] {
    auto kept = keep(backend->matrices().special_entries(product_from(*product)));
    *out = specials_of(kept->value);
    out->result = kept.release();
  });
}

Status count_specials(Handle* backend, Specials* specials, std::int64_t* count, Call* call) noexcept {
  return run(call, [&] { *count = backend->matrices().count(specials_from(*specials)); });
}

Status apply_specials(Handle* backend, RealCall* product, Specials* specials, Call* call) noexcept {
  return run(call, [&] { backend->matrices().apply_specials(product_from(*product), specials_from(*specials)); });
}

Status write_specials(Handle* backend, RealCall* product, Call* call) noexcept {
  return run(call, [&] { backend->matrices().write_specials(product_from(*product)); });
}

Status multiply_exactly(Handle* backend, RealCall* product, Specials* specials, Call* call) noexcept {
  return run(call, [&] { backend->matrices().multiply_exactly(product_from(*product), specials_from(*specials)); });
}

Status finish_exactly(Handle* backend, RealCall* product, const ozbound_plugin_entry* entries, std::int64_t count,
                      Call* call) noexcept {
  return run(call, [&] { backend->matrices().finish_exactly(product_from(*product), entries_from(entries, count)); });
}

Status infinite_entries(Handle* backend, View* c, Specials* specials, ozbound_plugin_entries* entries, Call* call) noexcept {
  return run(call, [&] { give(backend->matrices().infinite_entries(input_from(*c), specials_from(*specials)), entries); });
}

void give(std::unique_ptr<RealRepresentation> made, ozbound_plugin_representation** representation,
          ozbound_plugin_product* stands) {
  *representation = nullptr;
  if (made == nullptr) return;
  *stands = product_of(made->product());
  *representation = new ozbound_plugin_representation(std::move(made));
}

Status represent(Handle* backend, const ozbound_plugin_complex_product* product, ozbound_plugin_representation** representation,
                 ozbound_plugin_product* stands, Call* call) noexcept {
  return run(call, [&] { give(backend->matrices().represent(product_from(*product)), representation, stands); });
}

Status bring(Handle* backend, RealCall* product, ozbound_plugin_representation** representation, ozbound_plugin_product* stands,
             Call* call) noexcept {
  return run(call, [&] { give(backend->matrices().bring(product_from(*product)), representation, stands); });
}

Status write_back(const ozbound_plugin_representation* representation, Call* call) noexcept {
  return run(call, [&] { representation->of->write_back(); });
}

// Examiner.

bool same_view(const InputView& x, const InputView& y) {
  const auto v = view_of(x), w = view_of(y);
  return v.data == w.data && v.rows == w.rows && v.cols == w.cols && v.row_stride == w.row_stride &&
         v.col_stride == w.col_stride && v.is_double == w.is_double && v.device == w.device;
}

/// The operand whose slices or residues, if any, belong to a handle. The other side also has their facts or norms, but passing
/// them with every product would take longer than measuring them again on first use.
std::shared_ptr<const PreparedOperand> prepared_from(const ozbound_plugin_prepared* given, Side side, const Engine& engine) {
  if (given == nullptr) return nullptr;
  const auto view = input_from(given->view);
  if (given->integers == nullptr) return std::make_shared<const PreparedOperand>(view, side, given->fingerprint, std::nullopt);
  const std::scoped_lock lock(given->integers->mutex);
  auto& known = given->integers->prepared;
  if (known == nullptr || known->fingerprint() != given->fingerprint || !same_view(known->view(), view)) {
    const auto& integers = given->integers->integers;
    const auto* const slices = integers.slices_or_null();
    auto parts = slices == nullptr ? PreparedOperand::Parts{integers, engine.norms(view, side)}
                                   : PreparedOperand::Parts{integers, engine.measure(view, side, slices->slicing())};
    known = std::make_shared<const PreparedOperand>(view, side, given->fingerprint, std::move(parts));
  }
  return known;
}

Status examine(Handle* backend, RealCall* product, const ozbound_plugin_prepared* a, const ozbound_plugin_prepared* b,
               ozbound_plugin_examination** examination, Call* call) noexcept {
  return run(call, [&] {
    auto held = std::make_unique<ozbound_plugin_examination>();
    held->a = prepared_from(a, Side::rows_of_a, backend->engine());
    held->b = prepared_from(b, Side::columns_of_b, backend->engine());
    held->of = backend->examiner().examine(product_from(*product), {held->a.get(), held->b.get()});
    *examination = held.release();
  });
}

const RemotePlanBound* remote_from(const ozbound_plugin_remote_bound* remote) {
  return remote == nullptr ? nullptr : remote->of.get();
}

RoundingError rounding_from(const ozbound_plugin_rounding& rounding) {
  return {rounding.alpha, rounding.result_factor, rounding.underflow, rounding.rounded_once != 0};
}

void give(std::function<ResultFacts()> passes, ozbound_plugin_passes** out) {
  *out = passes ? new ozbound_plugin_passes(std::move(passes)) : nullptr;
}

Status result_facts(Handle* backend, const ozbound_plugin_error_bound* bound, const ozbound_plugin_remote_bound* remote,
                    View* c, Specials* specials, ozbound_plugin_result_facts* out, Call* call) noexcept {
  return run(call, [&] {
    const auto facts = backend->examiner().result_facts(error_bound_from(*bound), remote_from(remote), input_from(*c),
                                                        specials_from(*specials));
    *out = {facts.fingerprint, facts.largest_bound, facts.infinite ? 1 : 0, 0};
  });
}

Status start_result_facts(Handle* backend, const ozbound_plugin_rounding* rounding, const ozbound_plugin_remote_bound* remote,
                          View* c, Specials* specials, ozbound_plugin_passes** out, Call* call) noexcept {
  return run(call, [&] {
    give(backend->examiner().start_result_facts(rounding_from(*rounding), remote_from(remote), input_from(*c),
                                                specials_from(*specials)),
         out);
  });
}

Status started_result_facts(const ozbound_plugin_passes* passes, ozbound_plugin_result_facts* out, Call* call) noexcept {
  return run(call, [&] {
    const auto facts = passes->facts();
    *out = {facts.fingerprint, facts.largest_bound, facts.infinite ? 1 : 0, 0};
  });
}

PlanBound known_bound(const ozbound_plugin_plan_bound& bound) {
  if (bound.remote == nullptr) return plan_bound_from(bound, nullptr);
  PlanBound kept;
  kept.remote = bound.remote->of;
  return kept;
}

Status last_inexact(Handle* backend, const ozbound_plugin_plan_bound* bound, Specials* specials, std::int32_t* found,
                    ozbound_plugin_entry* entry, Call* call) noexcept {
  return run(call, [&] {
    const auto last = backend->examiner().last_inexact(known_bound(*bound), specials_from(*specials));
    *found = last ? 1 : 0;
    if (last) *entry = {last->i, last->j};
  });
}

Status accept_relative(Handle* backend, View* from, const ozbound_plugin_plan_bound* bound, double alpha, double factor,
                       Specials* specials, View* c, ozbound_plugin_accepted* out, Call* call) noexcept {
  return run(call, [&] {
    const auto accepted = backend->examiner().accept_relative(input_from(*from), known_bound(*bound), alpha, factor,
                                                              specials_from(*specials), output_from(*c));
    give(accepted.open, &out->open);
    out->worst = accepted.worst;
  });
}

// Examination.

void give(OperandRecord record, ozbound_plugin_record* out) {
  auto kept = keep(std::move(record));
  const auto& of = kept->value;
  *out = {of.a, of.b, of.rows.data(), of.columns.data(), count_of(of.rows), count_of(of.columns), kept.get()};
  static_cast<void>(kept.release());
}

Status record(ozbound_plugin_examination* examination, ozbound_plugin_record* out, Call* call) noexcept {
  return run(call, [&] { give(examination->of->record(), out); });
}

Status bound(ozbound_plugin_examination* examination, TablePlan* plan, ozbound_plugin_plan_bound* out, Call* call) noexcept {
  return run(call, [&] { give(examination->of->bound(plan_from(*plan)), out); });
}

Status error_at(ozbound_plugin_examination* examination, TablePlan* plan, double uniform, std::int64_t i, std::int64_t j,
                double* error, Call* call) noexcept {
  return run(call, [&] { *error = examination->of->error_at(plan_from(*plan), uniform, i, j); });
}

Status holds(ozbound_plugin_examination* examination, TablePlan* plan, std::int32_t* out, Call* call) noexcept {
  return run(call, [&] {
    *out = plan_from(*plan).visit([](const SplitPlan&) { return 1; },
                                  [&](const ResiduePlan& residues) { return examination->of->holds(residues) ? 1 : 0; });
  });
}

Status residue_facts(ozbound_plugin_examination* examination, std::int32_t* has, ozbound_plugin_residue_facts* out,
                     Call* call) noexcept {
  return run(call, [&] {
    auto facts = examination->of->residue_facts();
    *has = facts ? 1 : 0;
    if (!facts) return;
    *out = {{}, {}, facts->exact_bits_a, facts->exact_bits_b, facts->largest_units};
    give(std::move(facts->row_sums), &out->row_sums);
    try {
      give(std::move(facts->column_sums), &out->column_sums);
    } catch (...) {  // the caller frees nothing after a failed call
      delete out->row_sums.remote;
      delete out->row_sums.result;
      throw;
    }
  });
}

Status outer_ranges(ozbound_plugin_examination* examination, std::int32_t* has, ozbound_plugin_range* a,
                    ozbound_plugin_range* b, Call* call) noexcept {
  return run(call, [&] {
    const auto ranges = examination->of->outer_ranges();
    *has = ranges ? 1 : 0;
    if (ranges) *a = range_of(ranges->a), *b = range_of(ranges->b);
  });
}

Status allowance(ozbound_plugin_examination* examination, const ozbound_plugin_target* target, double factor,
                 ozbound_plugin_allowance** out, Call* call) noexcept {
  return run(call, [&] { *out = new ozbound_plugin_allowance(examination->of->allowance(target_from(*target), factor)); });
}

Status fetch(const ozbound_plugin_remote_bound* remote, ozbound_plugin_plan_bound* out, Call* call) noexcept {
  return run(call, [&] { give(fetched(remote->of->fetch()), out); });
}

// Allowance.

void give(Worst worst, ozbound_plugin_worst* out) {
  auto kept = keep(std::move(worst));
  const auto& found = kept->value;
  *out = {found.ratio, found.i, found.j, text_of(found.assumes), kept.get()};
  static_cast<void>(kept.release());
}

Status probe(const ozbound_plugin_allowance* allowance, std::int64_t i, std::int64_t j, ozbound_plugin_probe* out,
             Call* call) noexcept {
  return run(call, [&] { *out = probe_of(allowance->of->probe(i, j)); });
}

Status worst(const ozbound_plugin_allowance* allowance, const ozbound_plugin_plan_bound* bound, ozbound_plugin_worst* out,
             Call* call) noexcept {
  return run(call, [&] { give(allowance->of->worst(known_bound(*bound)), out); });
}

Status search_worst(const ozbound_plugin_allowance* allowance, const ozbound_plugin_plan_bound* bound,
                    ozbound_plugin_search** out, Call* call) noexcept {
  return run(call, [&] {
    auto search = allowance->of->search_worst(known_bound(*bound));
    *out = search ? new ozbound_plugin_search(std::move(search)) : nullptr;
  });
}

Status searched_worst(const ozbound_plugin_search* search, ozbound_plugin_worst* out, Call* call) noexcept {
  return run(call, [&] { give(search->worst(), out); });
}

Status largest_ratios(const ozbound_plugin_allowance* allowance, const ozbound_plugin_plan_bound* bounds, std::int64_t count,
                      double* out, Call* call) noexcept {
  return run(call, [&] {
    std::vector<PlanBound> known;
    for (std::int64_t t = 0; t < count; ++t) known.push_back(known_bound(bounds[t]));
    std::vector<const PlanBound*> all;
    for (const auto& one : known) all.push_back(&one);
    std::ranges::copy(allowance->of->largest_ratios(all), out);
  });
}

Status start_product(const ozbound_plugin_allowance* allowance, RealCall* product, const ozbound_plugin_product_start* start,
                     ozbound_plugin_started** out, Call* call) noexcept {
  return run(call, [&] {
    ProductStart known{
        start->most_moduli, start->least_moduli, {}, {start->known.moduli, start->known.bits_a, start->known.bits_b}};
    static_assert(sizeof known.most_by_bits == sizeof start->most_by_bits);
    std::ranges::copy(start->most_by_bits, known.most_by_bits);
    auto started = allowance->of->start_product(product_from(*product), known);
    *out = started ? new ozbound_plugin_started(std::move(started)) : nullptr;
  });
}

Status started_plan(const ozbound_plugin_started* started, ozbound_plugin_chosen_plan* out, Call* call) noexcept {
  return run(call, [&] {
    const auto plan = started->of->plan();
    *out = plan ? ozbound_plugin_chosen_plan{plan->moduli, plan->bits_a, plan->bits_b, 0} : ozbound_plugin_chosen_plan{};
  });
}

Status finish_started(ozbound_plugin_started* started, RealCall* product, const ozbound_plugin_rounding* rounding,
                      const ozbound_plugin_remote_bound* remote, ozbound_plugin_passes** out, Call* call) noexcept {
  return run(call,
             [&] { give(started->of->finish(product_from(*product), rounding_from(*rounding), remote_from(remote)), out); });
}

Status finish_decided(ozbound_plugin_started* started, RealCall* product, const ozbound_plugin_entry_bound* error,
                      const ozbound_plugin_remote_bound* remote_error, std::int32_t* done, ozbound_plugin_entries* open,
                      Call* call) noexcept {
  return run(call, [&] {
    const CrossedZivBound crossed(error, remote_error);
    auto left = started->of->finish_decided(product_from(*product), crossed.bound());
    *done = left ? 1 : 0;
    if (left) give(*std::move(left), open);
  });
}

Status normwise(const ozbound_plugin_allowance* allowance, std::int32_t* out, Call* call) noexcept {
  return run(call, [&] { *out = allowance->of->normwise() ? 1 : 0; });
}

Status normwise_share(const ozbound_plugin_allowance* allowance, std::int64_t i, std::int64_t j, double error, double* share,
                      Call* call) noexcept {
  return run(call, [&] { *share = allowance->of->normwise_share(i, j, error); });
}

Status probes(const ozbound_plugin_allowance* allowance, std::int64_t per_side, ozbound_plugin_probes* out,
              Call* call) noexcept {
  return run(call, [&] {
    auto kept = keep(std::vector<ozbound_plugin_probe>());
    for (const auto& found : allowance->of->probes(per_side)) kept->value.push_back(probe_of(found));
    *out = {kept->value.data(), count_of(kept->value), kept.get()};
    static_cast<void>(kept.release());
  });
}

// Native DGEMM.

Status has_native(Handle* backend, std::int32_t* has, Call* call) noexcept {
  return run(call, [&] { *has = backend->of->native() != nullptr ? 1 : 0; });
}

Status native_name(Handle* backend, ozbound_plugin_string* name, Call* call) noexcept {
  return run(call, [&] { give(backend->of->native()->name(), name); });
}

Status native_dgemm(Handle* backend, RealCall* product, Call* call) noexcept {
  return run(call, [&] { backend->of->native()->dgemm(product_from(*product)); });
}

// Products in streams.

Status has_launcher(Handle* backend, std::int32_t* has, Call* call) noexcept {
  return run(call, [&] { *has = backend->of->launcher() != nullptr ? 1 : 0; });
}

Status launch(Handle* backend, RealCall* product, const ozbound_plugin_target* target, void* stream,
              ozbound_plugin_launched** out, Call* call) noexcept {
  return run(call, [&] {
    auto launched = backend->of->launcher()->launch(product_from(*product), target_from(*target), stream);
    *out = launched ? new ozbound_plugin_launched(std::move(launched)) : nullptr;
  });
}

Status wait_for_launched(const ozbound_plugin_launched* launched, ozbound_plugin_stream_record* out, Call* call) noexcept {
  return run(call, [&] {
    *out = {};
    auto record = launched->of->wait();
    if (!record) return;
    const auto& [native, plan, operands, ranges, bound, worst, of_c] = *record;
    out->native = native ? 1 : 0;
    out->plan = {plan.moduli, plan.bits_a, plan.bits_b, 0};
    out->range_a = range_of(ranges.a), out->range_b = range_of(ranges.b);
    out->of_c = {of_c.fingerprint, of_c.largest_bound, of_c.infinite ? 1 : 0, 0};
    try {
      give(std::move(record->operands), &out->operands);
      give(fetched(std::move(record->bound)), &out->bound);
      give(std::move(record->worst), &out->worst);
    } catch (...) {
      for (const auto* result : {out->operands.result, out->bound.result, out->worst.result}) delete result;
      *out = {};
      throw;
    }
    out->found = 1;
  });
}

Status wait_for_stream(Handle* backend, void* stream, Call* call) noexcept {
  return run(call, [&] { backend->of->launcher()->wait(stream); });
}

std::int64_t count_alive() noexcept { return alive; }

constexpr ozbound_plugin_table table{
    .magic = OZBOUND_PLUGIN_MAGIC,
    .version = OZBOUND_PLUGIN_VERSION,
    .size = sizeof(ozbound_plugin_table),
    .release = release,
    .alive = count_alive,
    .obstacle = obstacle,
    .device_count = device_count,
    .device_info = device_info,
    .release_memory = release_memory,
    .measure_rates = measure_rates,
    .make_backend = make_backend,
    .free_backend = release_handle<ozbound_plugin_backend>,
    .free_operand = release_handle<ozbound_plugin_operand>,
    .free_matrix = release_handle<ozbound_plugin_matrix>,
    .free_representation = release_handle<ozbound_plugin_representation>,
    .free_examination = release_handle<ozbound_plugin_examination>,
    .free_allowance = release_handle<ozbound_plugin_allowance>,
    .free_remote_bound = release_handle<ozbound_plugin_remote_bound>,
    .free_started = release_handle<ozbound_plugin_started>,
    .free_launched = release_handle<ozbound_plugin_launched>,
    .free_search = release_handle<ozbound_plugin_search>,
    .free_passes = release_handle<ozbound_plugin_passes>,
    .free_result = release_handle<ozbound_plugin_result>,
    .threads = threads_of,
    .has_residues = has_residues,
    .prepare = prepare,
    .takes = takes,
    .measure = measure,
    .norms = norms,
    .largest_units = largest_units,
    .multiply = multiply,
    .start = start,
    .multiply_whole = multiply_whole,
    .group_sums = group_sums,
    .workspace = workspace,
    .scale = scale,
    .digit = digit,
    .sum_of_digits = sum_of_digits,
    .weight_exponent = weight_exponent,
    .residue = residue,
    .cost_origin = cost_origin,
    .cost_of_plan = cost_of_plan,
    .cost_of_native = cost_of_native,
    .cost_of_exact = cost_of_exact,
    .reaches = reaches,
    .fingerprint = fingerprint,
    .exponent_range_of_vectors = exponent_range_of_vectors,
    .exponent_range = exponent_range,
    .new_matrix = new_matrix,
    .copy_matrix = copy_matrix,
    .special_entries = special_entries,
    .count_specials = count_specials,
    .apply_specials = apply_specials,
    .write_specials = write_specials,
    .multiply_exactly = multiply_exactly,
    .finish_exactly = finish_exactly,
    .infinite_entries = infinite_entries,
    .represent = represent,
    .bring = bring,
    .write_back = write_back,
    .examine = examine,
    .result_facts = result_facts,
    .start_result_facts = start_result_facts,
    .started_result_facts = started_result_facts,
    .last_inexact = last_inexact,
    .accept_relative = accept_relative,
    .record = record,
    .bound = bound,
    .error_at = error_at,
    .holds = holds,
    .residue_facts = residue_facts,
    .outer_ranges = outer_ranges,
    .allowance = allowance,
    .fetch = fetch,
    .probe = probe,
    .worst = worst,
    .search_worst = search_worst,
    .searched_worst = searched_worst,
    .largest_ratios = largest_ratios,
    .start_product = start_product,
    .normwise = normwise,
    .normwise_share = normwise_share,
    .probes = probes,
    .started_plan = started_plan,
    .finish_started = finish_started,
    .finish_decided = finish_decided,
    .has_native = has_native,
    .native_name = native_name,
    .native_dgemm = native_dgemm,
    .has_launcher = has_launcher,
    .launch = launch,
    .wait_for_launched = wait_for_launched,
    .wait_for_stream = wait_for_stream,
};

}  // namespace

const ozbound_plugin_table* export_table(const ExportedDevices& of) noexcept {
  static_cast<void>(usable_threads(1));  // from this call on, a fork() is noticed
  devices = &of;
  return &table;
}

}  // namespace ozbound::plugin
