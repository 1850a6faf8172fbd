// SPDX-License-Identifier: BSD-3-Clause
// The CUDA engine against the CPU's: digits, exponents, integer sums, C, open entries, bit for bit.
//
// Usage: engines [SECONDS]. Without an argument a fixed list of cases; with one, random products for that time. Prints
// one line a section; exits with 0 if all bits agree, 1 if some do not, 77 without a device.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "mirror/device_stored.hpp"
#include "mirror/problems.hpp"
#include "mirror/products.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/gpu/cuda_engine.hpp"

namespace ozbound::mirror {
namespace {

/// Both engines, and the sections in which every product is compared.
struct Mirror {
  const Engine& cpu;
  const Engine& cuda;
  Section slices{"digits, exponents, weights"}, sums{"sums of groups"}, results{"C"}, open{"open entries"}, whole{"gemm"};

  void compare(const SampledProduct& product);
  [[nodiscard]] bool report() const {
    bool good = true;
    for (const auto* section : {&slices, &sums, &results, &open, &whole}) good = section->report() && good;
    return good;
  }
};

StoredMatrix run(const SampledProduct& product, const Engine& engine, double workspace = unlimited_workspace) {
  auto c = product.c;
  multiply_unproven({product.a.input(), product.b.input(), c.output(), product.alpha, product.beta, product.c0.input()},
                    product.plan, engine, workspace);
  return c;
}

/// The results of one engine for a product, step by step.
struct Steps {
  SlicedMatrix a, b;
  std::vector<Matrix<std::int64_t>> sums;
  StoredMatrix c;
  std::vector<Entry> open = {};

  Steps(const SampledProduct& product, const Engine& engine)
      : a(engine.slice(product.a.input(), Side::rows_of_a, product.plan.a)),
        b(engine.slice(product.b.input(), Side::columns_of_b, product.plan.b)),
        sums(engine.group_sums(a, b, product.plan)),
        c(product.c) {
    const auto finite = [](double x) { return is_finite(bits_of(x), binary64) ? x : 1; };
    const Epilogue epilogue{finite(product.alpha), finite(product.beta), product.c0.input(),
                            product.error ? &*product.error : nullptr};
    open = engine.multiply(a, b, product.plan, epilogue, c.output());
  }
};

void Mirror::compare(const SampledProduct& product) {
  const Steps expected(product, cpu), actual(product, cuda);
  compare_slices(expected.a, actual.a, product, slices);
  compare_slices(expected.b, actual.b, product, slices);
  compare_group_sums(expected.sums, actual.sums, product, sums);
  compare_results(expected.c, actual.c, product, "C", results);
  open.expect(expected.open == actual.open, [&] {
    return std::to_string(expected.open.size()) + " and " + std::to_string(actual.open.size()) + " open entries, " +
           describe(product);
  });
  compare_results(run(product, cpu), run(product, cuda), product, "gemm", whole);
}

StoredMatrix stored(const Matrix<double>& values) {
  StoredMatrix matrix(values.rows(), values.cols());
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j) matrix.set(i, j, values(i, j));
  return matrix;
}

SampledProduct product_of(const Inputs& inputs) {
  const Index m = inputs.a.rows(), n = inputs.b.cols();
  SampledProduct product{inputs.origin,     parse_plan(inputs.plan).split(),
                         stored(inputs.a),  stored(inputs.b),
                         stored(inputs.c0), StoredMatrix(m, n)};
  product.alpha = inputs.alpha, product.beta = inputs.beta;
  return product;
}

/// Compares products with C in place of C0, and blocks of C of every size.
bool compare_blocked(const Engine& cpu, const Engine& cuda, int count) {
  Section section("in place and in blocks");
  for (int seed = 0; seed < count; ++seed) {
    auto product = sample_product(200, 7000 + static_cast<std::uint64_t>(seed));
    product.error.reset();
    const auto expected = run(product, cpu);
    for (const double part : {1.0, 0.5, 0.1}) {
      const auto least = least_workspace(cuda, product.plan, product.k());
      const auto full = full_workspace(cuda, product.plan, product.m(), product.n(), product.k());
      compare_results(expected, run(product, cuda, least + part * (full - least)), product, "in blocks", section);
    }
    const auto c0 = product.c0.input();
    StoredMatrix in_place(product.m(), product.n(), product.c.storage());
    for (Index i = 0; i < product.m(); ++i)
      for (Index j = 0; j < product.n(); ++j)
        in_place.set(i, j, static_cast<double>(static_cast<float>(double_from_bits(c0.bits(i, j)))));
    auto other = in_place;
    for (const auto& [engine, c] : {std::pair(&cpu, &in_place), std::pair(&cuda, &other)})
      multiply_unproven({product.a.input(), product.b.input(), c->output(), product.alpha, product.beta, c->input()},
                        product.plan, *engine);
    compare_results(in_place, other, product, "in place", section);
  }
  return section.report();
}

/// Views of a product's matrices. Each bit of `placement` puts one of them in device memory.
struct Placed {
  SampledProduct product;
  DeviceStored a, b, c0, c;
  unsigned placement;

