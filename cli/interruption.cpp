// SPDX-License-Identifier: BSD-3-Clause
#include "interruption.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>

namespace ozbound::cli {
namespace {

constexpr std::array signals{SIGINT, SIGTERM};

// Data that the signal handler writes and reads.
std::atomic<bool> requested = false;
std::atomic<int> first_signal = 0;
std::array<struct sigaction, signals.size()> before;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void restore() {
  for (std::size_t s = 0; s < signals.size(); ++s) sigaction(signals[s], &before[s], nullptr);
}

void request(int signal) {
  restore();  // a second signal gets its former effect
  first_signal = signal;
  requested = true;
}

}  // namespace

SignalScope::SignalScope() : cancel_(requested) {
  for (std::size_t s = 0; s < signals.size(); ++s) sigaction(signals[s], nullptr, &before[s]);
  struct sigaction action{};
  action.sa_handler = request;
  action.sa_flags = SA_RESTART;
  for (const int signal : signals) sigaddset(&action.sa_mask, signal);
  for (std::size_t s = 0; s < signals.size(); ++s)
    if (before[s].sa_handler != SIG_IGN) sigaction(signals[s], &action, nullptr);  // nohup stays nohup
}

SignalScope::~SignalScope() { restore(); }

int SignalScope::caught() { return first_signal; }

void Interrupted::end_process() const {
  std::signal(signal_, SIG_DFL);
  std::raise(signal_);
  std::_Exit(128 + signal_);  // if something, such as a debugger, took the signal
}

}  // namespace ozbound::cli
