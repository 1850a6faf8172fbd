#include "ozbound/gpu/certifying_engine.hpp"

#include <utility>

#include "cuda_device.hpp"
#include "device_fingerprint.hpp"
#include "host_matrices.hpp"

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

/// With copies of what it examines.
class HostExamined final : public Examination {
 public:
  HostExamined(const Factors& factors, const DecideOptions& options, const HostAccess& host)
      : a_(factors.a, "a", stream),
        b_(factors.b, "b", stream),
        c0_(options.beta == 0 ? InputView() : options.c0, "c0", stream),
        options_(options) {
    options_.c0 = c0_.view();
    examination_ = host.examine({a_.view(), b_.view(), factors.prepared_a, factors.prepared_b}, options_);
  }

  PlanBound bound(const SplitPlan& plan) override { return examination_->bound(plan); }
  double error_at(const SplitPlan& plan, double uniform, Index i, Index j) override {
    return examination_->error_at(plan, uniform, i, j);
  }
  std::unique_ptr<Allowance> allowance(const Target& target, double factor) override {
    return examination_->allowance(target, factor);
  }

 private:
  HostInput a_, b_, c0_;
  DecideOptions options_;
  std::unique_ptr<Examination> examination_;
};

}  // namespace

std::uint64_t CertifyingEngine::fingerprint(const InputView& matrix) const {
  const CudaDevice device(device_);
  if (!on_device(matrix, "matrix")) return host_.fingerprint(matrix);
  const DeviceArray<std::uint64_t> sum(1, stream);
  launch_fingerprint(matrix_of(matrix), matrix.rows(), matrix.cols(), sum.data(), stream);
  return copy_to_host(sum.data(), 1, stream)[0];
}

ExponentRange CertifyingEngine::exponent_range(const InputView& operand, Side side) const {
  const CudaDevice device(device_);
  return host_.exponent_range(HostInput(operand, "operand", stream).view(), side);
}

ExponentRange CertifyingEngine::exponent_range(const InputView& matrix) const {
  const CudaDevice device(device_);
  return host_.exponent_range(HostInput(matrix, "c0", stream).view());
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
  auto specials = host_.special_entries(HostCall(call, stream).call());
  specials.c0 = is_zero(call.beta) ? InputView() : call.c0;
  return specials;
}

Index CertifyingEngine::count(const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  return host_.count(HostSpecials(specials, stream).entries());
}

void CertifyingEngine::apply_specials(const GemmCall& call, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  const HostCall host(call, stream);
  host_.apply_specials(host.call(), HostSpecials(specials, stream).entries());
  host.write_back();
}

void CertifyingEngine::multiply_exactly(const GemmCall& call, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  const HostCall host(call, stream);
  host_.multiply_exactly(host.call(), HostSpecials(specials, stream).entries());
  host.write_back();
}

void CertifyingEngine::finish_exactly(const GemmCall& call, const std::vector<Entry>& entries) const {
  if (entries.empty()) return;
  const CudaDevice device(device_);
  const HostCall host(call, stream);
  host_.finish_exactly(host.call(), entries);
  host.write_back();
}

std::unique_ptr<Examination> CertifyingEngine::examine(const Factors& factors, const DecideOptions& options) const {
  const CudaDevice device(device_);
  return std::make_unique<HostExamined>(factors, options, host_);
}

double CertifyingEngine::largest_bound(const ErrorBound& bound, const InputView& c, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  const HostInput host(c, "c", stream);
  return host_.largest_bound(bound, host.view(), HostSpecials(specials, stream).entries());
}

std::optional<Entry> CertifyingEngine::last_inexact(const EntryBound& bound, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  return host_.last_inexact(bound, HostSpecials(specials, stream).entries());
}

OperandAccess::Accepted CertifyingEngine::accept_relative(const InputView& product, const ErrorBound& bound, double factor,
                                                          const SpecialEntries& specials, const OutputView& c) const {
  const CudaDevice device(device_);
  const HostInput from(product, "c", stream);
  const HostOutput to(c, "c", stream);
  auto accepted = host_.accept_relative(from.view(), bound, factor, HostSpecials(specials, stream).entries(), to.view());
  to.write_back();
  return accepted;
}

}  // namespace ozbound::gpu