  Placed(const SampledProduct& of, unsigned where, cudaStream_t stream)
      : product(of), a(of.a, stream), b(of.b, stream), c0(of.c0, stream), c(of.c, stream), placement(where) {}

  [[nodiscard]] InputView view_a() { return (placement & 1) != 0 ? a.input(product.a) : product.a.input(); }
  [[nodiscard]] InputView view_b() { return (placement & 2) != 0 ? b.input(product.b) : product.b.input(); }
  [[nodiscard]] InputView view_c0() { return (placement & 4) != 0 ? c0.input(product.c0) : product.c0.input(); }
  [[nodiscard]] OutputView view_c() { return (placement & 8) != 0 ? c.view(product.c) : product.c.output(); }
  [[nodiscard]] StoredMatrix result() {
    if ((placement & 8) != 0) c.copy_to(product.c, cudaStreamPerThread);
    return product.c;
  }
};

bool same_facts(const SliceFacts& x, const SliceFacts& y) {
  const auto same_norms = [](const std::vector<IntegerNorms>& v, const std::vector<IntegerNorms>& w) {
    return std::equal(v.begin(), v.end(), w.begin(), w.end(), [](const IntegerNorms& n, const IntegerNorms& o) {
      return n.sum == o.sum && n.sum_squares == o.sum_squares && n.max == o.max;
    });
  };
  return std::equal(x.vectors.begin(), x.vectors.end(), y.vectors.begin(), y.vectors.end(),
                    [&](const VectorFacts& v, const VectorFacts& w) {
                      return same_norms({v.vector}, {w.vector}) && v.floor_squares == w.floor_squares &&
                             same_norms(v.slices, w.slices) && same_norms(v.tails, w.tails) && v.weights == w.weights &&
                             v.scale.exponent == w.scale.exponent && v.scale.special == w.scale.special;
                    });
}

/// Compares every mixture of host and device memory. Slices of one memory are multiplied with slices of the other, twice.
bool compare_placements(const Engine& cpu, const Engine& cuda) {
  Section slices("slices of the device's"), facts("facts of the device's"), results("C, matrices here or there"),
      open("open entries"), again("C, slices kept");
  for (std::uint64_t seed = 0; seed < 160; ++seed) {
    const auto product = sample_product(60, 80000 + seed);
    const Steps expected(product, cpu);
    Placed placed(product, static_cast<unsigned>(seed % 16), cudaStreamPerThread);
    const auto a = cuda.slice(placed.view_a(), Side::rows_of_a, product.plan.a);
    const auto b = cuda.slice(placed.view_b(), Side::columns_of_b, product.plan.b);
    compare_slices(expected.a, a, product, slices);
    compare_slices(expected.b, b, product, slices);
    const auto describe_it = [&] { return describe(product) + ", placement " + std::to_string(placed.placement); };
    facts.expect(same_facts(cpu.measure(product.a.input(), Side::rows_of_a, product.plan.a),
                            cuda.measure(placed.view_a(), Side::rows_of_a, product.plan.a)) &&
                     same_facts(cpu.measure(product.b.input(), Side::columns_of_b, product.plan.b),
                                cuda.measure(placed.view_b(), Side::columns_of_b, product.plan.b)),
                 describe_it);
    const auto epilogue = [&](const InputView& c0) {
      const auto finite = [](double x) { return is_finite(bits_of(x), binary64) ? x : 1; };
      return Epilogue{finite(product.alpha), finite(product.beta), c0, product.error ? &*product.error : nullptr};
    };
    const auto left = cuda.multiply(a, b, product.plan, epilogue(placed.view_c0()), placed.view_c());
    compare_results(expected.c, placed.result(), product, "C", results);
    open.expect(left == expected.open, describe_it);
    Placed other(product, 15 - placed.placement, cudaStreamPerThread);
    cuda.multiply(a, b, product.plan, epilogue(other.view_c0()), other.view_c());
    compare_results(expected.c, other.result(), product, "C", again);
  }
  bool good = true;
  for (const auto* section : {&slices, &facts, &results, &open, &again}) good = section->report() && good;
  return good;
}

/// Compares products with C in place of C0 in device memory.
bool compare_in_place_on_device(const Engine& cpu, const Engine& cuda) {
  Section section("in place on the device");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto product = sample_product(60, 90000 + seed);
    product.error.reset(), product.beta = 0.5, product.c0 = product.c;
    for (Index i = 0; i < product.m(); ++i)
      for (Index j = 0; j < product.n(); ++j) product.c0.set(i, j, static_cast<double>(i) - static_cast<double>(j));
    product.c = product.c0;
    const Steps expected(product, cpu);
    Placed placed(product, 8, cudaStreamPerThread);
    const auto finite = [](double x) { return is_finite(bits_of(x), binary64) ? x : 1; };
    cuda.multiply(cuda.slice(product.a.input(), Side::rows_of_a, product.plan.a),
                  cuda.slice(product.b.input(), Side::columns_of_b, product.plan.b), product.plan,
                  {finite(product.alpha), product.beta, placed.view_c().as_input(), nullptr}, placed.view_c());
    compare_results(expected.c, placed.result(), product, "C", section);
  }
  return section.report();
}

