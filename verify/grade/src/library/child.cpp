// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

extern char** environ;

namespace ozbound {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_result = std::size_t{1} << 26, longest_print = 4096, longest_note = 512;

int checked(int returned, const char* what) {
  if (returned < 0) throw std::system_error(errno, std::generic_category(), what);
  return returned;
}

class Descriptor {
 public:
  Descriptor() = default;
  /// Takes over `descriptor`, at a number that has no meaning for any child.
  explicit Descriptor(int descriptor) : number_(fcntl(descriptor, F_DUPFD_CLOEXEC, note_descriptor + 1)) {
    close(descriptor);
    checked(number_, "a descriptor cannot be moved");
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { reset(); }

  void reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read, write;

  Pipe() {
    std::array<int, 2> ends{};
    checked(pipe2(ends.data(), O_CLOEXEC), "a pipe cannot be made");
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
};

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void give(const Descriptor& own, int childs) { posix_spawn_file_actions_adddup2(&actions_, own.number(), childs); }
  void give_nothing(int childs) { posix_spawn_file_actions_addopen(&actions_, childs, "/dev/null", O_RDONLY, 0); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// A process group of its own, with no signal blocked or ignored, whatever the caller's settings are.
class Attributes {
 public:
  Attributes() {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<std::string> joined_environment(const Environment& added) {
  std::vector<std::string> all;
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  for (char** old = environ; *old != nullptr; ++old) {
    const std::string_view entry(*old);
    const auto name = entry.substr(0, entry.find('='));
    if (std::none_of(added.begin(), added.end(), [&](const auto& one) { return one.first == name; })) all.emplace_back(entry);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (auto& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Waits until one of the polled descriptors is ready, at most until `deadline`. @return false if the deadline came first.
template <std::size_t count>
bool wait_for(std::array<pollfd, count>& polled, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  const int ready = poll(polled.data(), polled.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30)));
  if (ready < 0 && errno != EINTR) checked(ready, "a child cannot be waited for");
  if (ready < 0)
    for (auto& one : polled) one.revents = 0;
  return ready != 0;
}

bool is_readable(const Descriptor& pipe) {
  std::array polled{pollfd{pipe.number(), POLLIN, 0}};
  return wait_for(polled, Clock::now()) && polled[0].revents != 0;
}

/// The capacity in bytes; 0 if the pipe is closed.
std::ptrdiff_t capacity(const Descriptor& pipe) {
  return pipe.number() < 0 ? 0 : checked(fcntl(pipe.number(), F_GETPIPE_SZ), "a pipe has no size");
}

/// A started child. When the child ends, in whatever way, its group is killed, and the child is waited for.
class Child {
 public:
  Child(std::vector<std::string> command, const Environment& added, const FileActions& files) {
    auto environment = joined_environment(added);
    const int error = posix_spawn(&id_, command.front().c_str(), files.get(), Attributes().get(), pointers(command).data(),
                                  pointers(environment).data());
    if (error != 0) throw std::system_error(error, std::generic_category(), command.front() + " cannot be started");
    try {
      end_ = Descriptor(checked(static_cast<int>(syscall(SYS_pidfd_open, id_, 0)), "a child cannot be watched"));
    } catch (...) {
      reap();
      throw;
    }
  }
  ~Child() {
    if (!reaped_) reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Becomes readable when the child has ended.
  [[nodiscard]] const Descriptor& end() const { return end_; }

  /// Waits until `deadline`. Returns false if the child still runs then.
  [[nodiscard]] bool ends_before(Clock::time_point deadline) const {
    std::array polled{pollfd{end_.number(), POLLIN, 0}};
    while (polled[0].revents == 0)
      if (!wait_for(polled, deadline)) return false;
    return true;
  }

  /// Kills the child and the rest of its group, while the zombie still reserves the number. (The child itself may have left the
  /// group.)
  /// @return as of waitpid.
  int reap() {
    kill(-id_, SIGKILL);
    kill(id_, SIGKILL);
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) continue;
    reaped_ = true;
    return status;
  }

 private:
  pid_t id_ = 0;
  Descriptor end_;
  bool reaped_ = false;
};

/// Reads the two pipes of a child.
class Listener {
 public:
  Listener(Descriptor& result, Descriptor& printed, ChildResult& heard)
      : result_{result, heard.result}, printed_{printed, heard.printed} {}

  /// Listens until the result is closed or the child has ended, since processes that it started may keep its pipes open.
  /// Returns false if the deadline came first.
  bool listen(const Descriptor& end, Clock::time_point deadline) {
    for (std::array polled{pollfd{}, pollfd{}, pollfd{}}; result_.from.number() >= 0 && polled[2].revents == 0;) {
      polled = {result_.polled(), printed_.polled(), pollfd{end.number(), POLLIN, 0}};
      if (!wait_for(polled, deadline)) return false;
      if (polled[0].revents != 0) take(result_);
      if (polled[1].revents != 0) take(printed_);
    }
    return true;
  }

  /// Reads data written before the end and not yet read. Reads at most the pipes' capacity, even if some process still writes.
  void read_rest() {
    for (const auto* source : {&result_, &printed_})
      for (auto left = capacity(source->from); left > 0 && is_readable(source->from);) left -= take(*source);
  }

 private:
  struct Source {
    Descriptor& from;
    std::string& to;

    [[nodiscard]] pollfd polled() const { return {from.number(), POLLIN, 0}; }
  };

  /// @return the number of bytes read
  std::ptrdiff_t take(const Source& source) {
    std::array<char, 1 << 14> block;
    const auto count = read(source.from.number(), block.data(), block.size());
    if (count > 0) source.to.append(block.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) source.from.reset();
    keep_within_limits();
    return std::max<std::ptrdiff_t>(count, 0);
  }

  void keep_within_limits() {
    if (result_.to.size() > longest_result) result_.from.reset();
    if (printed_.to.size() > longest_print) printed_.to.erase(0, printed_.to.size() - longest_print);
  }

  const Source result_, printed_;
};

std::optional<std::string> note_of(const Descriptor& note) {
  std::array<char, longest_note> bytes{};
  const auto count = pread(note.number(), bytes.data(), bytes.size() - 1, 0);
  return count > 0 ? std::optional<std::string>(bytes.data()) : std::nullopt;
}

void set_end(ChildResult& result, bool in_time, int status) {
  result.end = !in_time ? ChildEnd::timed_out : WIFSIGNALED(status) ? ChildEnd::signalled : ChildEnd::exited;
  result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, const Environment& added, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  Pipe result, printed;
  const Descriptor note(checked(memfd_create("note", MFD_CLOEXEC), "a file in memory cannot be made"));
  FileActions files;
  files.give_nothing(STDIN_FILENO);
  files.give(printed.write, STDOUT_FILENO);
  files.give(printed.write, STDERR_FILENO);
  files.give(result.write, result_descriptor);
  files.give(note, note_descriptor);
  Child child(command, added, files);
  result.write.reset();
  printed.write.reset();

  ChildResult out;
  Listener listener(result.read, printed.read, out);
  const bool in_time = listener.listen(child.end(), deadline) && child.ends_before(deadline);
  set_end(out, in_time, child.reap());
  listener.read_rest();
  out.note = note_of(note);
  return out;
}

std::string signal_name(int signal) {
  const char* const name = sigabbrev_np(signal);
  return fmt::format("{} ({})", name != nullptr ? "SIG" + std::string(name) : std::to_string(signal), strsignal(signal));
}

}  // namespace ozbound
