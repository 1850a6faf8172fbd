// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Helpers for the functions of ozbound.h: they turn C arguments into C++ ones, exceptions into statuses, records into handles.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ozbound.h"
#include "ozbound/blas.hpp"
#include "ozbound/bounds/json_text.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/machine.hpp"

/// A record and its JSON text, which is made on first use.
template <class Record>
struct WithJson {
  Record record;

  const char* json() const {
    std::call_once(once_, [this] { json_ = ozbound::json_text(to_json(record)); });
    return json_.c_str();
  }

 private:
  mutable std::once_flag once_;
  mutable std::string json_;
};

struct ozb_decision : WithJson<ozbound::Decision> {};
struct ozb_certificate : WithJson<ozbound::Certificate> {};

namespace ozbound {

/// The values of ozb_set_machine and ozb_set_cancellation for the calls of this thread.
struct ThreadSettings {
  std::optional<Machine> machine;                   ///< empty: the CPU
  Place place;                                      ///< memory of the matrices
  std::shared_ptr<std::atomic<bool>> cancellation;  ///< empty: no cancellation
};
ThreadSettings& thread_settings();

/// last_error() is the text of this thread's last failure; fail() sets it and returns the status.
const char* last_error();
int fail(int status, const char* text) noexcept;

/// Returns the status of the exception that is being handled.
int fail_by_exception() noexcept;

/// Runs a body that may throw, in its own floating-point environment, and returns its status.
template <class Body>
int guarded(const Body& body) noexcept {
  const FloatEnvironment environment;
  std::optional<CancelScope> scope;
  if (const auto& cancellation = thread_settings().cancellation) scope.emplace(*cancellation);
  try {
    return body();
  } catch (...) {
    return fail_by_exception();
  }
}

/// @throws std::invalid_argument `NAME must not be null`.
template <class T>
T& given(T* pointer, const char* name) {
  if (pointer == nullptr) throw std::invalid_argument(std::string(name) + " must not be null");
  return *pointer;
}

/// Convert C arguments to C++.
Layout layout_of(int layout);
Op op_of(int op, const char* name);
/// Parses a target; caches the last one per thread.
Target target_of(const char* text);

/// The options of a call: the thread's settings, with a workspace cap unless it is 0, or with choices.
BlasOptions as_set();
BlasOptions with_workspace(std::int64_t workspace);
BlasOptions choices_of(int choices);

/// The status of a product with this certificate; `product` begins its text.
int status_of(const Certificate& certificate, const std::string& product = "");

/// Handles for future records. They are allocated first, so that no record is lost if memory runs out.
template <class Handle>
class Handles {
 public:
  /// Prepares `count` handles for `out`, which may be null; all are null until they are handed out.
  Handles(Handle** out, std::int64_t count) : out_(out) {
    for (std::int64_t t = 0; out != nullptr && t < count; ++t) out[t] = nullptr;
    for (std::int64_t t = 0; out != nullptr && t < count; ++t) handles_.push_back(std::make_unique<Handle>());
  }

  template <class Record>
  void hand_out(std::vector<Record>&& records) {
    for (std::size_t t = 0; t < handles_.size(); ++t) {
      handles_[t]->record = std::move(records[t]);
      out_[t] = handles_[t].release();
    }
  }

 private:
  Handle** out_;
  std::vector<std::unique_ptr<Handle>> handles_;
};

/// Runs `compute`, which makes `count` decisions; `name` is the name of `out`.
template <class Compute>
int decided(ozb_decision** out, std::int64_t count, const char* name, const Compute& compute) noexcept {
  return guarded([&] {
    if (count > 0) given(out, name);
    Handles handles(out, count);
    handles.hand_out(compute());
    return OZB_SUCCESS;
  });
}

}  // namespace ozbound
