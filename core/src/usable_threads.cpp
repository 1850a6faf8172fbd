// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/detail/usable_threads.hpp"

#include <omp.h>
#include <pthread.h>

#include <atomic>

namespace ozbound {
namespace {

std::atomic<bool> watching{false}, forked{false};

void enter_child() {
  forked = true;
  omp_set_num_threads(1);  // for regions that request no number, OpenBLAS's among them
}

}  // namespace

int usable_threads(int wanted) {
  if (!watching.exchange(true)) {
    static_cast<void>(omp_get_max_threads());  // starts LLVM's OpenMP, whose own fork handler must come first
    pthread_atfork(nullptr, nullptr, enter_child);
  }
  return forked ? 1 : wanted;
}

}  // namespace ozbound
