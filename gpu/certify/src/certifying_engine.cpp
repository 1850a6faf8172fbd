#include "ozbound/gpu/certifying_engine.hpp"

#include <algorithm>
#include <utility>

#include "call_on_device.hpp"
#include "copying.hpp"
#include "cuda_device.hpp"
#include "device_examination.hpp"
#include "device_fingerprint.hpp"
#include "device_plan_bound.hpp"
#include "entries.hpp"
#include "largest_memory.hpp"
#include "open_entries.hpp"
#include "side_stream.hpp"
#include "tops.hpp"

namespace ozbound::gpu {
namespace {

const cudaStream_t stream = cudaStreamPerThread;

template <class T>
class DeviceOwned final : public OwnedMatrix {
 public:
  DeviceOwned(Index rows, Index cols) : elements_(rows * cols, stream), view_(elements_.data(), rows, cols, cols, 1) {}
  OutputView view() override { return view_; }

 private:
  DeviceArray<T> elements_;
  MatrixView<T> view_;
};

/// For every row whether it holds a NaN or an infinity.
std::vector<std::uint8_t> special_vectors(const InputView& vectors, const char* name) {
  std::vector<std::uint8_t> special(static_cast<std::size_t>(vectors.rows()));
  if (vectors.empty()) return special;
  const DeviceOperand operand(vectors, name, stream);
  const DeviceArray<std::uint64_t> tops(vectors.rows(), stream);
  launch_tops(operand.matrix(), vectors.rows(), vectors.cols(), tops.data(), stream);
  const auto found = copy_to_host(tops.data(), vectors.rows(), stream);
  std::transform(found.begin(), found.end(), special.begin(),
                 [](std::uint64_t top) { return static_cast<std::uint8_t>(is_finite(top, binary64) ? 0 : 1); });
  return special;
}

Shape shape_of(const SpecialEntries& specials) {
  return {static_cast<Index>(specials.rows.size()), static_cast<Index>(specials.columns.size())};
}

/// SpecialEntries for kernels. The entries must outlive it.
class SpecialsOnDevice {
 public:
  explicit SpecialsOnDevice(const SpecialEntries& specials)
      : rows_(copy_to_device(specials.rows, stream)),
        columns_(copy_to_device(specials.columns, stream)),
        c0_(specials.c0, "c0", stream),
        specials_{rows_.data(), columns_.data(), specials.everywhere, !specials.c0.empty(), c0_.matrix()} {}

  [[nodiscard]] const DeviceSpecials& entries() const { return specials_; }

  [[nodiscard]] const std::uint8_t* rows() const { return rows_.data(); }
  [[nodiscard]] const std::uint8_t* columns() const { return columns_.data(); }

 private:
  DeviceArray<std::uint8_t> rows_, columns_;
  DeviceOperand c0_;
  DeviceSpecials specials_;
};

/// ErrorBound for kernels. The bound must outlive it.
class ErrorBoundOnDevice {
 public:
  explicit ErrorBoundOnDevice(const ErrorBound& bound)
      : product_(bound.product, static_cast<Index>(bound.row_exponents.size()),
                 static_cast<Index>(bound.column_exponents.size()), stream),
        row_exponents_(copy_to_device(bound.row_exponents, stream)),
        column_exponents_(copy_to_device(bound.column_exponents, stream)),
        bound_{product_.bound(), row_exponents_.data(), column_exponents_.data(), bound} {}

  [[nodiscard]] const DeviceErrorBound& bound() const { return bound_; }
  [[nodiscard]] ScaledBound scaled() const { return {product_.on_host(), row_exponents_.data(), column_exponents_.data()}; }

 private:
  BoundCopy product_;
  DeviceArray<std::int32_t> row_exponents_, column_exponents_;
  DeviceErrorBound bound_;
};

/// A number that kernels raise, 0 at first.
class DeviceNumber {
 public:
  DeviceNumber() : number_(1, stream) {
    check(cudaMemsetAsync(number_.data(), 0, sizeof(std::uint64_t), stream), "cudaMemsetAsync");
  }
  [[nodiscard]] std::uint64_t* data() const { return number_.data(); }
  /// Waits for the stream.
  [[nodiscard]] std::uint64_t value() const { return copy_to_host(number_.data(), 1, stream)[0]; }

