// SPDX-License-Identifier: BSD-3-Clause
// The device's examination of operands for deciding and certifying, step by step, against the CPU's: fingerprints, the first
// level of the enclosure of |A||B|, the assumption about tensor cores' sums, bounds of plans, the entries nearest to a target's
// allowance, the largest bound of a C, and entries that are finished exactly.
//
// Usage: levels [PRODUCTS]. An argument limits the number of products and leaves out tensor cores, for tools that are slow or
// fail in cuBLAS's kernels. Exits with 0 if all agree, 1 if some do not, 77 without a device.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "device_fingerprint.hpp"
#include "first_looks.hpp"
#include "level_two.hpp"
#include "memory.hpp"
#include "mirror/problems.hpp"
#include "mirror/products.hpp"
#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/examiner.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/fingerprint.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/gpu/device_examiner.hpp"
#include "product_launcher.hpp"
#include "transfer.hpp"

namespace ozbound::mirror {
namespace {

const cudaStream_t stream = cudaStreamPerThread;

void compare_fingerprint(const InputView& matrix, const std::string& origin, Section& section) {
  const gpu::DeviceCopy copy(matrix, stream);
  const gpu::DeviceArray<std::uint64_t> sum(1, stream);
  gpu::launch_fingerprint(copy.matrix(), matrix.rows(), matrix.cols(), sum.data(), stream);
  const auto actual = gpu::copy_to_host(sum.data(), 1, stream)[0], expected = fingerprint(matrix, 1);
  section.expect(actual == expected, [&] { return hex(expected) + ", " + hex(actual) + ", " + origin; });
}

/// floor(2^7 |x| / 2^e) of every element of every vector, by the definition; 0 in special vectors.
Matrix<double> first_digits(const InputView& vectors, const std::vector<VectorScale>& scales) {
  Matrix<double> digits(vectors.rows(), vectors.cols());
  for (Index i = 0; i < vectors.rows(); ++i)
    for (Index l = 0; l < vectors.cols(); ++l) {
      const auto& scale = scales[static_cast<std::size_t>(i)];
      const double x = double_from_bits(vectors.bits(i, l));
      digits(i, l) = scale.special ? 0 : std::floor(std::ldexp(std::fabs(x), 7 - scale.exponent));
    }
  return digits;
}

double sum_of_row(const Matrix<double>& matrix, Index i) {
  double sum = 0;
  for (Index l = 0; l < matrix.cols(); ++l) sum += matrix(i, l);
  return sum;
}

double dot(const Matrix<double>& x, Index i, const Matrix<double>& y, Index j) {
  double sum = 0;
  for (Index l = 0; l < x.cols(); ++l) sum += x(i, l) * y(j, l);
  return sum;  // of integers far below 2^53
}

/// Level one of the device, copied to the host.
struct HostLevelOne {
  std::vector<std::int64_t> row_sums, column_sums;
  std::vector<std::int32_t> row_exponents, column_exponents;
  std::vector<std::uint8_t> row_special, column_special;
  Matrix<std::int64_t> sums;
  bool narrow;
  std::vector<std::uint32_t> row_least, column_least;  ///< only of narrow sums
  bool loose;

