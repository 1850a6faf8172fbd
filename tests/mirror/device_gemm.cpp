// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices in device memory against the CPU engine, bit for bit: every path, blocks, scalars on the device, and
// capture in graphs.
//
// Usage: device_gemm. Prints one line a section; exits with 0 if all bits agree, 1 if some do not, 77 without a device.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "cuda_check.hpp"
#include "device_array.hpp"
#include "mirror/device_stored.hpp"
#include "mirror/products.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "ozbound/gpu/device_gemm.hpp"

namespace ozbound::mirror {
namespace {

using gpu::check;
using gpu::DeviceArray;
using gpu::DeviceGemm;
using gpu::DeviceScalars;
using gpu::Path;

constexpr Path paths[] = {Path::portable, Path::cublaslt, Path::fused, Path::automatic};

/// A product whose matrices are in device memory.
struct OnDevice {
  SampledProduct& sample;
  cudaStream_t stream;
  DeviceStored a, b, c0, c;

  OnDevice(SampledProduct& of, cudaStream_t on)
      : sample(of), stream(on), a(of.a, on), b(of.b, on), c0(of.c0, on), c(of.c, on) {}

  [[nodiscard]] RealProduct product() const {
    return {a.view(sample.a).as_input(),  b.view(sample.b).as_input(), c.view(sample.c), sample.alpha, sample.beta,
            c0.view(sample.c0).as_input()};
  }
  [[nodiscard]] StoredMatrix result() const {
    auto host = sample.c;
    c.copy_to(host, stream);
    return host;
  }
};

StoredMatrix expected(const SampledProduct& product) {
  static const CpuEngine cpu;
  auto c = product.c;
  multiply_unproven({product.a.input(), product.b.input(), c.output(), product.alpha, product.beta, product.c0.input()},
                    product.plan, cpu);
  return c;
}

SampledProduct sampled(Index largest, std::uint64_t seed) {
  auto product = sample_product(largest, seed);
  product.error.reset();
  return product;
}

cudaStream_t new_stream() {
  cudaStream_t stream{};
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return stream;
}

bool compare_paths(cudaStream_t stream) {
  Section section("every path");
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    auto product = sampled(seed % 4 == 0 ? 300 : 50, 40000 + seed);
    const auto reference = expected(product);
    for (const auto path : paths) {
      const OnDevice device(product, stream);
      DeviceGemm multiply(product.plan, product.m(), product.n(), product.k(), {.path = path});
      multiply(device.product(), stream);
      compare_results(reference, device.result(), product, "C", section);
    }
  }
  return section.report();
}

/// Compares inner dimensions longer than the part of a vector that slicing holds at a time, for any number of vectors.
bool compare_long_vectors(cudaStream_t stream) {
  Section section("long vectors");
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    RandomBits random(60000 + seed);
    const Index m = random.between(1, 40), n = random.between(1, 40), k = random.between(4000, 12000);
    const int slices = random.between(1, 8);
    SampledProduct product{"long, seed " + std::to_string(60000 + seed),
                           SplitPlan::balanced(slices, slices, slices + 1),
                           sample_matrix(m, k, Side::rows_of_a, false, false, random),
                           sample_matrix(k, n, Side::columns_of_b, false, false, random),
                           StoredMatrix(m, n, case_sampling::sample_storage(false, random)),
                           StoredMatrix(m, n, case_sampling::sample_storage(false, random))};
    const auto reference = expected(product);
    const OnDevice device(product, stream);
    DeviceGemm multiply(product.plan, m, n, k);
    multiply(device.product(), stream);
    compare_results(reference, device.result(), product, "C", section);
  }
  return section.report();
}

/// The least power of two that is accepted as a cap.
double least_cap(const SampledProduct& product, Path path, double error = 0) {
  for (double cap = 0x1p20;; cap *= 2) try {
      DeviceGemm(product.plan, product.m(), product.n(), product.k(), {.path = path, .workspace = cap, .error = error});
      return cap;
    } catch (const std::invalid_argument&) {
      if (cap > 0x1p34) throw;
    }
}

