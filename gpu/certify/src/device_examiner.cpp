// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/gpu/device_examiner.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "bounded_entries.hpp"
#include "cuda_device.hpp"
#include "device_examination.hpp"
#include "device_plan_bound.hpp"
#include "largest_memory.hpp"
#include "marked_entries.hpp"
#include "product_on_device.hpp"
#include "side_stream.hpp"
#include "specials_on_device.hpp"
#include "started_copy.hpp"

namespace ozbound::gpu {
namespace {

const cudaStream_t stream = cudaStreamPerThread;

/// The passes that find ResultFacts of a C. The constructor launches them.
class ResultSearch {
 public:
  /// @param bound in device memory; it must outlive this object, as must C and the specials
  ResultSearch(const BoundWithScales& bound, Index outer_products, const RoundingError& rounding, const InputView& c,
               const SpecialEntries& specials)
      : c_(c, "c", stream),
        specials_(specials, stream),
        search_(outer_products, shape_of(specials).m, shape_of(specials).n, stream) {
    const auto* const result = search_.work().result;
    launch_largest_bound(bound, rounding, c_.matrix(), specials_.entries(), search_.work(), stream);
    copy_.emplace(result, result + 1, stream);
  }

  /// Waits for the passes.
  [[nodiscard]] Examiner::ResultFacts facts() const {
    const auto& found = *copy_->wait().at(search_.work().result);
    return {found.print, found.entry.value, found.infinite};
  }

 private:
  DeviceOperand c_;
  SpecialsOnDevice specials_;
  LargestMemory search_;
  std::optional<StartedCopy> copy_;  ///< set by the constructor
};

/// Gives `use` a bound in device memory: in place if this device keeps it, otherwise a copy.
template <class Use>
auto with_bound(const PlanBound& bound, int device, const Use& use) {
  if (const auto* const kept = DevicePlanBound::kept_on(device, bound.remote.get())) return use(kept->bound());
  return use(CopiedPlanBound(fetched(bound), device, stream).bound());
}

}  // namespace

DeviceExaminer::DeviceExaminer(const CudaEngine& engine) : engine_(&engine), device_(engine.options_.device), host_(engine) {
  const CudaDevice device(device_);
  side_ = std::make_shared<const SideStream>();
  streams_ = std::make_shared<LentStreams>();
}

std::unique_ptr<Examination> DeviceExaminer::examine(const RealProduct& product, const PreparedOperands& prepared) const {
  const CudaDevice device(device_);
  const bool lies_on_device =
      on_device(product.a, "a") || on_device(product.b, "b") || (!is_zero(product.beta) && on_device(product.c0, "c0"));
  if (!lies_on_device) return host_.examine(product, prepared);
  return std::make_unique<DeviceExamination>(product, Encoding::balanced(), *engine_->kernels_, engine_->options_, stream,
                                             side_, streams_);
}

Examiner::ResultFacts DeviceExaminer::result_facts(const ErrorBound& bound, const RemotePlanBound* remote, const InputView& c,
                                                   const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!on_device(c, "c") && !on_device(specials.c0, "c0")) return host_.result_facts(bound, remote, c, specials);
  if (const auto* const made_here = DevicePlanBound::kept_on(device_, remote))
    return ResultSearch(made_here->bound(), made_here->outer_products(), bound, c, specials).facts();
  const CopiedPlanBound copied({bound.product, bound.row_exponents, bound.column_exponents}, device_, stream);
  return ResultSearch(copied.bound(), copied.outer_products(), bound, c, specials).facts();
}

std::function<Examiner::ResultFacts()> DeviceExaminer::start_result_facts(const RoundingError& rounding,
                                                                          const RemotePlanBound* remote, const InputView& c,
                                                                          const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  const auto* const made_here = DevicePlanBound::kept_on(device_, remote);
  if (made_here == nullptr || !on_device(c, "c")) return nullptr;
  const auto search =
      std::make_shared<const ResultSearch>(made_here->bound(), made_here->outer_products(), rounding, c, specials);
  return [search, of = device_] {
    const CudaDevice of_search(of);
    return search->facts();
  };
}

std::optional<Entry> DeviceExaminer::last_inexact(const PlanBound& bound, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!on_device(specials.c0, "c0")) return host_.last_inexact(bound, specials);
  const auto [m, n] = shape_of(specials);
  const SpecialsOnDevice known(specials, stream);
  const DeviceNumber after(stream);
  const auto place = with_bound(bound, device_, [&, m = m, n = n](const BoundWithScales& in_place) {
    launch_last_inexact(in_place.bound, known.entries(), {m, n}, after.data(), stream);
    return static_cast<Index>(after.value()) - 1;
  });
  return place < 0 ? std::nullopt : std::optional(Entry{place / n, place % n});
}

Examiner::Accepted DeviceExaminer::accept_relative(const InputView& product, const PlanBound& bound, double alpha,
                                                   double factor, const SpecialEntries& specials, const OutputView& c) const {
  const CudaDevice device(device_);
  const auto shape = shape_of(specials);
  const DeviceOperand from(product, "c", stream), to(c.as_input(), "c", stream);
  const SpecialsOnDevice known(specials, stream);
  const MarkedEntries open(shape.m, shape.n, stream);
  const DeviceNumber worst(stream);
  const RelativeProduct relative{from.matrix(), to.matrix(), alpha, factor, open.bits(), open.count(), worst.data()};
  return with_bound(bound, device_, [&](const BoundWithScales& in_place) {
    launch_accepting(relative, in_place, known.entries(), shape, stream);
    to.write_to(c, stream);
    return Accepted{open.in_order(stream), double_from_bits(worst.value())};
  });
}

}  // namespace ozbound::gpu