/// Checks that both engines refuse the same calls with the same words.
bool compare_refusals(const Engine& cpu, const Engine& cuda) {
  Section section("refusals");
  const auto said = [](const auto& call) -> std::string {
    try {
      call();
      return "nothing";
    } catch (const std::exception& error) {
      return error.what();
    }
  };
  const auto plan = SplitPlan::balanced(2, 3, 4);
  const Matrix<double> wide(2, 4), tall(4, 5);
  const auto check = [&](const auto& call) {
    const auto expected = said([&] { call(cpu); }), actual = said([&] { call(cuda); });
    section.expect(expected == actual && expected != "nothing", [&] { return "'" + expected + "', '" + actual + "'"; });
  };
  const auto multiply = [&](const Engine& engine, const Matrix<double>& x, const Matrix<double>& y, const Epilogue& epilogue,
                            Index m) {
    Matrix<double> c(m, 5);
    engine.multiply(engine.slice(x, Side::rows_of_a, plan.a), engine.slice(y, Side::columns_of_b, plan.b), plan, epilogue, c);
  };
  check([&](const Engine& engine) { (void)engine.slice(wide, Side::rows_of_a, {Encoding::balanced(), 0}); });
  check([&](const Engine& engine) { (void)engine.slice(wide, Side::rows_of_a, {Encoding::balanced(), max_slices + 1}); });
  check([&](const Engine& engine) { multiply(engine, wide, Matrix<double>(3, 5), {}, 2); });
  check([&](const Engine& engine) { multiply(engine, wide, tall, {}, 3); });
  check([&](const Engine& engine) { multiply(engine, wide, tall, {1, 1, wide}, 2); });
  check([&](const Engine& engine) { multiply(engine, wide, tall, {double_from_bits(binary64.inf), 0, {}}, 2); });
  section.expect(!cuda.takes(cpu.slice(wide, Side::rows_of_a, plan.a)), [] { return "the CPU's slices are taken"; });
  section.expect(!cpu.takes(cuda.slice(wide, Side::rows_of_a, plan.a)), [] { return "the device's slices are taken"; });
  section.expect(cuda.takes(cuda.slice(wide, Side::rows_of_a, plan.a)), [] { return "own slices are not taken"; });
  return section.report();
}

/// Occupies all of the device's memory except the given number of bytes.
class Ballast {
 public:
  explicit Ballast(std::size_t left) {
    std::size_t free = 0, total = 0;
    gpu::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    for (std::size_t part = free; part >= least; part /= 2)
      for (void* data = nullptr; free > left + part && cudaMalloc(&data, part) == cudaSuccess; free -= part)
        parts_.push_back(data);
    cudaGetLastError();
  }
  ~Ballast() {
    for (auto* const part : parts_) cudaFree(part);
  }
  Ballast(const Ballast&) = delete;
  Ballast& operator=(const Ballast&) = delete;

 private:
  static constexpr std::size_t least = std::size_t{1} << 20;
  std::vector<void*> parts_;
};