/// Compares blocks of C in a caller's workspace that is as small as possible.
bool compare_blocks(cudaStream_t stream) {
  Section section("blocks of C");
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    auto product = sampled(600, 50000 + seed);
    const auto reference = expected(product);
    for (const auto path : paths) {
      const double cap = least_cap(product, path);
      const DeviceGemm multiply(product.plan, product.m(), product.n(), product.k(), {.path = path, .workspace = cap});
      section.expect(static_cast<double>(multiply.workspace()) <= cap, [&] { return "workspace, " + describe(product); });
      const DeviceArray<std::uint8_t> workspace(static_cast<Index>(multiply.workspace()) + 1024, stream);
      const auto address = (reinterpret_cast<std::uintptr_t>(workspace.data()) + 1023) / 1024 * 1024;
      const OnDevice device(product, stream);
      multiply(device.product(), reinterpret_cast<void*>(address), stream);
      compare_results(reference, device.result(), product, "C", section);
    }
  }
  return section.report();
}

/// C0 in the storage of C.
StoredMatrix in_place_of_c0(const SampledProduct& product) {
  auto c = product.c;
  const auto c0 = product.c0.input();
  for (Index i = 0; i < product.m(); ++i)
    for (Index j = 0; j < product.n(); ++j)
      c.set(i, j, static_cast<double>(static_cast<float>(double_from_bits(c0.bits(i, j)))));
  return c;
}

StoredMatrix expected_in_place(const SampledProduct& product) {
  static const CpuEngine cpu;
  auto c = product.c;
  multiply_unproven({product.a.input(), product.b.input(), c.output(), product.alpha, product.beta, c.input()}, product.plan,
                    cpu);
  return c;
}

/// Compares products with alpha and beta in device memory, zeros and specials among them, also with C in place of C0.
bool compare_device_scalars(cudaStream_t stream) {
  Section section("scalars on the device");
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto product = sampled(60, 60000 + seed);
    if (seed % 3 == 0) product.alpha = 0;
    const bool in_place = seed % 2 == 0 && !is_zero(product.beta);
    if (in_place) product.c = in_place_of_c0(product);
    const auto reference = in_place ? expected_in_place(product) : expected(product);
    const auto scalars = std::vector<double>{product.alpha, product.beta};
    const DeviceArray<double> memory(2, stream);
    check(cudaMemcpyAsync(memory.data(), scalars.data(), 16, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    for (const auto path : paths) {
      const OnDevice device(product, stream);
      auto call = device.product();
      call.alpha = -7, call.beta = 5;  // these values must not be used
      if (in_place) call.c0 = call.c.as_input();
      DeviceGemm multiply(product.plan, product.m(), product.n(), product.k(), {.path = path});
      multiply(call, stream, {memory.data(), memory.data() + 1});
      compare_results(reference, device.result(), product, "C", section);
    }
  }
  return section.report();
}

/// The exact product, rounded once.
StoredMatrix correctly_rounded(const SampledProduct& product) {
  auto c = product.c;
  const RealProduct call{product.a.input(), product.b.input(), c.output(), product.alpha, product.beta, product.c0.input()};
  apply_specials(call, 1);
  multiply_exactly(call, 1);
  return c;
}

/// Compares graphs. Capture fails if a call waits, allocates or uses another stream; the graph must use new contents of the
/// same memory.
bool compare_graphs(cudaStream_t stream) {
  Section section("captured in graphs");
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const double error = seed % 3 == 0 ? double_from_bits(binary64.inf) : 0;  // every entry finished exactly, or none
    auto product = sampled(150, 70000 + seed);
    for (const auto path : paths) {
      const OnDevice device(product, stream);
      DeviceGemm multiply(product.plan, product.m(), product.n(), product.k(), {.path = path, .error = error});
      multiply(device.product(), stream);  // its workspace exists from now on
      cudaGraph_t graph{};
      cudaGraphExec_t captured{};
      check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
      multiply(device.product(), stream);
      check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
      check(cudaGraphInstantiate(&captured, graph, 0), "cudaGraphInstantiate");
      auto other = product;
      if (product.m() > 0 && product.k() > 0) {
        other.a.set(0, 0, 0.375);
        check(cudaMemcpyAsync(origin_of(device.product().a), origin_of(other.a.input()), other.a.storage().single ? 4 : 8,
                              cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
      }
      check(cudaGraphLaunch(captured, stream), "cudaGraphLaunch");
      compare_results(error == 0 ? expected(other) : correctly_rounded(other), device.result(), other, "C", section);
      check(cudaGraphExecDestroy(captured), "cudaGraphExecDestroy");
      check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    }
  }
  return section.report();
}

/// Compares correct rounding under a bound that decides all, some or no entries, also in blocks and in graphs. Every plan's sum
/// is within 2^10 k of AB, relative to the scales; +Inf decides nothing.
bool compare_correct_rounding(cudaStream_t stream) {
  Section section("correctly rounded");
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto product = sampled(seed % 4 == 0 ? 300 : 60, 80000 + seed);
    product.plan =
        SplitPlan::balanced(5 + static_cast<int>(seed % 6), 5 + static_cast<int>(seed % 5), 12 - static_cast<int>(seed % 3));
    product.plan.cut = std::min(product.plan.cut, product.plan.a.slices + product.plan.b.slices);
    const auto reference = correctly_rounded(product);
    const int left = 8 * std::min({product.plan.a.slices, product.plan.b.slices, product.plan.cut - 2}) - 12;
    const double error = std::ldexp(static_cast<double>(product.k() + 1), -left);
    for (const auto path : paths)
      for (const double bound : {error, double_from_bits(binary64.inf)}) {
        const OnDevice device(product, stream);
        DeviceGemm multiply(
            product.plan, product.m(), product.n(), product.k(),
            {.path = path, .workspace = seed % 3 == 0 ? least_cap(product, path, bound) : unlimited_workspace, .error = bound});
        multiply(device.product(), stream);
        compare_results(reference, device.result(), product, "C", section);
      }
  }
  return section.report();
}

/// A matrix with the shape and storage of another, and its elements at other places.
StoredMatrix moved(const StoredMatrix& matrix, Index by) {
  StoredMatrix other(matrix.rows(), matrix.cols(), matrix.storage());
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j)
      other.set(i, j, matrix.value((i + by) % matrix.rows(), (j + 2 * by) % matrix.cols()));
  return other;
}

