// SPDX-License-Identifier: BSD-3-Clause
// Runs one part of a grade in a process of its own that is linked with no BLAS.

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "../src/library/child.hpp"
#include "../src/library/protocol.hpp"
#include "../src/snippet.hpp"
#include "../src/stored_call.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/grade/foreign_library.hpp"

// In a build with sanitizers, signals end this process as they would end a user's process, and leaks of the library are
// ignored.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:detect_leaks=0";
}
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0";
}
// NOLINTEND(bugprone-reserved-identifier)

namespace ozbound {
namespace {

using nlohmann::json;

/// Moves a descriptor of the supervisor's to a number that the library will not write to. Programs that the library starts do
/// not inherit it.
int taken_over(int descriptor) {
  constexpr int out_of_the_way = 200;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, out_of_the_way);
  if (moved < 0) moved = fcntl(descriptor, F_DUPFD_CLOEXEC, note_descriptor + 1);  // for systems that allow few descriptors
  if (moved < 0) {
    std::perror("a descriptor of ozbound grade cannot be moved");
    _exit(2);
  }
  close(descriptor);
  return moved;
}

struct Supervisor {
  int result = taken_over(result_descriptor), note = taken_over(note_descriptor);
};

const Supervisor& supervisor() {
  static const Supervisor descriptors;
  return descriptors;
}

/// Lets the system kill this process first if memory runs out. Some systems do not allow this.
void go_first() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

/// Makes this process end with its supervisor, however that ends, and leave no core files.
void become_dependent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd result{supervisor().result, 0, 0};
  if (poll(&result, 1, 0) > 0) _exit(2);  // the supervisor has ended already, and no process reads the result
  const rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
  go_first();
}

/// Notes the current action, in case it is the last one.
void note(const std::string& text) {
  if (pwrite(supervisor().note, text.c_str(), text.size() + 1, 0) < 0) throw std::runtime_error("a note cannot be kept");
}

/// Notes each call before it is made.
class NotedGemm final : public ForeignGemm {
 public:
  explicit NotedGemm(const ForeignGemm& gemm) : gemm_(gemm) {}
  [[nodiscard]] std::string name() const override { return gemm_.name(); }
  [[nodiscard]] bool takes_row_major() const override { return gemm_.takes_row_major(); }
  [[nodiscard]] GemmSymbol where() const override { return gemm_.where(); }

  void dgemm(const BlasCall& call) const override {
    note(grading::describe(call));
    gemm_.dgemm(call);
    note("");
  }

 private:
  const ForeignGemm& gemm_;
};

constexpr const char* psabi =
    "System V ABI, x86-64 supplement, section 3.2.3: the control bits of MXCSR and the x87 control word are the caller's";

Finding environment_finding(std::string test, std::string statement, const std::optional<std::string>& change,
                            std::string snippet) {
  return {.test = std::move(test),
          .statement = std::move(statement),
          .source = psabi,
          .outcome = change ? Outcome::fail : Outcome::pass,
          .detail = change.value_or(""),
          .values = {},
          .snippet = change ? std::move(snippet) : ""};
}

Finding environment_of_caller(const ForeignLibrary& library, const std::string& part) {
  const auto test = part + ".environment-of-caller";
  return environment_finding(test, "calls leave rounding, subnormals, precision and traps of the calling thread as they were",
                             library.changed_by_call(),
                             grading::environment_snippet(library.where(), test, library.changed_by_call().value_or("")));
}

/// Effects of loading on the loading program, and the first call.
json load_and_call(const ForeignLibrary& library, const ForeignGemm& gemm) {
  const double one = 1;
  double c = 0;
  gemm.dgemm({.m = 1, .n = 1, .k = 1, .a = &one, .b = &one, .c = &c});
  Findings found;
  found.findings.push_back(environment_finding(
      "loading.environment", "loading leaves rounding, subnormals, precision and traps of the thread that loads as they were",
      library.changed_by_loading(), grading::environment_snippet(library.where(), "loading.environment", "")));
  found.findings.push_back(environment_of_caller(library, protocol::loading));
  const auto& identity = library.identity();
  auto out = to_json(found);
  out["library"] = {{"file", identity.file},   {"symbol", identity.symbol},   {"bytes", identity.bytes},
                    {"crc32", identity.crc32}, {"version", identity.version}, {"kernel", identity.kernel}};
  return out;
}

Findings run_part(const std::string& name, const ForeignGemm& gemm, const GradeOptions& options) {
  if (name == protocol::threads) return grade_threads(gemm, options);
  for (const auto& part : grade_parts())
    if (part.name == name) return part.run(gemm, options);
  throw std::invalid_argument("there is no part " + name);
}

/// A part's findings. The finding about the environment is included only if a call changed it, since loading reports it anyway.
json grade_part(const std::string& name, const ForeignLibrary& library, const ForeignGemm& gemm, const GradeOptions& options) {
  auto found = run_part(name, gemm, options);
  if (library.changed_by_call()) found.findings.push_back(environment_of_caller(library, name));
  auto out = to_json(found);
  if (name == protocol::threads) out["fingerprint"] = fingerprint(gemm, options);
  return out;
}

json answer(const std::string& file, const std::string& symbol, const std::string& part, const GradeOptions& options) {
  std::optional<ForeignLibrary> library;
  try {
    note("loading");
    library.emplace(file, symbol);
    note("");
  } catch (const std::invalid_argument& error) {
    return {{"error", error.what()}};
  }
  const NotedGemm gemm(*library);
  try {
    if (part == protocol::loading) return load_and_call(*library, gemm);
    if (part == protocol::fingerprint) return {{"fingerprint", fingerprint(gemm, options)}};
    return grade_part(part, *library, gemm, options);
  } catch (const std::exception& error) {
    return {{"failure", error.what()}};
  }
}

/// Writes all of `text`. If nobody reads it, the failure is ignored.
void write_result(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto count = write(supervisor().result, rest.data(), rest.size());
    if (count < 0 && errno != EINTR) return;
    if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

int run(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: ozbound-grade-worker LIBRARY SYMBOL PART SEED quick|full, called by ozbound grade\n", stderr);
    return 2;
  }
  become_dependent();
  const GradeOptions options{.seed = std::stoull(argv[4]), .quick = argv[5] == std::string("quick")};
  write_result(answer(argv[1], argv[2], argv[3], options).dump(-1, ' ', false, json::error_handler_t::replace));
  _exit(0);  // keeps the library's code at exit from changing the outcome
}

}  // namespace
}  // namespace ozbound

int main(int argc, char** argv) {
  const ozbound::FloatEnvironment environment;  // undoes changes by code loaded before the graded library
  return ozbound::run(argc, argv);
}