  HostLevelOne(const InputView& a, const InputView& b, gpu::Kernels& kernels) : sums(a.rows(), b.cols()) {
    const Index m = a.rows(), n = b.cols();
    const gpu::LevelOne level(m, n, a.cols(), kernels);
    level.prepare();
    const gpu::DeviceCopy copy_a(a, stream), copy_b(b, stream);
    const gpu::FirstLooks looks(copy_a.matrix(), copy_b.matrix(), m, n, a.cols(), stream);
    gpu::Arena needed;
    level.launch(looks, needed, stream);
    const gpu::DeviceArray<std::uint8_t> memory(static_cast<Index>(needed.used() + gpu::Arena::alignment), stream);
    gpu::check(cudaMemsetAsync(memory.data(), 0x5a, needed.used(), stream), "cudaMemsetAsync");
    auto arena = gpu::Arena::aligned(memory.data(), needed.used());
    const auto on_device = level.launch(looks, arena, stream);
    row_sums = gpu::copy_to_host(on_device.row_sums, m, stream);
    column_sums = gpu::copy_to_host(on_device.column_sums, n, stream);
    row_exponents = gpu::copy_to_host(on_device.rows.exponents, m, stream);
    column_exponents = gpu::copy_to_host(on_device.columns.exponents, n, stream);
    row_special = gpu::copy_to_host(on_device.rows.special, m, stream);
    column_special = gpu::copy_to_host(on_device.columns.special, n, stream);
    loose = gpu::copy_to_host(on_device.loose, 1, stream)[0] != 0;
    narrow = on_device.narrow != nullptr;
    row_least = gpu::copy_to_host(on_device.row_least.complements, m, stream);
    column_least = gpu::copy_to_host(on_device.column_least.complements, n, stream);
    for (auto* const side : {&row_least, &column_least})
      for (auto& complement : *side) complement = ~complement;
    if (m == 0 || n == 0) return;
    const Index extent = (m - 1) * on_device.row_stride + (n - 1) * on_device.col_stride + 1;
    if (on_device.narrow != nullptr)
      read(gpu::copy_to_host(on_device.narrow, extent, stream), on_device);
    else
      read(gpu::copy_to_host(on_device.wide, extent, stream), on_device);
  }

