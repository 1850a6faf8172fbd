// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>

#include "conventional.hpp"
#include "edge_cases.hpp"
#include "parts.hpp"
#include "snippet.hpp"
#include "tally.hpp"

namespace ozbound::grading {
namespace {

void check(bool done, const char* what) {
  if (!done) throw std::system_error(errno, std::generic_category(), what);
}

/// Pages shared with children of this process.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    check(data_ != MAP_FAILED, "mmap");
  }
  ~Pages() { munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  void* data_;
};

/// Memory between two regions in which every access faults.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes) : usable_((bytes + page() - 1) / page() * page()), pages_(usable_ + 2 * guard()) {
    check(mprotect(pages_.data(), guard(), PROT_NONE) == 0, "mprotect");
    check(mprotect(pages_.data() + guard() + usable_, guard(), PROT_NONE) == 0, "mprotect");
  }

  /// `count` doubles that end at the upper guard, or start at the lower guard's end.
  [[nodiscard]] double* at_end(std::size_t count) const {
    return reinterpret_cast<double*>(pages_.data() + guard() + usable_) - count;
  }
  [[nodiscard]] double* at_start() const { return reinterpret_cast<double*>(pages_.data() + guard()); }

  /// Sets if the memory between the guards may be written.
  void set_writable(bool writable) const {
    check(mprotect(at_start(), usable_, writable ? PROT_READ | PROT_WRITE : PROT_READ) == 0, "mprotect");
  }

  /// `reaches 8 bytes after the end of A`, or `writes into A`, if the address lies in one of the guards or between them.
  [[nodiscard]] std::optional<std::string> describe(std::uintptr_t address, char operand) const {
    const auto start = reinterpret_cast<std::uintptr_t>(at_start());
    const auto end = start + usable_;
    if (address >= end && address < end + guard())
      return fmt::format("reaches {} bytes after the end of {}", address - end, operand);
    if (address < start && address >= start - guard())
      return fmt::format("reaches {} bytes before the start of {}", start - address, operand);
    if (address >= start && address < end) return fmt::format("writes into {}", operand);
    return std::nullopt;
  }

 private:
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  static std::size_t guard() { return 16 * page(); }

  std::size_t usable_;
  Pages pages_;
};

/// A child's messages to its parent, readable after its death too.
struct Progress {
  std::size_t index;  ///< of the current call
  std::uintptr_t address;
  int signal;  ///< 0 if none came
  bool done;   ///< every call returned
};

Progress* told;  // in the child, for the handler below

void on_fault(int signal, siginfo_t* info, void*) {
  told->address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  told->signal = signal;
  _exit(1);
}

void tell_faults_to(Progress& progress) {
  told = &progress;
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  for (const int signal : {SIGSEGV, SIGBUS}) sigaction(signal, &action, nullptr);
}

/// The calls of all edge cases, each twice: with operands at the end and at the start of guarded memory.
class GuardedCalls {
 public:
  GuardedCalls(const ForeignGemm& gemm, const GradeOptions& options) : gemm_(gemm), options_(options) {}

  Finding run() {
    Tally tally({"bounds-of-memory.guard-pages",
                 "no access outside the elements of A, B and C, neither before the first nor after the last one "
                 "((k-1) lda + m elements of a column-major A), and none that writes into A or B: on a page that forbids it "
                 "it ends the process",
                 level3_blas});
    each_call([&](std::size_t index, const Operands& in, const Storage& storage, bool at_end) {
      if (index >= next_ && faults_ < most_faults) resume(index);
      const bool faulted = fault_ && fault_->index == index;
      if (index < next_)
        tally.expect(
            !faulted, [&] { return words_; },
            [&](const std::string& test) { return guarded_snippet(gemm_, test, guarded(in, storage, at_end), at_end); });
    });
    return tally.finding(faults_ < most_faults ? "" : "the first five faults ended it");
  }

