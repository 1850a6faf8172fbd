#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ozbound/bounds/calibration.hpp"
#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/views.hpp"

// The CUDA device that products may run on, the first; the same functions where this build knows of none.

namespace ozbound::cli {

/// Why there is none, as a clause: `this build has no CUDA`; empty where there is one.
std::string cuda_obstacle();

/// `cuda: NVIDIA H200`. @pre there is one, as below.
std::string cuda_name();

/// With so many threads of the host, or as many as OpenMP would use; 0 for those.
std::unique_ptr<Engine> make_cuda_engine(int threads);

/// Copies of a call's matrices in the memory of the device, where it decides and certifies.
class CudaOperands {
 public:
  virtual ~CudaOperands() = default;
  [[nodiscard]] virtual InputView a() const = 0;
  [[nodiscard]] virtual InputView b() const = 0;
  [[nodiscard]] virtual InputView c0() const = 0;

  /// Calls multiply(a C there), and copies it to `c`.
  virtual void with_result(const OutputView& c, const std::function<void(const OutputView&)>& multiply) const = 0;
};

/// The originals must live as long; `c0` may be empty.
std::unique_ptr<CudaOperands> to_cuda(const InputView& a, const InputView& b, const InputView& c0);

/// cublasDgemm, where this build has it.
bool cuda_has_native();
std::unique_ptr<NativeGemm> make_cuda_native();

/// Nothing where no calibration is known.
std::optional<CalibratedCosts> cuda_costs(int threads);

/// A calibration with one set of rates, for `threads` of the host, measured for so many seconds.
Calibration measure_cuda(int threads, double seconds, const std::function<void(double)>& progress);

/// What a calibration must be of to be used here.
Calibration this_cuda_device();

/// What is known of every device: name, compute_capability, memory_bytes.
nlohmann::ordered_json cuda_devices();

}  // namespace ozbound::cli
