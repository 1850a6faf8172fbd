// SPDX-License-Identifier: BSD-3-Clause
#include "openblas_threads.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <mutex>
#include <optional>
#include <vector>

#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

constexpr Index least_shared = Index{1} << 18;  ///< up to this many multiplications OpenBLAS starts no threads
constexpr double most_in_blocks = 0x1p24;       ///< beyond this many, a parallel region's start costs little

/// While it lives, OpenMP does not reduce the threads of a region because of the system's load.
class WholeTeams {
 public:
  WholeTeams() : dynamic_(omp_get_dynamic()) { omp_set_dynamic(0); }
  ~WholeTeams() { omp_set_dynamic(dynamic_); }
  WholeTeams(const WholeTeams&) = delete;
  WholeTeams& operator=(const WholeTeams&) = delete;

 private:
  int dynamic_;
};

/// While it lives, the OpenMP workers on which OpenBLAS computes round to nearest and keep subnormals, independent of inherited
/// settings. A parallel region gets only these workers: their number is fixed to that of the first region. At the end each
/// worker gets its own settings back; a new worker gets the calling thread's.
class WorkerEnvironments {
 public:
  WorkerEnvironments() : threads_(omp_get_max_threads()), dynamic_(omp_get_dynamic()) {
    std::fenv_t callers;
    std::fegetenv(&callers);
    saved_.assign(static_cast<std::size_t>(threads_), callers);
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads_)
    {
      std::fegetenv(&saved());
      std::fesetenv(FE_DFL_ENV);
#pragma omp single nowait
      team_ = omp_get_num_threads();
    }
    omp_set_num_threads(team_);
  }
  ~WorkerEnvironments() {
#pragma omp parallel num_threads(team_)
    std::fesetenv(&saved());
    omp_set_num_threads(threads_);
    omp_set_dynamic(dynamic_);
  }
  WorkerEnvironments(const WorkerEnvironments&) = delete;
  WorkerEnvironments& operator=(const WorkerEnvironments&) = delete;

 private:
  std::fenv_t& saved() { return saved_[static_cast<std::size_t>(omp_get_thread_num())]; }

  int threads_, dynamic_;
  int team_ = 1;                    ///< threads of the first region, including the calling one
  std::vector<std::fenv_t> saved_;  ///< the calling thread's comes first
};

/// While an object lives, OpenBLAS computes on the calling thread. The number of threads is global to the process. The last
/// object to end restores the number that the program had set, before or meanwhile.
class OneThread {
 public:
  OneThread() {
    const std::scoped_lock lock(state().mutex);
    if (state().users++ == 0) state().program = openblas_get_num_threads();
    state().claim();
  }
  ~OneThread() {
    const std::scoped_lock lock(state().mutex);
    if (--state().users == 0 && openblas_get_num_threads() == 1) openblas_set_num_threads(state().program);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  /// The number of threads that the program had set.
  [[nodiscard]] static int program_threads() {
    const std::scoped_lock lock(state().mutex);
    return state().program;
  }

  /// Runs `work` until the program sets no number of threads during it, with a few attempts. Returns true if the last attempt
  /// succeeded.
  template <class Work>
  static bool run(const Work& work) {
    long before = claim();
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      work();
      const long now = claim();
      if (now == before) return true;
      before = now;
    }
    return false;
  }

 private:
  static constexpr int most_attempts = 4;  ///< a program that sets the number all the time would disturb any number of them

  struct State {
    std::mutex mutex;
    int users = 0, program = 1;
    long claims = 0;  ///< how often another number had to be replaced

    void claim() {
      const int found = openblas_get_num_threads();
      if (found == 1) return;
      program = found, ++claims;
      openblas_set_num_threads(1);
    }
  };
  static State& state() {
    static State all;
    return all;
  }
  static long claim() {
    const std::scoped_lock lock(state().mutex);
    state().claim();
    return state().claims;
  }
};