 private:
  DeviceArray<std::uint64_t> number_;
};

ExactCall exact_call(const CallOnDevice& there) {
  const auto& call = there.call();
  const auto epilogue = there.epilogue();
  return {there.a(), there.b(), epilogue.c0, epilogue.c, call.alpha, call.beta, {call.m(), call.n()}, call.k()};
}

/// Whether every matrix of a call is in device memory.
bool all_on_device(const GemmCall& call) {
  return on_device(call.a, "a") && on_device(call.b, "b") && on_device(call.c.as_input(), "c") &&
         (is_zero(call.beta) || on_device(call.c0, "c0"));
}

ExponentRange range_on_device(const InputView& vectors, const char* name, bool by_vector) {
  constexpr ExponentRange nothing;
  const DeviceOperand operand(vectors, name, stream);
  const auto range = copy_to_device<std::int32_t>({nothing.least, nothing.top}, stream);
  launch_exponent_range(operand.matrix(), vectors.rows(), vectors.cols(), by_vector, range.data(), stream);
  const auto found = copy_to_host(range.data(), 2, stream);
  return {found[0], found[1]};
}

}  // namespace

CertifyingEngine::CertifyingEngine(Options options) : CudaEngine(options), options_(options), device_(options.device) {
  const CudaDevice device(device_);
  side_ = std::make_shared<const SideStream>();
}

std::uint64_t CertifyingEngine::fingerprint(const InputView& matrix) const {
  const CudaDevice device(device_);
  if (!on_device(matrix, "matrix")) return host_.fingerprint(matrix);
  const DeviceArray<std::uint64_t> sum(1, stream);
  launch_fingerprint(matrix_of(matrix), matrix.rows(), matrix.cols(), sum.data(), stream);
  return copy_to_host(sum.data(), 1, stream)[0];
}

ExponentRange CertifyingEngine::exponent_range(const InputView& operand, Side side) const {
  const CudaDevice device(device_);
  if (!on_device(operand, "operand")) return host_.exponent_range(operand, side);
  return range_on_device(vectors_of(operand, side), "operand", true);
}

ExponentRange CertifyingEngine::exponent_range(const InputView& matrix) const {
  const CudaDevice device(device_);
  return on_device(matrix, "c0") ? range_on_device(matrix, "c0", false) : host_.exponent_range(matrix);
}

std::unique_ptr<OwnedMatrix> CertifyingEngine::matrix(Index rows, Index cols, bool is_double) const {
  const CudaDevice device(device_);
  if (is_double) return std::make_unique<DeviceOwned<double>>(rows, cols);
  return std::make_unique<DeviceOwned<float>>(rows, cols);
}

std::unique_ptr<OwnedMatrix> CertifyingEngine::copy(const InputView& original) const {
  const CudaDevice device(device_);
  auto result = matrix(original.rows(), original.cols(), true);
  if (original.empty()) return result;
  const DeviceOperand from(original, "c0", stream);
  launch_copying(from.matrix(), matrix_of(result->view().as_input()), original.rows(), original.cols(), stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return result;
}

SpecialEntries CertifyingEngine::special_entries(const GemmCall& call) const {
  const CudaDevice device(device_);
  if (!any_on_device(call)) return host_.special_entries(call);
  const auto read = call.without_unread();
  return {special_vectors(read.a, "a"), special_vectors(read.b.transposed(), "b"), call.all_special(),
          is_zero(call.beta) ? InputView() : call.c0};
}

Index CertifyingEngine::count(const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!on_device(specials.c0, "c0")) return host_.count(specials);
  const DeviceNumber count;
  launch_counting(SpecialsOnDevice(specials).entries(), shape_of(specials), count.data(), stream);
  return static_cast<Index>(count.value());
}

void CertifyingEngine::apply_specials(const GemmCall& call, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!any_on_device(call)) return host_.apply_specials(call, specials);
  const CallOnDevice there(call, stream);
  const SpecialsOnDevice known(specials);
  there.write_specials(known.rows(), known.columns());
  there.finish();
}

void CertifyingEngine::multiply_exactly(const GemmCall& call, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!any_on_device(call)) return host_.multiply_exactly(call, specials);
  if (specials.everywhere) return;
  const CallOnDevice there(call, stream);
  const SpecialsOnDevice known(specials);
  launch_exact(exact_call(there), nullptr, call.m() * call.n(), known.entries(), stream);
  there.finish();
}

void CertifyingEngine::finish_exactly(const GemmCall& call, const std::vector<Entry>& entries) const {
  if (entries.empty()) return;
  const CudaDevice device(device_);
  if (!any_on_device(call)) return host_.finish_exactly(call, entries);
  const CallOnDevice there(call, stream);
  const auto open = copy_to_device(entries, stream);
  launch_exact(exact_call(there), open.data(), static_cast<Index>(entries.size()), {}, stream);
  there.finish();
}

