// SPDX-License-Identifier: BSD-3-Clause
// ozbound_openblas_product BUILD THREADS: native products in a process that sets FTZ and DAZ before any library is loaded, so
// that threads started by a library on loading also have them. BUILD is the OpenBLAS that must have been found.

#include <cblas.h>
#include <omp.h>
#include <xmmintrin.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/native.hpp"

namespace {

using namespace ozbound;

constexpr unsigned flush_to_zero_and_denormals_are_zero = 0x8040;

/// Runs before a sanitizer is ready.
[[gnu::no_sanitize("address", "undefined")]] void flush() { _mm_setcsr(_mm_getcsr() | flush_to_zero_and_denormals_are_zero); }

/// Run by the dynamic linker before the first constructor of any library.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)() = flush;

std::atomic<int> failures{0};

void expect(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "WRONG: %s\n", what.c_str());
  ++failures;
}

/// The number of wrong entries of C. A's rows are 2^-511 (1 + 2^-9), -2^-511, and so on, B is 2^-511. Pairs of products, which
/// are normal, cancel to 2^-1031, and any order of summation gives the subnormal k/2 2^-1031 without error.
Index wrong_entries(Index n, double beta = 0) {
  Matrix<double> a(n, n), b(n, n), c(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      a(i, j) = j % 2 == 0 ? 0x1.008p-511 : -0x1p-511, b(i, j) = 0x1p-511, c(i, j) = std::bit_cast<double>(std::uint64_t{8});
  native_gemm()->dgemm({a, b, c, 1, beta, c});
  const auto expected = static_cast<std::uint64_t>(n / 2) << (1074 - 1031) | (beta == 0 ? 0U : 8U);  // times 2^-1074
  Index wrong = 0;
  for (Index t = 0; t < n * n; ++t) wrong += std::bit_cast<std::uint64_t>(c.data()[t]) == expected ? 0 : 1;
  return wrong;
}

/// The number of wrong entries by gemm, whose certificate must hold: products are normal, so nothing is allowed for underflow.
Index wrong_certified_entries(Index n) {
  Matrix<double> a(n, n), b(n, n), c(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) a(i, j) = j % 2 == 0 ? 0x1.008p-511 : -0x1p-511, b(i, j) = 0x1p-511;
  const Decision decision{Target::dgemm(), Method::native, {}, n, n, n, 0, 0, {}, {}};
  const auto certificate = multiply({a, b, c}, decision, {CpuEngine(), native_gemm()});
  expect(certificate.holds && certificate.bound.underflow == 0, "the certificate holds");
  const auto expected = static_cast<std::uint64_t>(n / 2) << (1074 - 1031);
  Index wrong = 0;
  for (Index t = 0; t < n * n; ++t) wrong += std::bit_cast<std::uint64_t>(c.data()[t]) == expected ? 0 : 1;
  return wrong;
}

Index wrong_complex_entries(Index n) {
  const auto size = static_cast<std::size_t>(n * n);
  std::vector<std::complex<double>> a(size), b(size, 0x1p-511), c(size);
  for (Index t = 0; t < n * n; ++t) a[static_cast<std::size_t>(t)] = t / n % 2 == 0 ? 0x1.008p-511 : -0x1p-511;  // by column
  native_zgemm()(n, n, n, a.data(), b.data(), c.data());
  const auto expected = static_cast<std::uint64_t>(n / 2) << (1074 - 1031);
  Index wrong = 0;
  for (const auto& entry : c) wrong += std::bit_cast<std::uint64_t>(entry.real()) == expected ? 0 : 1;
  return wrong;
}

void products_alone() {
  expect(wrong_certified_entries(256) == 0, "certified DGEMM");
  for (const Index n : {256, 2, 66, 130}) {
    const auto size = std::to_string(n);
    expect(wrong_entries(n) == 0, "DGEMM, n = " + size);
    expect(wrong_entries(n, 1) == 0, "DGEMM with C0, n = " + size);
    expect(wrong_complex_entries(n) == 0, "ZGEMM, n = " + size);
  }
}

void products_side_by_side() {
  std::atomic<Index> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) callers.emplace_back([&] { wrong += wrong_entries(128) + wrong_complex_entries(64); });
  for (auto& caller : callers) caller.join();
  expect(wrong == 0, "DGEMM of several threads at once");
#pragma omp parallel num_threads(3)
  wrong += wrong_entries(128) + wrong_complex_entries(64);
  expect(wrong == 0, "DGEMM inside a parallel region");
}

/// Runs products while the program changes OpenBLAS's number of threads all the time.
void products_disturbed(int threads) {
  std::atomic<bool> started{false}, done{false};
  std::thread disturber([&] {
    for (int t = 0; !done; ++t) openblas_set_num_threads(2 + t % 3), started = true, std::this_thread::yield();
  });
  while (!started) std::this_thread::yield();
  Index wrong = 0;
  for (int t = 0; t < 20; ++t) wrong += wrong_entries(128) + wrong_entries(66, 1) + wrong_complex_entries(66);
  done = true;
  disturber.join();
  expect(wrong == 0, "DGEMM while another thread sets the number of threads");
  expect(openblas_get_num_threads() >= 2, "the number of threads that was set meanwhile is kept");
  openblas_set_num_threads(threads);
}

int parallel_of(const std::string& build) { return build == "serial" ? 0 : build == "pthread" ? 1 : 2; }

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::string build = arguments[1];
  const int threads = std::atoi(arguments[2]);
  expect(openblas_get_parallel() == parallel_of(build), "this OpenBLAS is " + std::string(openblas_get_config()));
  const int found = openblas_get_num_threads(), ours = omp_get_max_threads();
  products_alone();
  products_side_by_side();
  if (build != "openmp")  // that build sets it to OpenMP's number in every product
    expect(openblas_get_num_threads() == found, "OpenBLAS's number of threads is what it was");
  expect(omp_get_max_threads() == ours, "OpenMP's number of threads is what it was");
  if (build == "pthread") products_disturbed(threads);
  expect((_mm_getcsr() & flush_to_zero_and_denormals_are_zero) == flush_to_zero_and_denormals_are_zero, "FTZ and DAZ stay set");
  std::printf("%s, %d threads: %d failures\n", openblas_get_config(), found, failures.load());
  return failures == 0 ? 0 : 1;
}