 private:
  template <class T>
  void read(const std::vector<T>& all, const gpu::LevelOneSums& from) {
    for (Index i = 0; i < sums.rows(); ++i)
      for (Index j = 0; j < sums.cols(); ++j)
        sums(i, j) = all[static_cast<std::size_t>(i * from.row_stride + j * from.col_stride)];
  }
};

void compare_level_one(const InputView& a, const InputView& b, const std::string& origin, gpu::Kernels& kernels,
                       Section& section) {
  const Encoding truncated{Encoding::Kind::truncated, 7};
  const auto rows = vector_scales(a, Side::rows_of_a, truncated, 1),
             columns = vector_scales(b, Side::columns_of_b, truncated, 1);
  const auto x = first_digits(a, rows), y = first_digits(b.transposed(), columns);
  const HostLevelOne actual(a, b, kernels);
  const auto vectors = [&](const auto& scales, const Matrix<double>& digits, const auto& sums, const auto& exponents,
                           const auto& special) {
    for (std::size_t i = 0; i < scales.size(); ++i)
      section.expect(exponents[i] == scales[i].exponent && (special[i] != 0) == scales[i].special &&
                         static_cast<double>(sums[i]) == sum_of_row(digits, static_cast<Index>(i)),
                     [&] { return "vector " + std::to_string(i) + ", " + origin; });
  };
  vectors(rows, x, actual.row_sums, actual.row_exponents, actual.row_special);
  vectors(columns, y, actual.column_sums, actual.column_exponents, actual.column_special);
  bool loose = false;
  constexpr auto none = ~std::uint32_t{0};
  std::vector<std::uint32_t> row_least(rows.size(), none), column_least(columns.size(), none);
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j) {
      const double expected = dot(x, i, y, j), row = sum_of_row(x, i), column = sum_of_row(y, j);
      loose = loose || (row > 0 && column > 0 && expected < row + column + static_cast<double>(a.cols()));
      if (row > 0 && column > 0 && actual.narrow)
        for (auto* const least : {&row_least[static_cast<std::size_t>(i)], &column_least[static_cast<std::size_t>(j)]})
          *least = std::min(*least, static_cast<std::uint32_t>(expected));
      section.expect(static_cast<double>(actual.sums(i, j)) == expected,
                     [&] { return "sum (" + std::to_string(i) + ", " + std::to_string(j) + "), " + origin; });
    }
  section.expect(row_least == actual.row_least && column_least == actual.column_least, [&] { return "least sums, " + origin; });
  section.expect(loose == actual.loose, [&] { return std::string(loose ? "not loose" : "loose") + ", " + origin; });
}

/// An operand with little cancellation and little range within a vector, so level 1 is tight. Vectors have any scales; some
/// have zeros and specials.
Matrix<double> dense(Index rows, Index cols, Side side, bool specials, std::uint64_t seed) {
  Matrix<double> matrix(rows, cols);
  RandomBits random(seed);
  const Index vectors = side == Side::rows_of_a ? rows : cols, inner = side == Side::rows_of_a ? cols : rows;
  const int range = random.once_in(2) ? 3 : 1000;
  for (Index i = 0; i < vectors; ++i) {
    const int scale = random.once_in(6) ? -1074 + random.below(60) : random.between(-range, range);
    const bool zero = random.once_in(9), powers = random.once_in(5);
    for (Index l = 0; l < inner; ++l) {
      const double significand =
          powers ? (random.once_in(3) ? 0x1.fffffffffffffp-1 : 1) : 1 + std::ldexp(random.below(1 << 30), -30);
      double x = zero ? 0 : std::ldexp(random.once_in(2) ? -significand : significand, scale);
      if (specials && random.once_in(700)) x = case_sampling::sample_special(random);
      (side == Side::rows_of_a ? matrix(i, l) : matrix(l, i)) = x;
    }
  }
  return matrix;
}

/// An operand with so much range within a vector that level 1 is loose, numbers of level 2 underflow, and some entries of a
/// product are zero. Some vectors are copies of others, so entries tie.
Matrix<double> wide(Index rows, Index cols, Side side, bool specials, std::uint64_t seed) {
  Matrix<double> matrix(rows, cols);
  RandomBits random(seed);
  const Index vectors = side == Side::rows_of_a ? rows : cols, inner = side == Side::rows_of_a ? cols : rows;
  const auto at = [&](Index i, Index l) -> double& { return side == Side::rows_of_a ? matrix(i, l) : matrix(l, i); };
  const int range = 1 << random.between(2, 10);
  const bool sparse = random.once_in(3), copies = random.once_in(3);
  for (Index i = 0; i < vectors; ++i) {
    const Index original = copies && i > 0 && random.once_in(2) ? random.below(static_cast<int>(i)) : i;
    for (Index l = 0; l < inner; ++l) {
      const double significand = 1 + std::ldexp(random.below(1 << 30), -30);
      double x = sparse && !random.once_in(4)
                     ? 0
                     : std::ldexp(random.once_in(2) ? -significand : significand, random.between(-range, range) % 1023);
      if (specials && random.once_in(700)) x = case_sampling::sample_special(random);
      at(i, l) = original == i ? x : at(original, l);
    }
  }
  return matrix;
}

/// A matrix of equal elements: every entry of the product allows the same error.
Matrix<double> ones(Index rows, Index cols) {
  Matrix<double> matrix(rows, cols);
  std::fill_n(matrix.data(), rows * cols, 0x1.123456789abcdp0);
  return matrix;
}

/// A host matrix and its device copy.
struct Twice {
  Matrix<double> here;
  gpu::DeviceCopy copy;

  explicit Twice(Matrix<double> matrix) : here(std::move(matrix)), copy(here, stream) {}
  [[nodiscard]] MatrixView<double> on_device() const {
    return {static_cast<double*>(copy.matrix().data), here.rows(), here.cols(), here.cols(), 1};
  }
  [[nodiscard]] std::vector<double> back() const {
    return gpu::copy_to_host(static_cast<const double*>(copy.matrix().data), here.rows() * here.cols(), stream);
  }
};

bool same(double x, double y) { return bits_of(x) == bits_of(y); }

bool same(const Norms& x, const Norms& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double s, double t) { return same(s, t); });
}

bool same(const EntryBound& x, const EntryBound& y) {
  bool equal = same(x.uniform, y.uniform) && x.terms.size() == y.terms.size();
  for (std::size_t t = 0; equal && t < x.terms.size(); ++t) {
    const auto &p = x.terms[t].alternatives, &q = y.terms[t].alternatives;
    equal = x.terms[t].name == y.terms[t].name && p.size() == q.size();
    for (std::size_t h = 0; equal && h < p.size(); ++h) equal = same(p[h].rows, q[h].rows) && same(p[h].columns, q[h].columns);
  }
  return equal;
}

