// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace ozbound::cli {

/// A line on the terminal that says what is going on, for as long as this object lives: nothing during the first
/// second, nothing at all where standard error is no terminal, and no trace afterwards.
class Progress {
 public:
  using Sink = std::function<void(std::string_view)>;

  /// @param activity such as "multiplying"
  explicit Progress(std::string activity);

  /// Draws to `sink` (never, if empty) after `delay`, and then every `interval`.
  Progress(std::string activity, Sink sink, std::chrono::milliseconds delay, std::chrono::milliseconds interval);

  ~Progress();  ///< clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Tells how much is done, in [0, 1]; until then only the time is shown. Cheap, and safe from any thread.
  void update(double done) { done_.store(done, std::memory_order_relaxed); }
  void operator()(double done) { update(done); }

 private:
  void draw_until_finished(std::chrono::milliseconds delay, std::chrono::milliseconds interval);

  std::string activity_;
  Sink sink_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<double> done_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  std::thread thread_;  // last: it uses all of the above
};

/// `multiplying: 42 %, 3 s, about 4 s left`; only the time where `done` is negative.
std::string progress_line(std::string_view activity, double done, double seconds);

}  // namespace ozbound::cli
