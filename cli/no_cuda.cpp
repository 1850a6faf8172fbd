#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cuda.hpp"

// Where this build has no CUDA.

namespace ozbound::cli {
namespace {

[[noreturn]] void refuse() { throw std::logic_error(cuda_obstacle()); }

}  // namespace

std::string cuda_obstacle() { return "this build has no CUDA"; }
std::string cuda_name() { refuse(); }
std::unique_ptr<Engine> make_cuda_engine(int) { refuse(); }
std::unique_ptr<CudaOperands> to_cuda(const InputView&, const InputView&, const InputView&) { refuse(); }
bool cuda_has_native() { return false; }
std::unique_ptr<NativeGemm> make_cuda_native() { refuse(); }
std::optional<CalibratedCosts> cuda_costs(int) { refuse(); }
Calibration measure_cuda(int, double, const std::function<void(double)>&) { refuse(); }
Calibration this_cuda_device() { refuse(); }
nlohmann::ordered_json cuda_devices() { return nlohmann::ordered_json::array(); }

}  // namespace ozbound::cli