/// The sections that compare the results of two examiners for the same matrices.
struct Examiners {
  const CpuEngine cpu;
  const HostExaminer here{cpu};
  const gpu::CudaEngine cuda;
  const gpu::DeviceExaminer there{cuda};

  explicit Examiners(bool by_tensor_cores) : cuda({.search_by_tensor_cores = by_tensor_cores}) {}

  Section bounds{"bounds of plans"}, errors{"errors of entries"}, probes{"probes"}, worst{"worst entries"},
      largest{"largest bounds"}, exact{"entries finished exactly"};

  void compare(std::uint64_t seed);
  void compare_wide(std::uint64_t seed);
  void compare_families();
  void compare_targets(const Twice& a, const Twice& b, const Twice& c0, const SplitPlan& plan, RandomBits& random,
                       const std::string& origin);
  void compare_largest(const RealProduct& call, const RealProduct& copied, const PlanBound& plan_bound,
                       const RemotePlanBound& made_there, const Twice& c, const std::string& origin);
  void compare_exact(const RealProduct& call, const RealProduct& copied, const Twice& c, RandomBits& random,
                     const std::string& origin);
};

void Examiners::compare_targets(const Twice& a, const Twice& b, const Twice& c0, const SplitPlan& plan, RandomBits& random,
                                const std::string& origin) {
  const double alpha = random.once_in(2) ? 1 : std::ldexp(1.5, random.between(-1000, 1000));
  const double beta = random.once_in(2) ? 0 : std::ldexp(-1.25, random.between(-1000, 900));
  const auto c = unwritten(a.here.rows(), b.here.cols(), binary64);
  const auto expected = here.examine({a.here, b.here, c, alpha, beta, c0.here});
  const auto actual = there.examine({a.on_device(), b.on_device(), c, alpha, beta, c0.on_device()});
  const auto bound = expected->bound(plan), bound_there = actual->bound(plan);
  const auto copy = fetched(bound_there);
  bounds.expect(same(bound.product, copy.product) && bound.row_exponents == copy.row_exponents &&
                    bound.column_exponents == copy.column_exponents,
                [&] { return origin; });
  for (const auto* target : {"componentwise:1e-9", "dgemm", "dgemm-typical", "rowcol:1e-11", "normwise:1e-9"}) {
    const auto parsed = parse_target(target);
    const double factor = std::ldexp(1.25, random.between(-60, 0));
    const auto allowance = expected->allowance(parsed, factor), allowance_there = actual->allowance(parsed, factor);
    const auto describe = [&] { return std::string(target) + ", " + origin; };
    const auto list = allowance->probes(4), list_there = allowance_there->probes(4);
    bool equal = list.size() == list_there.size();
    for (std::size_t t = 0; equal && t < list.size(); ++t)
      equal = list[t].i == list_there[t].i && list[t].j == list_there[t].j && same(list[t].allowed, list_there[t].allowed);
    probes.expect(equal, describe);
    for (const auto& [i, j, allowed] : list)
      errors.expect(same(expected->error_at(plan, 1, i, j), actual->error_at(plan, 1, i, j)), describe);
    const auto x = allowance->worst(bound), y = allowance_there->worst(bound_there);
    worst.expect(same(x.ratio, y.ratio) && x.i == y.i && x.j == y.j, [&] {
      return hex(bits_of(x.ratio)) + " at (" + std::to_string(x.i) + ", " + std::to_string(x.j) + "), " +
             hex(bits_of(y.ratio)) + " at (" + std::to_string(y.i) + ", " + std::to_string(y.j) + "), " + describe();
    });
  }
}

