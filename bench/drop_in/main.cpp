// SPDX-License-Identifier: BSD-3-Clause
// The time that the drop-in BLAS adds to a program (docs/benchmarks.md). Measures the nanoseconds per call beyond the system's
// own DGEMM, with the hook off and for products below the least examined work. Also measures the time of examining relative to
// native's.
//
// Usage: ozbound-bench-drop-in [--json FILE]. Exits with 0 for any measurement, 2 for a wrong argument. It runs itself with the
// hook preloaded. The second process compares the linker's function with the library's function of that name, in turns.

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*, std::size_t, std::size_t);
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
}

namespace ozbound::bench {
namespace {

using Json = nlohmann::ordered_json;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class Function>
Function* of_library(const char* name) {
  void* const library = dlopen("libblas.so.3", RTLD_NOW);
  auto* const found = library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) std::abort();
  return found;
}

struct Matrices {
  int n, ld;
  std::vector<double> a, b, c;

  explicit Matrices(int size)
      : n(size), ld(std::max(size, 1)), a(static_cast<std::size_t>(ld * ld), 0.75), b(a.size(), 1.25), c(a.size()) {}

  void fortran(decltype(dgemm_)* dgemm) {
    const double one = 1, zero = 0;
    dgemm("N", "N", &n, &n, &n, &one, a.data(), &ld, b.data(), &ld, &zero, c.data(), &ld, 1, 1);
  }
  void cblas(decltype(cblas_dgemm)* dgemm) { dgemm(102, 111, 111, n, n, n, 1, a.data(), ld, b.data(), ld, 0, c.data(), ld); }
};

/// The least seconds of a call of each of two functions, called in turns.
template <class First, class Second>
std::pair<double, double> least_seconds(const First& first, const Second& second) {
  constexpr int repetitions = 2000, calls = 100;
  double of_first = std::numeric_limits<double>::infinity(), of_second = of_first;
  const auto time = [](const auto& function, double& least) {
    const double start = now();
    for (int i = 0; i < calls; ++i) function();
    least = std::min(least, (now() - start) / calls);
  };
  for (int r = 0; r < repetitions; ++r) time(first, of_first), time(second, of_second);
  return {of_first, of_second};
}

/// In the process with the hook: prints the nanoseconds beyond the library's own routine, one line each.
void measure_calls() {
  auto* const fortran = of_library<decltype(dgemm_)>("dgemm_");
  auto* const cblas = of_library<decltype(cblas_dgemm)>("cblas_dgemm");
  Json lines = Json::array();
  for (const int n : {0, 1, 4, 8, 16, 32}) {
    Matrices m(n);
    const auto [hooked, native] = least_seconds([&] { m.fortran(dgemm_); }, [&] { m.fortran(fortran); });
    const auto [hooked_c, native_c] = least_seconds([&] { m.cblas(cblas_dgemm); }, [&] { m.cblas(cblas); });
    lines.push_back({{"n", n}, {"fortran", 1e9 * (hooked - native)}, {"cblas", 1e9 * (hooked_c - native_c)}});
  }
  std::printf("%s\n", lines.dump().c_str());
}

/// In the process with the hook: multiplies examined products for some seconds.
void multiply_for(double seconds) {
  Matrices large(600), tall(300);
  for (const double start = now(); now() - start < seconds;) large.fortran(dgemm_), tall.cblas(cblas_dgemm);
}

std::string output_of(const std::string& line) {
  std::string text;
  std::FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return text;
  char part[4096];
  while (const auto size = std::fread(part, 1, sizeof part, pipe)) text.append(part, size);
  pclose(pipe);
  return text;
}

std::string hooked(const std::string& variables, const std::string& what) {
  return "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 OZBOUND_SUMMARY=0 LD_PRELOAD=" OZBOUND_HOOK " " + variables + " /proc/" +
         std::to_string(getpid()) + "/exe " + what;
}

/// Seconds of examining and of native, from the last counts of a log.
std::pair<double, double> examined(const std::string& log) {
  std::ifstream file(log);
  double own = 0, native = 0;
  for (std::string line; std::getline(file, line);) {
    const auto record = Json::parse(line);
    if (record.at("record") != "count") continue;
    own += record.at("own_seconds").get<double>(), native += record.at("native_seconds").get<double>();
  }
  return {own, native};
}

struct Goal {
  std::string name;
  double limit, measured;

  [[nodiscard]] bool met() const { return measured <= limit; }
};

int run(const char* json) {
  std::vector<Goal> goals;
  Json measurements;
  for (const auto& [mode, name, limit] : {std::tuple{"off", "off", 20.0}, {"shadow", "below OZBOUND_MIN_WORK", 50.0}}) {
    const auto lines = Json::parse(output_of(hooked(std::string("OZBOUND_MODE=") + mode, "calls")));
    double most = 0;
    for (const auto& line : lines) {
      const double fortran = line.at("fortran"), cblas = line.at("cblas");
      fmt::print("{:24} n = {:2}: {:6.1f} ns a call of dgemm_, {:6.1f} of cblas_dgemm\n", name, line.at("n").get<int>(),
                 fortran, cblas);
      most = std::max({most, fortran, cblas});
    }
    measurements[name] = lines;
    goals.push_back({fmt::format("nanoseconds a call, {}", name), limit, most});
  }
  const auto log = fmt::format("/tmp/ozbound-bench-drop-in.{}.jsonl", getpid());
  constexpr double share = 0.05, free_seconds = 0.05;
  output_of(hooked("OZBOUND_MODE=shadow OZBOUND_LOG=" + log, "examined"));
  const auto [own, native] = examined(log);
  std::remove(log.c_str());
  fmt::print("{:24} {:.3f} s of examining for {:.3f} s of native\n", "examined", own, native);
  measurements["examined"] = {{"own_seconds", own}, {"native_seconds", native}};
  goals.push_back({"seconds of examining over the budget", 1, own / (share * native + free_seconds)});
  Json listed = Json::array();
  for (const auto& goal : goals) {
    fmt::print("{:48} at most {:5.1f}: {:6.2f} {}\n", goal.name, goal.limit, goal.measured, goal.met() ? "met" : "missed");
    listed.push_back({{"name", goal.name},
                      {"goal", goal.limit},
                      {"direction", "at most"},
                      {"measured", goal.measured},
                      {"met", goal.met()}});
  }
  if (json == nullptr) return 0;
  std::ofstream out(json);
  out << Json{{"schema", "ozbound-bench-drop-in-1"}, {"goals", listed}, {"measurements", measurements}}.dump(1) << '\n';
  out.close();
  if (out) return 0;
  fmt::print(stderr, "{} cannot be written\n", json);
  return 2;
}

}  // namespace
}  // namespace ozbound::bench

int main(int count, char** arguments) {
  using namespace ozbound::bench;
  if (count == 2 && std::strcmp(arguments[1], "calls") == 0) return measure_calls(), 0;
  if (count == 2 && std::strcmp(arguments[1], "examined") == 0) return multiply_for(4), 0;
  if (count == 1) return run(nullptr);
  if (count == 3 && std::strcmp(arguments[1], "--json") == 0) return run(arguments[2]);
  fmt::print(stderr, "usage: {} [--json FILE]\n", arguments[0]);
  return 2;
}
