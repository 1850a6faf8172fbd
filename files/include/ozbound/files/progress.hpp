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

namespace ozbound::files {

/// A progress line on the terminal for as long as this object lives. It appears after the first second, only if standard error
/// is a terminal, and is removed at the end.
class Progress {
 public:
  using Sink = std::function<void(std::string_view)>;

  /// @param activity a text such as "multiplying"
  explicit Progress(std::string activity);

  /// Draws to `sink` (never, if empty) after `delay`, and then every `interval`.
  Progress(std::string activity, Sink sink, std::chrono::milliseconds delay, std::chrono::milliseconds interval);

  ~Progress();  ///< clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Sets the finished share, in [0, 1]; before the first call only the time is shown. Cheap, and safe from any thread.
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
  std::thread thread_;  // last: it uses all other members
};

/// `multiplying: 42 %, 3 s, about 4 s left`; only the time if `done` is negative.
std::string progress_line(std::string_view activity, double done, double seconds);

}  // namespace ozbound::files