void Examiners::compare_largest(const RealProduct& call, const RealProduct& copied, const PlanBound& plan_bound,
                                const RemotePlanBound& made_there, const Twice& c, const std::string& origin) {
  ErrorBound bound;
  bound.alpha = call.alpha;
  bound.product = plan_bound.product;
  bound.row_exponents = plan_bound.row_exponents, bound.column_exponents = plan_bound.column_exponents;
  const auto x = here.result_facts(bound, nullptr, c.here, cpu.matrices().special_entries(call));
  for (const auto* product : {static_cast<const RemotePlanBound*>(nullptr), &made_there}) {
    const auto y = there.result_facts(bound, product, c.on_device(), cuda.matrices().special_entries(copied));
    largest.expect(same(x.largest_bound, y.largest_bound) && x.fingerprint == y.fingerprint, [&] {
      return hex(bits_of(x.largest_bound)) + ", " + hex(bits_of(y.largest_bound)) + ", fingerprints " + hex(x.fingerprint) +
             ", " + hex(y.fingerprint) + ", " + origin;
    });
  }
}

void Examiners::compare_exact(const RealProduct& call, const RealProduct& copied, const Twice& c, RandomBits& random,
                              const std::string& origin) {
  const auto specials = cpu.matrices().special_entries(call);
  std::vector<Entry> entries;
  for (Index i = 0; i < call.m(); ++i)
    for (Index j = 0; j < call.n(); ++j)
      if (random.once_in(20) && !specials.at(i, j)) entries.push_back({i, j});
  cpu.matrices().finish_exactly(call, entries);
  cuda.matrices().finish_exactly(copied, entries);
  const auto back = c.back();
  for (std::size_t t = 0; t < back.size(); ++t)
    exact.expect(same(c.here.data()[t], back[t]), [&] {
      return "entry " + std::to_string(t) + ": " + hex(bits_of(c.here.data()[t])) + ", " + hex(bits_of(back[t])) + ", " +
             origin;
    });
}

void Examiners::compare(std::uint64_t seed) {
  RandomBits random(seed);
  const auto origin = "dense, seed " + std::to_string(seed);
  const Index m = random.between(1, 90), n = random.between(1, 300), k = random.between(1, 200);
  const bool specials = random.once_in(4), equal = seed % 10 == 0;
  const Twice a(equal ? ones(m, k) : dense(m, k, Side::rows_of_a, specials, seed));
  const Twice b(equal ? ones(k, n) : dense(k, n, Side::columns_of_b, specials, seed + 1000));
  const Twice c0(dense(m, n, Side::rows_of_a, specials, seed + 2000));
  Twice c(dense(m, n, Side::rows_of_a, false, seed + 3000));
  const auto plan = case_sampling::sample_plan(random, random.once_in(4) ? max_slices : 8);
  const FloatEnvironment environment;
  compare_targets(a, b, c0, plan, random, origin);
  const double alpha = random.once_in(3) ? -0x1.8p-700 : 1, beta = random.once_in(2) ? 0 : 0x1.4p10;
  const RealProduct call{a.here, b.here, c.here, alpha, beta, c0.here},
      copied{a.on_device(), b.on_device(), c.on_device(), alpha, beta, c0.on_device()};
  const auto made_there = there.examine(copied)->bound(plan).remote;
  compare_largest(call, copied, here.examine(call)->bound(plan), *made_there, c, origin);
  compare_exact(call, copied, c, random, origin);
}

void Examiners::compare_wide(std::uint64_t seed) {
  RandomBits random(seed);
  const auto origin = "wide, seed " + std::to_string(seed);
  const Index m = seed == 0 ? 3 : random.between(1, 90), n = seed == 0 ? 5 : random.between(1, 300);
  const Index k = seed == 0           ? 140000  // sums of 64 bits
                  : random.once_in(4) ? random.between(1000, 2500)
                                      : random.between(1, 200);
  const bool specials = random.once_in(4);
  const Twice a(wide(m, k, Side::rows_of_a, specials, seed)), b(wide(k, n, Side::columns_of_b, specials, seed + 1000));
  const Twice c0(dense(m, n, Side::rows_of_a, specials, seed + 2000));
  const auto plan = case_sampling::sample_plan(random, random.once_in(4) ? max_slices : 8);
  const FloatEnvironment environment;
  compare_targets(a, b, c0, plan, random, origin);
}