/// Compares products for which the device has too little memory (computed by blocks, or refused with C unchanged), and products
/// afterwards.
bool compare_without_memory(const Engine& cpu, const Engine& cuda) {
  Section section("with little memory");
  RandomBits random(7);
  const auto matrix = [&](Index rows, Index cols) {
    Matrix<double> result(rows, cols);
    for (Index t = 0; t < rows * cols; ++t) result.data()[t] = test::sample_below<double>(-3, 3, random);
    return result;
  };
  const auto plan = SplitPlan::balanced(7, 7, 8);
  const auto a = matrix(1500, 700), b = matrix(700, 1400), before = matrix(1500, 1400);
  auto expected = before;
  multiply_unproven({a, b, expected, 1.5, -0.5, before}, plan, cpu);
  const auto same = [](const Matrix<double>& x, const Matrix<double>& y) {
    return std::equal(x.data(), x.data() + x.rows() * x.cols(), y.data(),
                      [](double s, double t) { return bits_of(s) == bits_of(t); });
  };
  Index finished = 0, refused = 0;
  const auto run = [&](std::size_t left) {
    auto c = before;
    try {
      multiply_unproven({a, b, c, 1.5, -0.5, c}, plan, cuda);
      ++finished;
      section.expect(same(c, expected), [&] { return std::to_string(left) + " bytes left"; });
    } catch (const OutOfMemory&) {
      ++refused;
      section.expect(same(c, before), [&] { return "C is written though refused, " + std::to_string(left) + " bytes left"; });
    }
  };
  run(0);  // loads kernels
  for (const int mebibytes : {1, 8, 16, 24, 32, 48, 64, 96, 128, 256}) {
    gpu::release_memory();
    const auto left = static_cast<std::size_t>(mebibytes) << 20;
    const Ballast ballast(left);
    run(left);
  }
  gpu::release_memory();
  const auto refused_before = refused;
  run(0);
  section.expect(refused == refused_before, [] { return "refused with all memory"; });
  section.expect(refused > 0 && finished > 2, [&] { return std::to_string(refused) + " refused"; });
  return section.report();
}

bool compare_fixed(const Engine& cpu, const Engine& cuda) {
  bool good = true;
  const auto compared = [&](const char* title, const auto& products) {
    std::printf("%s\n", title);
    Mirror mirror{cpu, cuda};
    products(mirror);
    good = mirror.report() && good;
  };
  const auto all = [](std::vector<Inputs> list) {
    return [list = std::move(list)](Mirror& mirror) {
      for (const auto& inputs : list) mirror.compare(product_of(inputs));
    };
  };
  compared("products drawn by classes", [](Mirror& mirror) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) mirror.compare(sample_product(40, seed));
  });
  compared("inputs of the conformance vectors", all(conformance_inputs()));
  compared("problem families", all(family_inputs()));
  compared("long inner dimensions", all(long_inputs()));
  std::printf("others\n");
  good = compare_blocked(cpu, cuda, 20) && good;
  good = compare_placements(cpu, cuda) && good;
  good = compare_in_place_on_device(cpu, cuda) && good;
  good = compare_without_memory(cpu, cuda) && good;
  return compare_refusals(cpu, cuda) && good;
}

/// Compares random products until the time is over.
bool compare_for(double seconds, const Engine& cpu, const Engine& cuda) {
  Mirror mirror{cpu, cuda};
  const auto start = std::chrono::steady_clock::now();
  const auto first = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  std::uint64_t seed = first;
  for (; std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds; ++seed) {
    constexpr Index sizes[] = {20, 60, 150, 300};
    mirror.compare(sample_product(sizes[seed % 4], seed));
  }
  std::printf("%llu products from seed %llu on\n", static_cast<unsigned long long>(seed - first),
              static_cast<unsigned long long>(first));
  return mirror.report();
}

}  // namespace
}  // namespace ozbound::mirror

int main(int count, char** arguments) {
  using namespace ozbound;
  constexpr std::pair<gpu::Path, const char*> paths[] = {{gpu::Path::portable, "dp4a"},
                                                         {gpu::Path::cublaslt, "cuBLASLt"},
                                                         {gpu::Path::fused, "fused"},
                                                         {gpu::Path::automatic, "automatic"}};
  return mirror::compare_on_device([&] {
    const CpuEngine cpu;
    bool good = true;
    for (const auto& [path, name] : paths) {
      const gpu::CudaEngine cuda({.path = path});
      std::printf("\n%s\n", name);
      good =
          (count > 1 ? mirror::compare_for(std::atof(arguments[1]) / 4, cpu, cuda) : mirror::compare_fixed(cpu, cuda)) && good;
    }
    return good;
  });
}