/// Matrices of one storage, one after the other in device memory, or one shared by all products.
class DeviceMatrices {
 public:
  DeviceMatrices(std::vector<StoredMatrix> hosts, Index gap, cudaStream_t stream)
      : hosts_(std::move(hosts)), size_(hosts_[0].storage().single ? sizeof(float) : sizeof(double)) {
    const auto& first = hosts_[0];
    length_ = (first.storage().column_major ? first.cols() : first.rows()) * first.ld();
    stride_ = hosts_.size() == 1 ? 0 : length_ + gap;
    memory_ = DeviceArray<std::uint8_t>(static_cast<Index>(hosts_.size() * size_) * (length_ + gap), stream);
    for (std::size_t t = 0; t < hosts_.size(); ++t) copy(at(t), origin_of(hosts_[t].input()), cudaMemcpyHostToDevice, stream);
  }

  [[nodiscard]] Index stride() const { return stride_; }
  [[nodiscard]] OutputView view() {
    return std::visit(
        [&]<class T>(const MatrixView<T>& v) {
          auto* const data = v.empty() ? nullptr : reinterpret_cast<T*>(memory_.data());
          return OutputView(MatrixView<T>(data, v.rows(), v.cols(), v.row_stride(), v.col_stride()));
        },
        hosts_[0].output().typed());
  }
  [[nodiscard]] StoredMatrix result(std::size_t t, cudaStream_t stream) {
    auto host = hosts_[t];
    copy(origin_of(host.input()), at(t), cudaMemcpyDeviceToHost, stream);
    return host;
  }

 private:
  [[nodiscard]] std::uint8_t* at(std::size_t t) const { return memory_.data() + t * static_cast<std::size_t>(stride_) * size_; }
  void copy(void* to, const void* from, cudaMemcpyKind kind, cudaStream_t stream) const {
    const auto bytes = static_cast<std::size_t>(length_) * size_;
    if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  std::vector<StoredMatrix> hosts_;
  std::size_t size_;
  Index length_ = 0, stride_ = 0;
  DeviceArray<std::uint8_t> memory_;
};

/// Several copies of a product with different elements, except in operands that all share.
struct BatchCase {
  static constexpr Index count = 5;
  std::vector<SampledProduct> products;
  bool shared_a, shared_b;
  DeviceMatrices a, b, c0, c;

  BatchCase(const SampledProduct& product, std::uint64_t seed, cudaStream_t stream)
      : products(made(product, seed)),
        shared_a(seed % 3 == 1),
        shared_b(seed % 4 == 2),
        a(of(&SampledProduct::a, shared_a), 3, stream),
        b(of(&SampledProduct::b, shared_b), 0, stream),
        c0(of(&SampledProduct::c0, false), 1, stream),
        c(of(&SampledProduct::c, false), 5, stream) {}

  [[nodiscard]] RealProduct product() {
    const auto& product = products[0];
    return {a.view().as_input(), b.view().as_input(), c.view(), product.alpha, product.beta, c0.view().as_input()};
  }
  [[nodiscard]] gpu::DeviceBatch batch() const { return {count, a.stride(), b.stride(), c.stride(), c0.stride()}; }