void Examiners::compare_families() {
  RandomBits random(5);
  const FloatEnvironment environment;
  for (const auto& inputs : family_inputs()) {
    const Twice a(inputs.a), b(inputs.b), c0(dense(inputs.a.rows(), inputs.b.cols(), Side::rows_of_a, false, 5));
    compare_targets(a, b, c0, parse_plan(inputs.plan).split(), random, inputs.origin);
  }
}

bool compare_accesses(bool by_tensor_cores, std::uint64_t products = 120, bool families = true) {
  std::printf("what operands are, %s tensor cores' help\n", by_tensor_cores ? "with" : "without");
  Examiners accesses(by_tensor_cores);
  for (std::uint64_t seed = 0; seed < products; ++seed) accesses.compare(seed), accesses.compare_wide(seed);
  if (families) accesses.compare_families();
  bool good = true;
  for (const auto* section :
       {&accesses.bounds, &accesses.errors, &accesses.probes, &accesses.worst, &accesses.largest, &accesses.exact})
    good = section->report() && good;
  return good;
}

Matrix<double> uniform(Index rows, Index cols, std::uint64_t seed) {
  Matrix<double> matrix(rows, cols);
  RandomBits random(seed);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) matrix(i, j) = test::sample_below<double>(0, 2, random);
  return matrix;
}

/// Vectors whose sums tensor cores may round in any way: of one magnitude, falling, rising or mixed.
Matrix<double> to_be_summed(Index count, Index inner, std::uint64_t seed) {
  Matrix<double> matrix(count, inner);
  RandomBits random(seed);
  for (Index i = 0; i < count; ++i) {
    const int kind = random.below(5);
    const double all = 1 + std::ldexp(random.below(1 << 20), -20);
    for (Index l = 0; l < inner; ++l) {
      const int place = static_cast<int>(l * 40 / inner);
      const double any = 1 + std::ldexp(random.below(1 << 20), -20);
      matrix(i, l) = kind == 0   ? all
                     : kind == 1 ? std::ldexp(any, -place)
                     : kind == 2 ? std::ldexp(any, place)
                     : kind == 3 ? std::ldexp(any, random.between(-30, 0))
                                 : (l == 0 ? 1 : std::ldexp(all, -20));
    }
  }
  return matrix;
}

double from_bfloat16(std::uint16_t bits) { return float_from_bits(std::uint64_t{bits} << 16); }

/// Checks that products of bfloat16 numbers on tensor cores are at most the exact sum over 1 - k 2^-22 (enclosure.md, E5), for
/// every step-th entry of a row. They may be arbitrarily smaller.
void compare_leading(const Matrix<double>& a, const Matrix<double>& b_transposed, const std::string& origin,
                     gpu::Kernels& kernels, Section& section, Index step = 1) {
  const Index m = a.rows(), n = b_transposed.rows(), k = a.cols();
  if (!kernels.lt.multiplies_bfloat16()) return;
  const gpu::DeviceCopy x(a, stream), y(InputView(b_transposed).transposed(), stream);
  const gpu::FirstLooks looks(x.matrix(), y.matrix(), m, n, k, stream);
  const gpu::LevelOne one(m, n, k, kernels);
  const gpu::LevelTwo two(m, n, k, kernels, true);
  one.prepare(), two.prepare();
  gpu::DeviceMagnitudes found;
  const auto launch = [&](gpu::Arena& arena) {
    found = two.launch(one.launch(looks, arena, stream), x.matrix(), y.matrix(), arena, stream);
    two.launch_leading(found, arena, stream);
  };
  gpu::Arena needed;
  launch(needed);
  const gpu::Memory memory(needed.used(), stream);
  auto arena = memory.arena();
  launch(arena);
  const auto rows = gpu::copy_to_host(found.rows.leading, m * found.rows.pitch, stream);
  const auto columns = gpu::copy_to_host(found.columns.leading, n * found.columns.pitch, stream);
  const auto products = gpu::copy_to_host(found.leading, n * found.leading_pitch, stream);
  for (Index i = 0; i < m; ++i)
    for (Index j = i % step; j < n; j += step) {
      // Products are exact, and their sum in 64 bits is within k 2^-63, relative, of the exact sum.
      long double sum = 0;
      for (Index l = 0; l < k; ++l)
        sum += static_cast<long double>(from_bfloat16(rows[static_cast<std::size_t>(i * found.rows.pitch + l)]) *
                                        from_bfloat16(columns[static_cast<std::size_t>(j * found.columns.pitch + l)]));
      const auto product = static_cast<long double>(products[static_cast<std::size_t>(i + j * found.leading_pitch)]);
      const auto count = static_cast<long double>(k);
      section.expect(product * (1 - count * 0x1p-22L) <= sum * (1 + count * 0x1p-62L), [&] {
        return std::to_string(static_cast<double>(product / sum - 1)) + " at (" + std::to_string(i) + ", " + std::to_string(j) +
               "), " + origin;
      });
    }
}

