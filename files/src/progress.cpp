// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "ozbound/core/float_environment.hpp"

namespace ozbound::files {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view clear_line = "\r\x1b[K";

Progress::Sink terminal() {
  const char* const term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
  if (isatty(STDERR_FILENO) == 0 || term == nullptr || std::string_view(term) == "dumb") return {};
  return [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
}

std::string duration(double seconds) {
  const auto whole = static_cast<long>(std::llround(std::min(seconds, 1e9)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

Progress::Progress(std::string activity) : Progress(std::move(activity), terminal(), milliseconds(1000), milliseconds(200)) {}

Progress::Progress(std::string activity, Sink sink, milliseconds delay, milliseconds interval)
    : activity_(std::move(activity)), sink_(std::move(sink)) {
  if (sink_) thread_ = std::thread([this, delay, interval] { draw_until_finished(delay, interval); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Progress::draw_until_finished(milliseconds delay, milliseconds interval) {
  const FloatEnvironment environment;
  std::unique_lock lock(mutex_);
  bool drawn = false;
  for (auto wait = delay; !changed_.wait_for(lock, wait, [this] { return finished_; }); wait = interval, drawn = true) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    sink_(std::string(clear_line) + progress_line(activity_, done_.load(std::memory_order_relaxed), elapsed.count()));
  }
  if (drawn) sink_(clear_line);
}

std::string progress_line(std::string_view activity, double done, double seconds) {
  if (done < 0) return fmt::format("{}: {}", activity, duration(seconds));
  auto line = fmt::format("{}: {:.0f} %, {}", activity, std::floor(std::min(done, 1.0) * 100), duration(seconds));
  if (done >= 0.01 && done < 1) line += fmt::format(", about {} left", duration(seconds / done - seconds));
  return line;
}

}  // namespace ozbound::files
