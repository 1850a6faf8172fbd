// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

#include "ozbound/core/cancellation.hpp"

namespace ozbound::cli {

/// A signal came while interruptibly() worked; what() says what that means for the outputs.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal, const std::string& outcome) : std::runtime_error(outcome), signal_(signal) {}

  /// Ends the process as the signal would have, had it not been caught: for the shell that waits.
  [[noreturn]] void end_process() const;

 private:
  int signal_;
};

/// While it lives, the first SIGINT or SIGTERM, unless it is ignored, cancels what this thread computes. A second one does what
/// it did before: it ends the process at once (remove_temporaries_on_signals). One at a time.
class SignalScope {
 public:
  SignalScope();
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

  /// The signal that came; 0: none.
  [[nodiscard]] static int caught();

 private:
  CancelScope cancel_;
};

/// Runs work that looks at CancelScope. @throws Interrupted with `outcome` if SIGINT or SIGTERM comes meanwhile, even if the
/// work was done by then.
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