  void compare(Section& section, cudaStream_t stream) {
    for (std::size_t t = 0; t < products.size(); ++t)
      compare_results(expected(products[t]), c.result(t, stream), products[t], "C of a batch", section);
  }

 private:
  static std::vector<SampledProduct> made(const SampledProduct& product, std::uint64_t seed) {
    std::vector<SampledProduct> all;
    for (Index t = 0; t < count; ++t) {
      all.push_back(product);
      if (seed % 3 != 1) all.back().a = moved(product.a, t);
      if (seed % 4 != 2) all.back().b = moved(product.b, 2 * t);
      all.back().c0 = moved(product.c0, t);
    }
    return all;
  }
  [[nodiscard]] std::vector<StoredMatrix> of(StoredMatrix SampledProduct::* matrix, bool shared) const {
    std::vector<StoredMatrix> all;
    for (const auto& product : products)
      if (all.empty() || !shared) all.push_back(product.*matrix);
    return all;
  }
};

/// Compares batches in one call, in the caller's order of blocks and in a graph, with kept slices of the shared operands.
bool compare_batches(cudaStream_t stream) {
  Section batches("batches"), blocks("batches in blocks"), graphs("batches in graphs"), kept("kept slices");
  const gpu::CudaEngine engine;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto product = sampled(seed % 5 == 0 ? 300 : 60, 110000 + seed);
    for (const auto path : paths) {
      const auto run = [&](Section& section, const auto& multiply) {
        BatchCase batch(product, seed, stream);
        multiply(batch);
        batch.compare(section, stream);
      };
      DeviceGemm whole(product.plan, product.m(), product.n(), product.k(), {.path = path});
      run(batches, [&](BatchCase& batch) { whole(batch.product(), stream, {}, batch.batch()); });
      DeviceGemm small(product.plan, product.m(), product.n(), product.k(),
                       {.path = path, .workspace = least_cap(product, path)});
      run(blocks, [&](BatchCase& batch) { small(batch.product(), stream, {}, batch.batch()); });
      run(graphs, [&](BatchCase& batch) {
        cudaGraph_t graph{};
        cudaGraphExec_t captured{};
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
        whole(batch.product(), stream, {}, batch.batch());
        check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
        check(cudaGraphInstantiate(&captured, graph, 0), "cudaGraphInstantiate");
        check(cudaGraphLaunch(captured, stream), "cudaGraphLaunch");
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        check(cudaGraphExecDestroy(captured), "cudaGraphExecDestroy");
        check(cudaGraphDestroy(graph), "cudaGraphDestroy");
      });
      for (auto* multiply : {&whole, &small})
        run(kept, [&](BatchCase& batch) {
          const IntegerOperand a = engine.slice(batch.product().a, Side::rows_of_a, product.plan.a);
          const IntegerOperand b = engine.slice(batch.product().b, Side::columns_of_b, product.plan.b);
          (*multiply)(batch.product(), stream, {}, batch.batch(),
                      {batch.shared_a ? &a : nullptr, batch.shared_b ? &b : nullptr});
          check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        });
    }
  }
  bool good = true;
  for (const auto* section : {&batches, &blocks, &graphs, &kept}) good = section->report() && good;
  return good;
}

/// Compares products that keep slices of both operands, whole or in blocks.
bool compare_kept(cudaStream_t stream) {
  Section section("both operands' slices kept");
  const gpu::CudaEngine engine;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const bool in_blocks = seed % 4 == 0;
    auto product = sampled(in_blocks ? 600 : 80, 120000 + seed);
    for (const auto path : paths) {
      const OnDevice device(product, stream);
      const IntegerOperand a = engine.slice(device.product().a, Side::rows_of_a, product.plan.a);
      const IntegerOperand b = engine.slice(product.b.input(), Side::columns_of_b, product.plan.b);
      const double cap = in_blocks ? least_cap(product, path) : unlimited_workspace;
      DeviceGemm multiply(product.plan, product.m(), product.n(), product.k(), {.path = path, .workspace = cap});
      multiply(device.product(), stream, {}, {}, {&a, &b});
      compare_results(expected(product), device.result(), product, "C", section);
    }
  }
  return section.report();
}

