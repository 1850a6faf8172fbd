// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_launcher.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cuda_device.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/gpu/cuda_backend.hpp"
#include "product_on_device.hpp"

namespace ozbound::gpu {
namespace {

class CudaLaunched final : public LaunchedProduct {
 public:
  CudaLaunched(std::shared_ptr<const CertifiedGemm> gemm, const RealProduct& product, std::shared_ptr<void> workspace,
               cudaStream_t stream)
      : gemm_(std::move(gemm)), workspace_(std::move(workspace)), stream_(stream) {
    (*gemm_)(product, workspace_.get(), stream_);
  }

  [[nodiscard]] std::optional<StreamRecord> wait() const override { return gemm_->stream_record(workspace_.get(), stream_); }

 private:
  std::shared_ptr<const CertifiedGemm> gemm_;
  std::shared_ptr<void> workspace_;  ///< destroyed first, since the work uses the other one's streams
  cudaStream_t stream_;
};

}  // namespace

std::shared_ptr<void> Workspaces::take(std::size_t bytes, cudaStream_t stream) {
  const int device = current_device();
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(idle_, bytes, &Kept::bytes);
  std::list<Kept> taken;
  if (found != idle_.end()) {
    taken.splice(taken.end(), idle_, found);
    taken.front().until->wait_in(stream);
  } else {
    const auto allocate = [&] { return Memory(bytes, own_.stream()); };
    Memory memory;
    try {
      memory = allocate();
    } catch (const OutOfMemory&) {
      if (idle_.empty()) throw;
      idle_.clear();
      check(cudaStreamSynchronize(own_.stream()), "cudaStreamSynchronize");
      memory = allocate();
    }
    taken.push_back({bytes, std::move(memory), nullptr});
    StreamMark(own_.stream()).wait_in(stream);
  }
  auto* const data = taken.front().memory.arena().take<std::uint8_t>(static_cast<Index>(bytes));
  const auto kept = std::make_shared<std::list<Kept>>(std::move(taken));
  return {data, [kept, stream, device, all = shared_from_this()](void*) { all->take_back(*kept, stream, device); }};
}

void Workspaces::take_back(std::list<Kept>& kept, cudaStream_t stream, int device) noexcept {
  const CudaDevice current(device);
  try {
    auto until = std::make_unique<const StreamMark>(stream);
    until->wait_in(own_.stream());  // memory that is freed there is then unused
    kept.front().until = std::move(until);
  } catch (const std::exception&) {
    cudaDeviceSynchronize();
    return;  // the memory is freed
  }
  const std::scoped_lock lock(mutex_);
  idle_.splice(idle_.end(), kept);
  if (idle_.size() > most_idle) idle_.pop_front();
}

CudaLauncher::CudaLauncher(const CudaBackend& backend, int device) : backend_(backend), device_(device) {
  const CudaDevice current(device);
  workspaces_ = std::make_shared<Workspaces>();
}

std::unique_ptr<LaunchedProduct> CudaLauncher::launch(const RealProduct& product, const Target& target, void* of) const {
  const FloatEnvironment environment;
  const CudaDevice device(device_);
  const auto stream = static_cast<cudaStream_t>(of);
  cudaStreamCaptureStatus status{};
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  if (status != cudaStreamCaptureStatusNone) throw std::invalid_argument("stream is captured; a CertifiedGemm can be captured");
  const bool fits = product.m() > 0 && product.n() > 0 && product.k() > 0 && product.alpha == 1 && product.beta == 0 &&
                    product.c.is_double() && all_on_device(product);
  const auto gemm = fits ? gemm_for(product, target) : nullptr;
  if (gemm == nullptr) return nullptr;
  try {
    return std::make_unique<CudaLaunched>(gemm, product, workspaces_->take(gemm->workspace(), stream), stream);
  } catch (const std::invalid_argument&) {  // its matrices are stored in another way
    return nullptr;
  } catch (const OutOfMemory&) {
    return nullptr;
  }
}

void CudaLauncher::wait(void* stream) const {
  const CudaDevice device(device_);
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize");
}

std::shared_ptr<const CertifiedGemm> CudaLauncher::gemm_for(const RealProduct& product, const Target& target) const {
  const std::scoped_lock lock(mutex_);
  const Index m = product.m(), n = product.n(), k = product.k();
  const auto found = std::ranges::find_if(kinds_, [&](const Kind& kind) {
    return kind.target.kind == target.kind && kind.target.tau == target.tau && kind.m == m && kind.n == n && kind.k == k;
  });
  if (found != kinds_.end()) {
    kinds_.splice(kinds_.begin(), kinds_, found);
    return kinds_.front().gemm;
  }
  std::shared_ptr<const CertifiedGemm> gemm;
  try {
    gemm = std::make_shared<const CertifiedGemm>(backend_, target, m, n, k);
  } catch (const std::invalid_argument&) {  // the device decides no such products
  }
  kinds_.push_front({target, m, n, k, gemm});
  if (kinds_.size() > most_kinds) kinds_.pop_back();
  return gemm;
}

}  // namespace ozbound::gpu
