// SPDX-License-Identifier: BSD-3-Clause
// libozbound_drop_in.so: what is done with a call that is not `off`.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "call.hpp"
#include "drop_in.h"
#include "ozbound/core/detail/overlap.hpp"
#include "settings.hpp"
#include "shadow.hpp"
#include "state.hpp"

namespace ozbound::drop_in {
namespace {

std::atomic<State*> state = nullptr;

/// Whether this thread's variables may be gone.
struct ThreadEnd {
  ~ThreadEnd() { ended() = true; }
  static bool& ended() {
    thread_local bool is = false;
    return is;
  }
};

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void count(long& counter) { __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED); }

/// The program's own call, timed.
double run_natively(const Call& call) {
  const Stopwatch watch;
  call.run_natively();
  return watch.seconds();
}

Count count_of(const Call& call, double native_seconds) {
  return {.calls = 1, .work = call.work(), .native_seconds = native_seconds, .other_seconds = native_seconds, .worst = {}};
}

/// What examining throws away never reaches the program: its call runs once, whatever happens here.
void run_examined(State& of, const Call& call, const RealProduct& product) {
  const State::InFlight in_flight(of);
  const long number = of.next_number();
  const Stopwatch before;
  std::optional<Examination> examination;
  try {
    examination.emplace(call, product, of.settings().target, number, in_flight.threads());
  } catch (const std::exception&) {  // of memory, say
  }
  const double deciding = before.seconds(), native = run_natively(call);
  try {
    if (!examination) return of.add({call, way_not_examined}, count_of(call, native));
    const Stopwatch after;
    examination->compare();
    auto counted = count_of(call, native);
    counted.own_seconds = deciding + after.seconds();
    counted.worst = examination->worst();
    if (examination->way() != "native")
      counted.other_seconds = std::min(native, examination->predicted_seconds().value_or(native));
    of.add(call, *examination, number, counted);
  } catch (const std::exception&) {
  }
}

void run_shadowed(State& of, const Call& call) {
  auto& site = *call.as_made.site;
  of.see(site);
  count(site.calls);
  if (!call.is_valid()) {
    count(site.bad_arguments);
    return call.run_natively();
  }
  if (call.is_empty()) {
    count(site.empty);
    return call.run_natively();
  }
  if (call.work() < of.settings().min_work) {
    count(site.small);
    return call.run_natively();
  }
  const auto product = call.product();
  const bool overlaps = overlap(product.a, product.c) || overlap(product.b, product.c);
  if (overlaps || !of.has_time_for(call)) {
    const CallClass calls(call, overlaps ? way_overlap : way_not_examined);
    return of.add(calls, count_of(call, run_natively(call)));
  }
  run_examined(of, call, product);
}

void run(const ozd_call* made) {
  auto& of = *state.load(std::memory_order_acquire);
  if (of.ended() || ThreadEnd::ended()) return made->native(made);
  thread_local const ThreadEnd sentinel;
  static_cast<void>(sentinel);
  run_shadowed(of, Call(*made));
}

void finish() { state.load()->finish(); }
void begin_in_child() { state.load()->begin_in_child(); }

}  // namespace
}  // namespace ozbound::drop_in

// Two threads may come here at once; the second one's state is thrown away.
extern "C" __attribute__((visibility("default"))) ozd_run ozd_engine(enum ozd_mode) {
  using namespace ozbound::drop_in;
  if (state.load() != nullptr) return run;
  static std::atomic_flag is_made = ATOMIC_FLAG_INIT;
  try {
    auto settings = Settings::read(secure_getenv);
    if (is_made.test_and_set()) {
      while (state.load() == nullptr) usleep(100);
      return run;
    }
    state.store(new State(std::move(settings)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ozbound: %s\n", error.what());
    _exit(2);
  }
  pthread_atfork(nullptr, nullptr, begin_in_child);
  std::atexit(finish);
  return run;
}