/// Checks the refusals of batches and of kept slices.
void refuse_batches(const auto& refuses, cudaStream_t stream) {
  const auto plan = SplitPlan::balanced(2, 3, 4);
  const DeviceArray<double> memory(100, stream);
  const auto view = [&](Index at, Index rows, Index cols) {
    return MatrixView<double>(memory.data() + at, rows, cols, cols, 1);
  };
  const RealProduct call{view(0, 2, 3), view(20, 3, 2), view(50, 2, 2), 1, 1, view(80, 2, 2)};
  DeviceGemm multiply(plan, 2, 2, 3);
  const auto with = [&](const gpu::DeviceBatch& batch) { multiply(call, stream, {}, batch); };
  refuses("batch.count", [&] { with({.count = -1}); });
  refuses("batch.stride_a", [&] { with({2, -1, 0, 4, 4}); });
  refuses("batch.stride_b", [&] { with({2, 0, -1, 4, 4}); });
  refuses("batch.stride_c must not", [&] { with({2, 0, 0, -4, 4}); });
  refuses("batch.stride_c0", [&] { with({2, 0, 0, 4, -4}); });
  refuses("batch.stride_c must keep", [&] { with({2, 0, 0, 3, 4}); });
  refuses("batch.stride_c must keep", [&] { with({3, 0, 0, 0, 4}); });
  refuses("a of a product must not overlap", [&] { with({3, 25, 0, 4, 4}); });
  refuses("b of a product must not overlap", [&] { with({3, 0, 15, 4, 4}); });
  refuses("c0 of a product must not overlap", [&] { with({8, 0, 0, 4, 0}); });
  const gpu::CudaEngine engine;
  const CpuEngine cpu;
  const Matrix<double> a(2, 3), b(3, 2), longer(2, 4);
  const auto keep = [&](const IntegerOperand& kept, bool of_a, const gpu::DeviceBatch& batch = {}) {
    multiply(call, stream, {}, batch, {of_a ? &kept : nullptr, of_a ? nullptr : &kept});
  };
  refuses("kept.a must have been prepared on device", [&] { keep(cpu.slice(a, Side::rows_of_a, plan.a), true); });
  refuses("kept.a must be rows", [&] { keep(engine.slice(b, Side::columns_of_b, plan.a), true); });
  refuses("kept.b must be columns", [&] { keep(engine.slice(a, Side::rows_of_a, plan.b), false); });
  refuses("kept.b must have the slices", [&] { keep(engine.slice(b, Side::columns_of_b, plan.a), false); });
  refuses("kept.a must be of a product", [&] { keep(engine.slice(longer, Side::rows_of_a, plan.a), true); });
  refuses("kept.a must be of an operand", [&] { keep(engine.slice(a, Side::rows_of_a, plan.a), true, {2, 6, 0, 4, 4}); });
}

bool compare_refusals(cudaStream_t stream) {
  Section section("refusals");
  const auto refuses = [&](const std::string& what, const auto& call) {
    std::string said = "nothing";
    try {
      call();
    } catch (const std::invalid_argument& error) {
      said = error.what();
    }
    section.expect(said.find(what) != std::string::npos, [&] { return "'" + said + "' does not name '" + what + "'"; });
  };
  const auto plan = SplitPlan::balanced(7, 7, 8);
  refuses("m must not be negative", [&] { DeviceGemm(plan, -1, 1, 1); });
  refuses("device", [&] { DeviceGemm(plan, 1, 1, 1, {.device = -1}); });
  refuses("error", [&] { DeviceGemm(plan, 1, 1, 1, {.error = -1}); });
  refuses("cut", [&] { DeviceGemm(SplitPlan::balanced(2, 2, 9), 1, 1, 1); });
  refuses("workspace", [&] { DeviceGemm(plan, 10, 10, 10, {.workspace = 1}); });
  auto product = sampled(20, 3);
  const OnDevice device(product, stream);
  DeviceGemm other(plan, product.m() + 1, product.n(), product.k());
  refuses("the call must be", [&] { other(device.product(), stream); });
  const DeviceGemm same(plan, product.m(), product.n(), product.k());
  refuses("workspace", [&] { same(device.product(), nullptr, stream); });
  refuse_batches(refuses, stream);
  return section.report();
}

}  // namespace
}  // namespace ozbound::mirror

int main() {
  using namespace ozbound;
  return mirror::compare_on_device([] {
    auto* const stream = mirror::new_stream();
    bool good = true;
    for (const auto compare : {mirror::compare_paths, mirror::compare_blocks, mirror::compare_device_scalars,
                               mirror::compare_graphs, mirror::compare_correct_rounding, mirror::compare_long_vectors,
                               mirror::compare_batches, mirror::compare_kept, mirror::compare_refusals})
      good = mirror::holds([&] { return compare(stream); }) && good;
    return good;
  });
}