/// Nearly square blocks of C, one per thread, or fewer for a small product.
class Blocks {
 public:
  Blocks(Index m, Index n, Index k, int threads) : m_(m), n_(n) {
    const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const auto most = static_cast<Index>(std::clamp(work / least_work, 1.0, static_cast<double>(threads)));
    const double ratio = static_cast<double>(m) / static_cast<double>(n);
    down_ = std::clamp<Index>(std::lround(std::sqrt(static_cast<double>(most) * ratio)), 1, std::min(most, m));
    across_ = std::clamp<Index>(most / down_, 1, n);
  }

  [[nodiscard]] int count() const { return static_cast<int>(down_ * across_); }
  [[nodiscard]] BlockOfC operator[](int t) const {
    const Index i = t / across_, j = t % across_;
    const Index row = i * m_ / down_, column = j * n_ / across_;
    return {row, column, (i + 1) * m_ / down_ - row, (j + 1) * n_ / across_ - column};
  }

 private:
  static constexpr double least_work = 1 << 17;  ///< multiplications that justify a thread

  Index m_, n_, down_, across_;
};

void multiply_on_our_threads(Index m, Index n, Index k, const std::function<void(const BlockOfC&)>& multiply) {
  const OneThread one;
  const Blocks blocks(m, n, k, std::min(omp_get_max_threads(), OneThread::program_threads()));
  const int count = blocks.count();
  FirstException failure;
#pragma omp parallel for num_threads(count) schedule(static)
  for (int t = 0; t < count; ++t)
    failure.run([&] {
      const FloatEnvironment of_worker;
      auto block = blocks[t];
      block.by_library = OneThread::run([&] { multiply(block); });
      if (!block.by_library) multiply(block);
    });
  failure.rethrow();
}

/// C of a 64 x 64 x 64 product by OpenBLAS while OpenMP workers, except the calling thread, round in the given direction;
/// nothing if there are no workers.
std::optional<std::vector<double>> product_beside_workers(int direction) {
  const WholeTeams teams;
  constexpr Index size = 64;
  static_assert(size * size * size == least_shared);
  std::vector<double> a(size * size, 1), b(size * size, 0x1p-53), c(size * size);  // every addition rounds
  for (Index j = 0; j < size; ++j) b[static_cast<std::size_t>(size * j)] = 1;
  std::fenv_t callers;
  std::fegetenv(&callers);
  std::vector<std::fenv_t> own(static_cast<std::size_t>(omp_get_max_threads()), callers);
  const auto of_worker = [&own]() -> std::fenv_t& { return own[static_cast<std::size_t>(omp_get_thread_num())]; };
  int team = 1;
#pragma omp parallel
  {
    std::fegetenv(&of_worker());
    if (omp_get_thread_num() != 0) std::fesetround(direction);
#pragma omp single nowait
    team = omp_get_num_threads();
  }
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a.data(), size, b.data(), size, 0, c.data(),
              size);
#pragma omp parallel
  std::fesetenv(&of_worker());
  return team > 1 ? std::optional(c) : std::nullopt;
}

/// True if OpenBLAS multiplies small matrices, up to `least_shared` multiplications, only on the calling thread. Its build
/// decides this by the number of multiplications, for every type. The test is repeated until workers existed once.
bool keeps_little_to_itself() {
  enum : int { untried, kept, shared };
  static std::atomic<int> known = untried;
  if (known == untried) {
    const auto upward = product_beside_workers(FE_UPWARD), nearest = product_beside_workers(FE_TONEAREST);
    if (!upward || !nearest) return false;
    known = *upward == *nearest ? kept : shared;
  }
  return known == kept;
}