std::unique_ptr<Examination> CertifyingEngine::examine(const Factors& factors, const DecideOptions& options) const {
  const CudaDevice device(device_);
  const bool there =
      on_device(factors.a, "a") || on_device(factors.b, "b") || (!is_zero(options.beta) && on_device(options.c0, "c0"));
  if (!there) return host_.examine(factors, options);
  return std::make_unique<DeviceExamination>(factors, options, kernels(), options_, stream, side_);
}

void CertifyingEngine::multiply_finite(const GemmCall& call, const SplitPlan& plan, KeptSlices kept, double workspace) const {
  const CudaDevice device(device_);
  const auto read = call.without_unread();
  const bool takes_kept = (kept.a == nullptr || takes(*kept.a)) && (kept.b == nullptr || takes(*kept.b));
  if (read.k() > 0 && takes_kept && all_on_device(read) && this->workspace(plan, read.m(), read.n(), read.k()) <= workspace) {
    try {
      return launch_product(read, plan, kept);
    } catch (const OutOfMemory&) {  // by blocks, then
    }
  }
  ozbound::multiply_finite(call, plan, *this, kept, nullptr, workspace);
}

OperandAccess::ResultFacts CertifyingEngine::result_facts(const ErrorBound& bound, const RemotePlanBound* remote,
                                                          const InputView& c, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!on_device(c, "c") && !on_device(specials.c0, "c0")) return host_.result_facts(bound, remote, c, specials);
  const DeviceOperand result(c, "c", stream);
  const SpecialsOnDevice known(specials);
  const auto find = [&](const ScaledBound& scaled, Index outer_products) {
    const LargestMemory search(outer_products, shape_of(specials).m, shape_of(specials).n, stream);
    launch_largest_bound(scaled, bound, result.matrix(), known.entries(), search.work(), stream);
    const auto found = copy_to_host(search.work().result, 1, stream)[0];
    return ResultFacts{found.print, found.entry.value, found.infinite};
  };
  if (const auto* const made_here = dynamic_cast<const DevicePlanBound*>(remote))
    return find(made_here->bound(), made_here->outer_products());
  Index outer_products = 0;
  for (const auto& term : bound.product.terms) outer_products += static_cast<Index>(term.alternatives.size());
  return find(ErrorBoundOnDevice(bound).scaled(), outer_products);
}

std::vector<Entry> CertifyingEngine::infinite_entries(const InputView& c, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!on_device(c, "c") && !on_device(specials.c0, "c0")) return host_.infinite_entries(c, specials);
  const auto shape = shape_of(specials);
  const DeviceOperand result(c, "c", stream);
  const SpecialsOnDevice known(specials);
  const OpenEntries open(shape.m, shape.n, stream);
  launch_finding_infinite(result.matrix(), known.entries(), shape, open.bits(), open.count(), stream);
  return open.in_order(stream);
}

std::optional<Entry> CertifyingEngine::last_inexact(const EntryBound& bound, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!on_device(specials.c0, "c0")) return host_.last_inexact(bound, specials);
  const auto [m, n] = shape_of(specials);
  const BoundCopy there(bound, m, n, stream);
  const SpecialsOnDevice known(specials);
  const DeviceNumber after;
  launch_last_inexact(there.bound(), known.entries(), {m, n}, after.data(), stream);
  const auto place = static_cast<Index>(after.value()) - 1;
  return place < 0 ? std::nullopt : std::optional(Entry{place / n, place % n});
}

OperandAccess::Accepted CertifyingEngine::accept_relative(const InputView& product, const ErrorBound& bound, double factor,
                                                          const SpecialEntries& specials, const OutputView& c) const {
  const CudaDevice device(device_);
  const auto shape = shape_of(specials);
  const DeviceOperand from(product, "c", stream), to(c.as_input(), "c", stream);
  const ErrorBoundOnDevice there(bound);
  const SpecialsOnDevice known(specials);
  const OpenEntries open(shape.m, shape.n, stream);
  const DeviceNumber worst;
  launch_accepting({from.matrix(), to.matrix(), factor, open.bits(), open.count(), worst.data()}, there.bound(),
                   known.entries(), shape, stream);
  to.write_to(c, stream);
  return {open.in_order(stream), double_from_bits(worst.value())};
}

}  // namespace ozbound::gpu
