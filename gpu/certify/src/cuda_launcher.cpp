// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_launcher.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
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
  CudaLaunched(std::shared_ptr<const CertifiedGemm> gemm, const RealProduct& product,
               std::unique_ptr<Workspaces::Lent> workspace, cudaStream_t stream)
      : gemm_(std::move(gemm)), workspace_(std::move(workspace)), stream_(stream) {
    (*gemm_)(product, workspace_->data(), stream_);
    workspace_->mark(stream_);
  }

  [[nodiscard]] std::optional<StreamRecord> wait() const override { return gemm_->stream_record(workspace_->data(), stream_); }

 private:
  std::shared_ptr<const CertifiedGemm> gemm_;
  std::unique_ptr<Workspaces::Lent> workspace_;
  cudaStream_t stream_;
};

}  // namespace

Workspaces::Lent::~Lent() {
  if (until_ == nullptr) cudaDeviceSynchronize();  // an exception came between
  all_->take_back({bytes_, std::move(memory_), std::move(until_)});
}

std::unique_ptr<Workspaces::Lent> Workspaces::lend(std::size_t bytes, cudaStream_t stream) {
  const auto lent = [&](Memory memory) {
    return std::unique_ptr<Lent>(new Lent(shared_from_this(), bytes, std::move(memory)));
  };
  const std::scoped_lock lock(mutex_);
  // Streams need not wait for each other's products while there is memory.
  const auto found = std::ranges::find_if(
      idle_, [bytes](const Idle& idle) { return idle.bytes == bytes && (idle.until == nullptr || idle.until->done()); });
  if (found != idle_.end()) {
    auto memory = std::move(found->memory);
    idle_.erase(found);
    return lent(std::move(memory));
  }
  const auto allocate = [&] { return Memory(bytes, own_.stream()); };
  Memory memory;
  try {
    memory = allocate();
  } catch (const OutOfMemory&) {
    if (idle_.empty()) throw;
    while (!idle_.empty()) free(std::move(idle_.front())), idle_.pop_front();
    check(cudaStreamSynchronize(own_.stream()), "cudaStreamSynchronize");
    memory = allocate();
  }
  StreamMark(own_.stream()).wait_in(stream);
  return lent(std::move(memory));
}

void Workspaces::take_back(Idle idle) noexcept {
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(idle));
  const auto bytes = [this] {
    return std::transform_reduce(idle_.begin(), idle_.end(), std::size_t{0}, std::plus(),
                                 [](const Idle& of) { return of.bytes; });
  };
  while (idle_.size() > most_idle || (!idle_.empty() && bytes() > most_idle_bytes))
    free(std::move(idle_.front())), idle_.pop_front();
}

void Workspaces::free(Idle idle) noexcept {
  try {
    if (idle.until != nullptr) idle.until->wait_in(own_.stream());
  } catch (const std::exception&) {
    cudaDeviceSynchronize();
  }
}

CudaLauncher::CudaLauncher(const CudaBackend& backend, int device) : backend_(backend), device_(device) {
  const CudaDevice current(device);
  workspaces_ = std::make_shared<Workspaces>();
}

std::unique_ptr<LaunchedProduct> CudaLauncher::launch(const RealProduct& product, const Target& target, void* stream) const {
  const FloatEnvironment environment;
  const CudaDevice device(device_);
  const auto in = static_cast<cudaStream_t>(stream);
  cudaStreamCaptureStatus status{};
  check(cudaStreamIsCapturing(in, &status), "cudaStreamIsCapturing");
  if (status != cudaStreamCaptureStatusNone) throw std::invalid_argument("stream is captured; a CertifiedGemm can be captured");
  const bool fits = product.m() > 0 && product.n() > 0 && product.k() > 0 && product.alpha == 1 && product.beta == 0 &&
                    product.c.is_double() && all_on_device(product);
  if (!fits) return nullptr;
  try {
    auto gemm = gemm_for(product, target);
    auto workspace = workspaces_->lend(gemm->workspace(), in);
    return std::make_unique<CudaLaunched>(std::move(gemm), product, std::move(workspace), in);
  } catch (const std::invalid_argument&) {  // the device decides no such products, or its matrices are stored in another way
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
  const Index m = product.m(), n = product.n(), k = product.k();
  std::list<Kind> evicted;  // is destroyed without the lock
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(kinds_, [&](const Kind& kind) {
    return kind.target.kind == target.kind && kind.target.tau == target.tau && kind.m == m && kind.n == n && kind.k == k;
  });
  if (found != kinds_.end())
    kinds_.splice(kinds_.begin(), kinds_, found);
  else
    kinds_.push_front({target, m, n, k, std::make_shared<const CertifiedGemm>(backend_, target, m, n, k)});
  if (kinds_.size() > most_kinds) evicted.splice(evicted.end(), kinds_, std::prev(kinds_.end()));
  return kinds_.front().gemm;
}

}  // namespace ozbound::gpu
