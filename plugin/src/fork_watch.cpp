// SPDX-License-Identifier: BSD-3-Clause
#include "fork_watch.hpp"

#include <pthread.h>

#include <atomic>

namespace ozbound::plugin {
namespace {

std::atomic<bool> watching{false}, forked{false};

}  // namespace

void watch_forks() {
  if (!watching.exchange(true)) pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

bool forked_after_loading() { return forked; }

}  // namespace ozbound::plugin
