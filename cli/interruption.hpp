// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

#include "ozbound/core/cancellation.hpp"

namespace ozbound::cli {

/// A signal came during interruptibly(). what() tells the consequence for the outputs.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal, const std::string& outcome) : std::runtime_error(outcome), signal_(signal) {}

  /// Ends the process as the uncaught signal would have ended it, so that the waiting shell sees the signal.
  [[noreturn]] void end_process() const;

 private:
  int signal_;
};

/// During its lifetime, the first SIGINT or SIGTERM, unless ignored, cancels the computation of this thread. A second one has
/// its former effect: it ends the process at once (remove_temporaries_on_signals). Only one SignalScope may live at a time.
class SignalScope {
 public:
  SignalScope();
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

  /// The signal that came; 0 if none.
  [[nodiscard]] static int caught();

 private:
  CancelScope cancel_;
};

/// Runs work that checks CancelScope. @throws Interrupted with `outcome` if SIGINT or SIGTERM comes during the work, even if
/// the work was already done.
template <class Work>
void interruptibly(const std::string& outcome, const Work& work) {
  try {
    const SignalScope signals;
    work();
  } catch (const Cancelled&) {
    if (SignalScope::caught() == 0) throw;
  }
  if (const int signal = SignalScope::caught(); signal != 0) throw Interrupted(signal, outcome);
}

}  // namespace ozbound::cli