 private:
  static constexpr int most_faults = 5;
  static constexpr std::size_t bytes = edge_case_extent * sizeof(double);

  template <class Visit>
  void each_call(Visit visit) const {
    std::size_t index = 0;
    each_edge_case(options_, gemm_.takes_row_major(), [&](const Operands& in, const Storage& storage) {
      for (const bool at_end : {true, false}) visit(index++, in, storage, at_end);
    });
  }

  [[nodiscard]] double* place(const StoredMatrix& matrix, const GuardedMemory& memory, bool at_end) const {
    double* data = at_end ? memory.at_end(matrix.extent()) : memory.at_start();
    std::copy_n(matrix.data(), matrix.extent(), data);
    return data;
  }

  /// Makes a call. A and B are read-only until the next call is placed. Sets the handlers again, since the library may have its
  /// own.
  void make(const BlasCall& call) const {
    for (const auto* memory : {&a_, &b_}) memory->set_writable(false);
    tell_faults_to(progress());
    gemm_.dgemm(call);
    for (const auto* memory : {&a_, &b_}) memory->set_writable(true);
  }

  [[nodiscard]] BlasCall guarded(const Operands& in, const Storage& storage, bool at_end) const {
    const StoredCall stored(in, storage);
    auto call = stored.call();
    call.a = place(stored.a, a_, at_end);
    call.b = place(stored.b, b_, at_end);
    call.c = place(stored.c, c_, at_end);
    return call;
  }

  /// In a child: makes the calls from `first` on.
  [[noreturn]] void child(std::size_t first) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::thread(
        [&] {  // own thread: OpenMP's threads stayed with the parent, and a parallel region of the main thread would await them
          each_call([&](std::size_t index, const Operands& in, const Storage& storage, bool at_end) {
            if (index < first) return;
            progress().index = index;
            make(guarded(in, storage, at_end));
          });
        })
        .join();
    progress().done = true;
    _exit(0);
  }

  /// Makes the calls from `first` on in a child until one faults. `next_` is then the call after it, otherwise beyond all
  /// calls.
  void resume(std::size_t first) {
    progress() = {};
    const auto pid = fork();
    check(pid >= 0, "fork");
    if (pid == 0) child(first);
    int status = 0;
    check(waitpid(pid, &status, 0) == pid, "waitpid");
    fault_.reset();
    next_ = static_cast<std::size_t>(-1);
    if (progress().done) return;
    ++faults_;
    fault_ = progress();
    next_ = fault_->index + 1;
    words_ = words(status);
  }

  [[nodiscard]] std::string words(int status) const {
    std::string text;
    each_call([&](std::size_t index, const Operands& in, const Storage& storage, bool at_end) {
      if (index == fault_->index) text = describe(guarded(in, storage, at_end));
    });
    for (const auto& [memory, operand] : {std::pair{&a_, 'A'}, std::pair{&b_, 'B'}, std::pair{&c_, 'C'}})
      if (const auto where = memory->describe(fault_->address, operand)) return fmt::format("{} {}", text, *where);
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : fault_->signal;
    if (signal == 0) return fmt::format("{} ends the process (exit {})", text, WEXITSTATUS(status));
    return fmt::format("{} ends in signal {} ({}) at address {:#x}", text, signal, strsignal(signal), fault_->address);
  }

  [[nodiscard]] Progress& progress() const { return *reinterpret_cast<Progress*>(shared_.data()); }

  const ForeignGemm& gemm_;
  const GradeOptions& options_;
  GuardedMemory a_{bytes}, b_{bytes}, c_{bytes};
  Pages shared_{sizeof(Progress)};
  std::size_t next_ = 0;  ///< the first call that no child has made yet
  std::optional<Progress> fault_;
  int faults_ = 0;
  std::string words_;
};

}  // namespace

Findings grade_bounds_of_memory(const ForeignGemm& gemm, const GradeOptions& options) {
  return {{GuardedCalls(gemm, options).run()}, {}};
}

}  // namespace ozbound::grading
