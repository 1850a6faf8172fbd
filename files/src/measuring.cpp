// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/measuring.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include "ozbound/core/matrix.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace ozbound::files {
namespace {

constexpr std::array<std::string_view, 11> prefixes{"OPENBLAS_", "GOTO_",   "BLIS_", "OMP_",         "GOMP_",      "KMP_",
                                                    "MKL_",      "CUBLAS_", "CUDA_", "NVIDIA_TF32_", "LD_BIND_NOW"};

/// Variables that say where things are, or how many threads there are, which every figure names.
constexpr std::array<std::string_view, 7> harmless{
    "CUDA_HOME", "CUDA_PATH", "CUDA_VERSION", "CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "OMP_TOOL"};

bool changes_measurements(std::string_view name) {
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return std::ranges::any_of(prefixes, begins) && std::ranges::find(harmless, name) == harmless.end();
}

std::pair<std::string_view, std::string_view> split(std::string_view entry) {
  const auto equals = std::min(entry.find('='), entry.size());
  return {entry.substr(0, equals), entry.substr(std::min(equals + 1, entry.size()))};
}

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

/// One end of a pipe, or both.
class Pipe {
 public:
  Pipe() { check(pipe2(ends_.data(), O_CLOEXEC) == 0 ? 0 : errno, "no pipe"); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { close_reader(), close_writer(); }

  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(std::exchange(ends_[end], -1));
  }

  std::array<int, 2> ends_{-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (auto& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

pid_t start(std::vector<std::string> arguments, std::vector<std::string> environment, const Pipe& in, const Pipe& out) {
  posix_spawn_file_actions_t actions;
  check(posix_spawn_file_actions_init(&actions), "no child");
  posix_spawn_file_actions_adddup2(&actions, in.reader(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.writer(), STDOUT_FILENO);
  pid_t child = 0;
  const auto program = arguments.front();
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  check(error, program.c_str());
  return child;
}

/// Writes all of `text`, or less if nobody reads it.
void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void read_lines(int descriptor, const std::function<void(std::string_view)>& line) {
  std::string pending;
  std::array<char, 4096> part{};
  for (;;) {
    const auto count = read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    pending.append(part.data(), static_cast<std::size_t>(count));
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      line(std::string_view(pending).substr(0, end));
      pending.erase(0, end + 1);
    }
  }
  if (!pending.empty()) line(pending);
}

/// Waits for a child and returns its status; 1 << 8, as if it had failed, where nobody can know.
int ended(pid_t child) {
  int status = 1 << 8;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// OpenBLAS's kernels, and whether this processor runs them.
std::vector<std::string> runnable_cores(bool avx512) {
  std::vector<std::string> cores{""};
#if defined(__x86_64__)
  __builtin_cpu_init();
  for (const char* const core : {"Prescott", "Nehalem"}) cores.emplace_back(core);
  if (__builtin_cpu_supports("avx")) cores.emplace_back("Sandybridge");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    for (const char* const core : {"Haswell", "Zen"}) cores.emplace_back(core);
  if (avx512 && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    for (const char* const core : {"SkylakeX", "Cooperlake", "SapphireRapids"}) cores.emplace_back(core);
  if (!avx512 && __builtin_cpu_supports("avx512f")) cores.erase(cores.begin());  // OpenBLAS's own choice may have AVX-512
#else
  static_cast<void>(avx512);
#endif
  return cores;
}

std::optional<OpenBlasCore> measured_core(const std::vector<std::string>& child, const std::string& core) {
  std::vector<Variable> variables{{"OMP_NUM_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}};
  if (!core.empty()) variables.push_back({"OPENBLAS_CORETYPE", core});
  std::optional<OpenBlasCore> answer;
  const int code = run_to_measure(child, variables, "", [&](std::string_view line) {
    double seconds = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), seconds);
    if (error == std::errc() && seconds > 0 && end != line.data() + line.size())
      answer = OpenBlasCore{core, std::string(end + 1, line.data() + line.size()), seconds};
  });
  return code == 0 ? answer : std::nullopt;
}

}  // namespace

std::vector<Variable> measuring_variables() {
  std::vector<Variable> found;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (const auto [name, value] = split(*entry); changes_measurements(name))
      found.push_back({std::string(name), std::string(value)});
  return found;
}

std::string to_string(const std::vector<Variable>& variables) {
  std::string text;
  for (const auto& [name, value] : variables) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

int run_to_measure(const std::vector<std::string>& arguments, const std::vector<Variable>& variables, std::string_view input,
                   const std::function<void(std::string_view)>& line) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (const auto name = split(*entry).first;
        !changes_measurements(name) && std::ranges::find(variables, name, &Variable::name) == variables.end())
      environment.emplace_back(*entry);
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);

  Pipe in, out;
  const pid_t child = start(arguments, environment, in, out);
  in.close_reader(), out.close_writer();
  struct sigaction ignore{}, before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);  // a child may end without reading
  write_all(in.writer(), input);
  sigaction(SIGPIPE, &before, nullptr);
  in.close_writer();
  try {
    read_lines(out.reader(), line);
  } catch (...) {
    kill(child, SIGTERM);
    ended(child);
    throw;
  }
  const int status = ended(child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string core_line(const NativeGemm& native) {
  constexpr Index n = 1024;
  constexpr int repetitions = 5;
  Matrix<double> a(n, n), b(n, n), c(n, n);
  for (Index t = 0; t < n * n; ++t)
    a.data()[t] = 1.0 / static_cast<double>(t % 97 + 1), b.data()[t] = 1.0 / static_cast<double>(t % 89 + 1);
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (int t = 0; t < repetitions; ++t) {
    const auto begin = Clock::now();
    native.dgemm({.a = a, .b = b, .c = c});
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (t == 0 || seconds < best) best = seconds;
  }
  return fmt::format("{} {}", best, native.name());
}

std::vector<OpenBlasCore> measure_cores(const std::vector<std::string>& child, bool avx512) {
  std::vector<OpenBlasCore> measured;
  for (const auto& core : runnable_cores(avx512))
    if (auto answer = measured_core(child, core)) measured.push_back(*std::move(answer));
  std::ranges::stable_sort(measured, {}, &OpenBlasCore::seconds);
  return measured;
}

}  // namespace ozbound::files
