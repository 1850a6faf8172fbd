#include "cuda.hpp"

#include <omp.h>

#include <nlohmann/json.hpp>

#include "ozbound/gpu/certifying_engine.hpp"
#include "ozbound/gpu/cublas_gemm.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "ozbound/gpu/device_costs.hpp"
#include "ozbound/gpu/resident.hpp"

namespace ozbound::cli {
namespace {

class Resident final : public CudaOperands {
 public:
  Resident(const InputView& a, const InputView& b, const InputView& c0) : operands_(a, b, c0) {}

  [[nodiscard]] InputView a() const override { return operands_.a(); }
  [[nodiscard]] InputView b() const override { return operands_.b(); }
  [[nodiscard]] InputView c0() const override { return operands_.c0(); }
  void with_result(const OutputView& c, const std::function<void(const OutputView&)>& multiply) const override {
    const gpu::ResidentResult there(c);
    multiply(there.view());
    there.write_back();
  }

 private:
  gpu::ResidentOperands operands_;
};

}  // namespace

std::string cuda_obstacle() { return gpu::device_count() > 0 ? "" : "there is no CUDA device here"; }

std::string cuda_name() { return "cuda: " + gpu::devices().at(0).name; }

std::unique_ptr<Engine> make_cuda_engine(int threads) {
  return std::make_unique<gpu::CertifyingEngine>(gpu::CudaEngine::Options{.threads = threads});
}

std::unique_ptr<CudaOperands> to_cuda(const InputView& a, const InputView& b, const InputView& c0) {
  return std::make_unique<Resident>(a, b, c0);
}

bool cuda_has_native() { return gpu::have_cublas(); }

std::unique_ptr<NativeGemm> make_cuda_native() { return gpu::make_cublas_gemm(); }

std::optional<CalibratedCosts> cuda_costs(int threads) {
  return gpu::device_costs(0, threads > 0 ? threads : omp_get_max_threads());
}

Calibration measure_cuda(int threads, double seconds, const std::function<void(double)>& progress) {
  const gpu::CertifyingEngine engine({.threads = threads});
  const auto native = make_cuda_native();
  auto calibration = this_cuda_device();
  calibration.rates = {gpu::measure_device_rates(engine, native.get(), {seconds, progress})};
  return calibration;
}

Calibration this_cuda_device() { return gpu::this_device(); }

nlohmann::ordered_json cuda_devices() {
  auto list = nlohmann::ordered_json::array();
  for (const auto& device : gpu::devices())
    list.push_back({{"name", device.name}, {"compute_capability", device.compute_capability}, {"memory_bytes", device.memory}});
  return list;
}

}  // namespace ozbound::cli