bool compare_leading(gpu::Kernels& kernels) {
  Section section("tensor cores' sums");
  for (const Index k : {1, 2, 15, 16, 17, 64, 127, 128, 1000, 4096, 20001})
    for (const Index m : {3, 130})
      compare_leading(to_be_summed(m, k, static_cast<std::uint64_t>(k + m)), to_be_summed(33, k, static_cast<std::uint64_t>(k)),
                      "k = " + std::to_string(k), kernels, section);
  // Large enough for kernels to be timed, and with the longest inner dimension that they are used for.
  compare_leading(to_be_summed(1500, 5000, 1), to_be_summed(1400, 5000, 2), "large", kernels, section, 211);
  compare_leading(to_be_summed(90, 1 << 20, 3), to_be_summed(100, 1 << 20, 4), "long", kernels, section, 37);
  compare_leading(to_be_summed(5, 1 << 21, 5), to_be_summed(5, 1 << 21, 6), "longest", kernels, section);
  return section.report();
}

bool compare_all(gpu::Kernels& kernels) {
  Section fingerprints("fingerprints"), levels("level 1 of |A||B|");
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const auto product = sample_product(seed % 10 == 0 ? 300 : 60, seed);
    const auto origin = "seed " + std::to_string(seed);
    for (const auto* matrix : {&product.a, &product.b, &product.c0}) compare_fingerprint(matrix->input(), origin, fingerprints);
    compare_level_one(product.a.input(), product.b.input(), origin, kernels, levels);
  }
  for (const auto& inputs : family_inputs()) compare_level_one(inputs.a, inputs.b, inputs.origin, kernels, levels);
  const Matrix<double> large(1100, 900);
  compare_fingerprint(large, "zeros", fingerprints);
  for (const Index k : {133143, 133144, 300001}) {  // as long as 32 bits hold, and longer
    Matrix<double> a(5, k), b(k, 3);
    for (Index l = 0; l < k; ++l) {
      for (Index i = 0; i < 5; ++i) a(i, l) = i % 2 == 0 ? 0x1.fffp0 : -0x1.fep3;
      for (Index j = 0; j < 3; ++j) b(l, j) = 0x1.fep0;
    }
    compare_level_one(a, b, "k = " + std::to_string(k), kernels, levels);
  }
  compare_level_one(uniform(200, 700, 1), uniform(700, 300, 2), "uniform", kernels, levels);
  const bool good = fingerprints.report();
  return levels.report() && good;
}

}  // namespace
}  // namespace ozbound::mirror

int main(int count, char** arguments) {
  using namespace ozbound;
  return mirror::compare_on_device([&] {
    if (count > 1) return mirror::compare_accesses(false, std::strtoull(arguments[1], nullptr, 10), false);
    gpu::Kernels kernels(0);
    const bool levels = mirror::compare_all(kernels);
    const bool leading = mirror::compare_leading(kernels);
    const bool with = mirror::compare_accesses(true), without = mirror::compare_accesses(false);
    return with && without && levels && leading;
  });
}
