// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "drop_in.h"
#include "log.hpp"
#include "settings.hpp"
#include "shadow.hpp"
#include "tally.hpp"
#include "unseen.hpp"

namespace ozbound::drop_in {

/// The counts of calls of all sites.
struct SiteCounts {
  long calls = 0, small = 0, empty = 0, bad_arguments = 0, unknown_width = 0, other_mode = 0;
};

/// The engine of this process. It is never destroyed: programs may multiply during their exit.
class State {
 public:
  explicit State(Settings settings);

  [[nodiscard]] const Settings& settings() const { return settings_; }

  /// Registers a site on its first call.
  void see(ozd_site& site);

  /// Counts calls in progress, to choose the number of threads.
  class InFlight {
   public:
    explicit InFlight(State& state) : state_(state), others_(state.in_flight_.fetch_add(1)) {}
    ~InFlight() { state_.in_flight_.fetch_sub(1); }
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;

    /// Number of engine threads: one beside other calls and inside a parallel region, otherwise OpenMP's number.
    [[nodiscard]] int threads() const;

   private:
    State& state_;
    long others_;
  };

  /// Decides if a call is examined. Examining stays within its share of native's time plus 50 ms. Kinds of calls that were not
  /// examined yet have priority. The expected time is booked until the call is added.
  class Booking {
   public:
    explicit Booking(double own_seconds = 0) : own_seconds_(own_seconds) {}
    [[nodiscard]] double own_seconds() const { return own_seconds_; }

   private:
    double own_seconds_;
  };
  [[nodiscard]] std::optional<Booking> book(const Call& call);
  void give_back(const Booking& booking);

  /// OZBOUND_MIN_WORK, rounded up.
  [[nodiscard]] std::uint64_t least_work() const { return least_work_; }

  [[nodiscard]] long next_number() { return ++examined_; }
  [[nodiscard]] bool ended() const { return ended_.load(std::memory_order_relaxed); }

  void add(const CallClass& calls, const Count& count);
  /// Adds an examined call, with its own record.
  void add(const Call& call, const Examination& examination, long number, const Count& count);

  /// Says in the log and in the summary that this process made no call, and which of its files have a BLAS of their own.
  void say_unseen();

  /// Writes the last counts and the summary. Later calls are native and are not counted.
  void finish();
  /// Resets the state in a child of fork().
  void begin_in_child();

 private:
  using Clock = std::chrono::steady_clock;

  /// Sums of the sites' counts, which need no lock.
  [[nodiscard]] SiteCounts site_counts() const;
  [[nodiscard]] std::string summary() const;
  void write_counts();
  /// Adds the process to a record and writes it, since several processes may share a log. A description of the process precedes
  /// its first record.
  void write(nlohmann::ordered_json record);

  Settings settings_;
  std::uint64_t least_work_;
  std::atomic<ozd_site*> sites_ = nullptr;
  std::atomic<long> in_flight_ = 0, examined_ = 0;
  std::atomic<bool> ended_ = false;
  bool examines_ = true;  ///< false in a child forked while another thread was in the engine and may have held locks

  std::mutex mutex_;  ///< protects the members below
  Tally tally_;
  Log log_;
  std::set<std::string> kinds_;        ///< kinds of calls that were examined
  std::set<std::string> libraries_;    ///< libraries with a record
  double seconds_per_element_ = 1e-8;  ///< of examining, beyond the cost of every call; from the last large call
  double seconds_per_work_ = 2e-11;    ///< of native, from the last call
  double booked_ = 0;                  ///< seconds of examining booked by calls in progress
  bool process_written_ = false;
  long call_records_ = 0;
  double worst_recorded_ = 0;
  Clock::time_point last_counts_ = Clock::now();
};

/// The summary's text at exit, at most 80 columns wide but for paths.
std::string summary_text(const Settings& settings, const Tally& tally, const SiteCounts& counts,
                         const std::vector<std::string>& libraries);

/// The summary of a process that made no call. @param files that have a BLAS of their own
std::string unseen_text(const std::string& program, const std::vector<OwnBlas>& files);

}  // namespace ozbound::drop_in
