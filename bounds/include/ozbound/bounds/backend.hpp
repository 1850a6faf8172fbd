// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "ozbound/bounds/backend_id.hpp"
#include "ozbound/bounds/examiner.hpp"
#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/bounds/stream_launcher.hpp"
#include "ozbound/core/cost_model.hpp"
#include "ozbound/core/engine.hpp"

namespace ozbound {

/// Everything that products run on: an engine, the examiner of the matrices that it takes, the native DGEMM beside it, and the
/// costs of computing C there. All parts must outlive the Backend.
class Backend {
 public:
  /// The CPU, or any engine that takes only matrices in host memory. @param native null: no native DGEMM
  /// @param costs null: the engine's costs, which count products
  Backend(const Engine& engine, const NativeGemm* native = nullptr,  // NOLINT(google-explicit-constructor): an engine is one
          const CostModel* costs = nullptr)
      : engine_(&engine), host_(engine), native_(native), costs_(costs) {}

  /// @param launcher null: the backend launches no products in streams
  Backend(const Engine& engine, const Examiner& examiner, const NativeGemm* native, const CostModel* costs, BackendId id,
          const StreamLauncher* launcher = nullptr)
      : engine_(&engine),
        host_(engine),
        examiner_(&examiner),
        native_(native),
        costs_(costs),
        id_(std::move(id)),
        launcher_(launcher) {}

  [[nodiscard]] const Engine& engine() const { return *engine_; }
  /// True if it takes matrices there. The host's examiner takes no device matrices, for any engine.
  [[nodiscard]] bool reaches(Place place) const {
    return matrices().reaches(place) && (examiner_ != nullptr || place.is_host());
  }
  [[nodiscard]] const Matrices& matrices() const { return engine_->matrices(); }
  [[nodiscard]] const Examiner& examiner() const { return examiner_ == nullptr ? host_ : *examiner_; }
  [[nodiscard]] const NativeGemm* native() const { return native_; }  ///< null if there is none
  [[nodiscard]] const CostModel& costs() const { return costs_ == nullptr ? engine_->costs() : *costs_; }
  [[nodiscard]] const BackendId& id() const { return id_; }
  [[nodiscard]] const StreamLauncher* launcher() const { return launcher_; }  ///< null if there is none

 private:
  const Engine* engine_;
  HostExaminer host_;
  const Examiner* examiner_ = nullptr;  ///< null: the host's
  const NativeGemm* native_;
  const CostModel* costs_;
  BackendId id_ = {};
  const StreamLauncher* launcher_ = nullptr;
};

}  // namespace ozbound