/// Multiplies on OpenMP workers. A small product stays on the calling thread, as in OpenBLAS. For a larger one, each worker
/// multiplies a block, so that one parallel region sets the environments and multiplies. For a very large one, OpenBLAS itself
/// starts its regions.
void multiply_on_openmp_workers(Index m, Index n, Index k, const std::function<void(const BlockOfC&)>& multiply) {
  const int threads = omp_get_max_threads();
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const bool vectors = m == 1 || n == 1;  // some builds pass these to GEMV, which starts threads for less work
  if (threads == 1 || (work <= double{least_shared} && !vectors && !omp_in_parallel() && keeps_little_to_itself()))
    return multiply({0, 0, m, n});
  const Blocks blocks(m, n, k, threads);
  if (work > most_in_blocks || blocks.count() == 1) {
    const WorkerEnvironments environments;
    return multiply({0, 0, m, n});
  }
  const int count = blocks.count();
  const WholeTeams teams;
  bool alone = false;
  FirstException failure;
#pragma omp parallel num_threads(threads)  // all threads: OpenMP ends workers that a region leaves out
  if (omp_get_num_threads() == 1) {
    alone = true;  // OpenBLAS would start a region here, with workers in any environment
  } else {
#pragma omp for schedule(static, 1)
    for (int t = 0; t < count; ++t)
      failure.run([&] {
        const FloatEnvironment of_worker;
        multiply(blocks[t]);  // OpenBLAS starts no region inside a region of several threads
      });
  }
  failure.rethrow();
  if (!alone) return;
  const WorkerEnvironments environments;
  multiply({0, 0, m, n});
}

/// omp_get_max_threads of the OpenMP runtime linked with OpenBLAS; null if it is not found.
int (*omp_max_threads_of_openblas())() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&openblas_get_parallel), &library) == 0) return nullptr;
  void* const handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = dlsym(handle, "omp_get_max_threads");
  dlclose(handle);  // the library stays loaded, as before
  return reinterpret_cast<int (*)()>(found);
}

/// True if OpenBLAS's parallel regions run on our OpenMP workers: a number of threads set on one side is visible on the other.
/// OpenBLAS's side is the runtime that it was linked with. If another runtime, such as LLVM's, came first, it is OpenBLAS's own
/// function that sets a number. Only larger numbers are set there: for smaller ones OpenBLAS frees memory that its threads may
/// be using.
bool shares_our_openmp() {
  const int ours = omp_get_max_threads(), theirs = openblas_get_num_threads();
  const auto get = omp_max_threads_of_openblas();
  const auto seen = [get](int threads) { return omp_set_num_threads(threads), get() == threads; };
  const auto set = [](int threads) { return openblas_set_num_threads(threads), omp_get_max_threads() == threads; };
  bool shared = get != nullptr && seen(ours + 1) && seen(ours + 2);
  if (!shared) {
    shared = set(theirs + 1) && set(theirs + 2);
    openblas_set_num_threads(theirs);
  }
  omp_set_num_threads(ours);
  return shared;
}

}  // namespace

BlasThreads blas_threads() {
  switch (openblas_get_parallel()) {
    case 0: return BlasThreads::caller;
    case 1: return BlasThreads::pthreads;
    case 2: {
      static const bool ours = shares_our_openmp();
      return ours ? BlasThreads::openmp : BlasThreads::unknown;
    }
    default: return BlasThreads::unknown;
  }
}

void multiply_in_blocks(Index m, Index n, Index k, const std::function<void(const BlockOfC&)>& multiply) {
  if (m == 0 || n == 0) return;
  const FloatEnvironment environment;
  poll_cancelled();
  switch (blas_threads()) {
    case BlasThreads::pthreads: return multiply_on_our_threads(m, n, k, multiply);
    case BlasThreads::openmp: return multiply_on_openmp_workers(m, n, k, multiply);
    default: {
      static std::mutex one_at_a_time;  // the callers of a sequential build share its memory
      const std::scoped_lock lock(one_at_a_time);
      return multiply({0, 0, m, n});
    }
  }
}

}  // namespace ozbound
