// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "chosen_residues.hpp"
#include "device_slices.hpp"
#include "entries.hpp"
#include "first_looks.hpp"
#include "fused_residues.hpp"
#include "memory.hpp"
#include "ozbound/bounds/examination.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "product_launcher.hpp"
#include "side_stream.hpp"

namespace ozbound::gpu {

/// A product by residues under a plan that is known or that a kernel chooses, on a stream of its own: the stream that decides
/// does not wait for it. The first block of C is multiplied; its sums stay in bytes until `finish`.
class StartedResidues final : public StartedProduct {
 public:
  /// The examination that starts the product gives it these facts, streams and kernels.
  struct Source {
    const FirstLooks& looks;
    const StreamMark& level_one;
    double factor;  ///< share of an entry's magnitude that its error may take
    Kernels& kernels;
    const CudaEngine::Options& engine;
    cudaStream_t stream;                    ///< the stream that decides, where C is written too
    std::shared_ptr<const LentStream> own;  ///< for the product
  };

  /// Null if the kernels cannot multiply these matrices so, or if there is not enough memory. @pre the matrices lie on the
  /// device, which is the current one; there are entries and elements.
  static std::unique_ptr<StartedResidues> of(const RealProduct& product, const ProductStart& start, const Source& source);

  [[nodiscard]] std::optional<ResiduePlan> plan() const override;
  std::function<ResultFacts()> finish(const RealProduct& product, const RoundingError& rounding,
                                      const RemotePlanBound* bound) override;
  std::optional<std::vector<Entry>> finish_decided(const RealProduct& product, ZivBound error) override;

 private:
  StartedResidues(const RealProduct& product, const ProductStart& start, const Source& source, ProductLauncher launcher);

  /// Waits for a stream's work, and for that of another one if it is given, before the memory that they use is freed.
  class Waiting {
   public:
    explicit Waiting(cudaStream_t stream) : stream_(stream) {}
    ~Waiting() {
      cudaStreamSynchronize(stream_);
      if (also != nullptr) cudaStreamSynchronize(also);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    cudaStream_t also = nullptr;

   private:
    cudaStream_t stream_;
  };

  /// The product keeps these in device memory.
  struct Parts {
    DeviceSlices a, b;
    ChosenResidues* chosen;
    Arena sums;
  };

  /// Recovers C, block by block, in the order of the stream that decides.
  void recover(const ProductLauncher::Recovery& block);

  static Parts take(Arena& arena, const RealProduct& product, int moduli, const ProductLauncher& launcher);
  static std::size_t bytes(const RealProduct& product, int moduli, const ProductLauncher& launcher);

  ProductLauncher launcher_;
  int device_;
  cudaStream_t stream_;
  std::shared_ptr<const LentStream> own_;
  std::shared_ptr<const Memory> looks_;  ///< the memory of scales that kernels read
  DeviceSpecials specials_;              ///< there, too
  Memory memory_;                        ///< in the order of own_
  Waiting waiting_;
  Parts parts_ = {};
  FusedResidues::Bytes first_ = {};
  std::optional<StreamMark> chose_;
};

}  // namespace ozbound::gpu
