// SPDX-License-Identifier: BSD-3-Clause
// libozbound_drop_in.so: the treatment of calls in modes other than `off`.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "call.hpp"
#include "drop_in.h"
#include "ozbound/core/detail/overlap.hpp"
#include "ozbound/core/float_environment.hpp"
#include "settings.hpp"
#include "shadow.hpp"
#include "state.hpp"

namespace ozbound::drop_in {
namespace {

std::atomic<State*> state = nullptr;

/// Records if this thread's thread-local variables may be destroyed.
struct ThreadEnd {
  ~ThreadEnd() { ended() = true; }
  static bool& ended() {
    thread_local bool is = false;
    return is;
  }
};

/// Stores times as integers until seconds() is called: a conversion would raise the program's exception flag for inexact
/// results.
class Stopwatch {
 public:
  void stop() { end_ = std::chrono::steady_clock::now(); }
  /// The seconds from the start to stop().
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(end_ - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), end_ = start_;
};

/// True if the caller rounds to nearest and keeps subnormal numbers, as native's bound asks.
bool has_usual_mode() {
#ifdef __x86_64__
  constexpr unsigned flushes_or_rounds_elsewhere = 0xe040;  // FTZ, DAZ and the rounding control of MXCSR
  if ((_mm_getcsr() & flushes_or_rounds_elsewhere) != 0) return false;
#elif defined(__aarch64__)
  std::uint64_t control = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  constexpr std::uint64_t flushes_or_rounds_elsewhere = 0x1c80000;  // FZ, FZ16 and RMode of FPCR
  if ((control & flushes_or_rounds_elsewhere) != 0) return false;
#endif
  return std::fegetround() == FE_TONEAREST;
}

void count(long& counter) { __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED); }

/// A call that may be examined. Its exceptions never reach the program. The program's own call runs exactly once in every case,
/// in its own floating-point environment.
class LargeCall {
 public:
  LargeCall(State& of, const Call& call) : of_(of), call_(call) {}

  void run() {
    mode_is_usual_ = has_usual_mode();
    if (!mode_is_usual_) count(call_.as_made.site->other_mode);
    {
      const FloatEnvironment environment;
      attempt([this] { before(); });
    }
    Stopwatch watch;
    call_.run_natively();
    watch.stop();
    const FloatEnvironment environment;
    native_ = watch.seconds();
    attempt([this] { after(); });
    if (booking_) attempt([this] { of_.give_back(*booking_); });
  }

 private:
  template <class Step>
  static void attempt(const Step& step) {
    try {
      step();
    } catch (const std::exception&) {  // for example, out of memory
    }
  }

  void before() {
    const auto product = call_.product();
    overlaps_ = overlap(product.a, product.c) || overlap(product.b, product.c);
    if (overlaps_) return;
    booking_ = of_.book(call_);
    if (!booking_) return;
    in_flight_.emplace(of_);
    number_ = of_.next_number();
    Stopwatch watch;
    examination_.emplace(call_, product, of_.settings().target, number_, in_flight_->threads(), mode_is_usual_);
    watch.stop();
    own_ = watch.seconds();
  }

  void after() {
    Count count{.calls = 1, .work = call_.work(), .native_seconds = native_, .other_seconds = native_, .worst = {}};
    if (!examination_) return of_.add({call_, overlaps_ ? way_overlap : way_not_examined}, count);
    Stopwatch watch;
    examination_->compare();
    watch.stop();
    count.own_seconds = own_ + watch.seconds();
    count.worst = examination_->worst();
    if (examination_->way() != "native")
      count.other_seconds = std::min(native_, examination_->predicted_seconds().value_or(native_));
    of_.add(call_, *examination_, number_, count);
  }

  State& of_;
  const Call& call_;
  bool overlaps_ = false;
  std::optional<State::Booking> booking_;
  std::optional<State::InFlight> in_flight_;
  std::optional<Examination> examination_;
  bool mode_is_usual_ = true;
  long number_ = 0;
  double own_ = 0, native_ = 0;
};

/// Returns true if the library will refuse the arguments, and still has to be called.
bool run_shadowed(State& of, const Call& call) {
  auto& site = *call.as_made.site;
  of.see(site);
  count(site.calls);
  if (call.width_is_unknown()) return count(site.unknown_width), call.run_natively(), false;
  if (!call.is_valid()) return count(site.bad_arguments), true;
  if (!call.is_empty() && !call.is_below(of.least_work())) return LargeCall(of, call).run(), false;
  count(call.is_empty() ? site.empty : site.small);
  call.run_natively();
  return false;
}

int run(const ozd_call* made) {
  auto& of = *state.load(std::memory_order_acquire);
  if (of.ended() || ThreadEnd::ended()) return made->native(made), 0;
  thread_local const ThreadEnd sentinel;
  static_cast<void>(sentinel);
  return run_shadowed(of, Call(*made)) ? 1 : 0;
}

void finish() { state.load()->finish(); }
void begin_in_child() { state.load()->begin_in_child(); }

}  // namespace
}  // namespace ozbound::drop_in

// Two threads may run this at once; the second thread's state is discarded.
extern "C" __attribute__((visibility("default"))) ozd_run ozd_engine(enum ozd_mode mode) {
  using namespace ozbound::drop_in;
  if (mode == OZD_UNSEEN) {
    try {
      State(Settings::read(secure_getenv)).say_unseen();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "ozbound: %s\n", error.what());
    }
    return nullptr;
  }
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
