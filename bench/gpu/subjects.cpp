// SPDX-License-Identifier: BSD-3-Clause
#include "subjects.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "cuda_check.hpp"
#include "device_operands.hpp"
#include "fast_slicing.hpp"
#include "fused.hpp"
#include "lt_product.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/gpu/device_gemm.hpp"
#include "product_launcher.hpp"
#include "random_matrix.hpp"
#include "slicing.hpp"
#include "transfer.hpp"

namespace ozbound::bench {
namespace {

using gpu::check;
using gpu::DeviceArray;
using gpu::Path;

/// A launch as a graph, which removes the host's time from small products.
std::function<void(cudaStream_t)> captured(const std::function<void(cudaStream_t)>& launch, cudaStream_t stream) {
  launch(stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  cudaGraph_t graph{};
  cudaGraphExec_t executable{};
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  launch(stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  const std::shared_ptr<CUgraphExec_st> owned(executable, cudaGraphExecDestroy);
  return [owned](cudaStream_t on) { check(cudaGraphLaunch(owned.get(), on), "cudaGraphLaunch"); };
}

const char* suffix(Path path) { return path == Path::cublaslt ? "/cuBLASLt" : path == Path::portable ? "/portable" : ""; }

/// Slicing of both operands, and the rest of the product, for a plan that the fused kernel multiplies. Empty for other plans.
std::vector<Subject> phases(const std::string& plan, const Shape& shape, const RealProduct& call, cudaStream_t stream) {
  struct Work {
    gpu::FusedProduct fused{0};
    DeviceArray<std::uint8_t> memory;
    gpu::SlicingJob a, b;
    gpu::DeviceEpilogue epilogue;
    void* workspace;
  };
  const auto work = std::make_shared<Work>();
  const auto parsed = parse_plan(plan).split();
  if (!work->fused.applies(parsed, shape.m, shape.n, shape.k)) return {};
  const auto matrix = [](const auto& view) {
    return gpu::DeviceMatrix{const_cast<double*>(view.data()), view.row_stride(), view.col_stride(), true};
  };
  const auto take = [&](gpu::Arena arena) {
    work->a = {matrix(std::get<0>(call.a.typed())), gpu::take_slices(arena, false, parsed.a, shape.m, shape.k)};
    work->b = {matrix(std::get<0>(call.b.typed())), gpu::take_slices(arena, true, parsed.b, shape.n, shape.k)};
    std::swap(work->b.vectors.row_stride, work->b.vectors.col_stride);
    work->workspace = arena.take<std::uint8_t>(static_cast<Index>(work->fused.workspace(parsed)));
    return arena.used();
  };
  const auto bytes = take(gpu::Arena{});
  work->memory = {static_cast<Index>(bytes + gpu::Arena::alignment), stream};
  take(gpu::Arena::aligned(work->memory.data(), bytes));
  work->epilogue.c = matrix(std::get<0>(call.c.typed()));
  const auto slice = [work](cudaStream_t on) { gpu::launch_fast_slicing(work->a, work->b, on); };
  const auto multiply = [work, parsed](cudaStream_t on) {
    work->fused.launch(work->a.slices, work->b.slices, parsed, work->epilogue, {}, work->workspace, on);
  };
  const auto kept = [work](std::function<void(cudaStream_t)> launch) {
    return [work, launch = std::move(launch)](cudaStream_t on) { launch(on); };
  };
  slice(stream);
  return {{plan + "/slicing", 0, kept(captured(slice, stream)), 0, true},
          {plan + "/multiplying+combining", static_cast<double>(parsed.products()), kept(captured(multiply, stream)), 0, true}};
}

/// Making the residues of both operands, and the rest of the product.
std::vector<Subject> residue_phases(const std::string& plan, const Shape& shape, const RealProduct& call, cudaStream_t stream) {
  struct Work {
    gpu::Kernels kernels{0};
    std::optional<gpu::ProductLauncher> product;
    DeviceArray<std::uint8_t> memory;
    gpu::SlicingJob a, b;
    std::uint8_t* sums = nullptr;
  };
  const auto work = std::make_shared<Work>();
  const auto parsed = parse_plan(plan);
  constexpr double sum_bytes = 0x1p32;
  work->product.emplace(parsed, shape.m, shape.n, shape.k, sum_bytes, Path::automatic, work->kernels);
  work->product->prepare();
  const auto take = [&](gpu::Arena arena) {
    const auto forms = operand_forms(parsed);
    work->a = {gpu::matrix_of(call.a), gpu::take_operand(arena, forms.a, Side::rows_of_a, shape.m, shape.k)};
    work->b = {gpu::transposed(gpu::matrix_of(call.b)),
               gpu::take_operand(arena, forms.b, Side::columns_of_b, shape.n, shape.k)};
    work->sums = arena.take<std::uint8_t>(static_cast<Index>(work->product->bytes()));
    return arena.used();
  };
  const auto bytes = take(gpu::Arena{});
  work->memory = {static_cast<Index>(bytes + gpu::Arena::alignment), stream};
  take(gpu::Arena::aligned(work->memory.data(), bytes));
  const auto make = [work, parsed](cudaStream_t on) {
    gpu::launch_operands(parsed, &work->a, &work->b, work->product->path(), on);
  };
  const auto multiply = [work, c = gpu::matrix_of(call.c.as_input())](cudaStream_t on) {
    const gpu::Arena arena(work->sums, static_cast<std::size_t>(work->product->bytes()));
    work->product->launch(work->a.slices, work->b.slices, {.c = c}, {}, arena, on);
  };
  const auto kept = [work](std::function<void(cudaStream_t)> launch) {
    return [work, launch = std::move(launch)](cudaStream_t on) { launch(on); };
  };
  make(stream);
  return {
      {plan + "/residues", 0, kept(captured(make, stream)), 0, true},
      {plan + "/multiplying+recovering", static_cast<double>(parsed.products()), kept(captured(multiply, stream)), 0, true}};
}

/// INT8 products by cuBLASLt with a long inner dimension: the rate that the device reaches.
Subject ceiling(const Shape& shape) {
  struct Work {
    gpu::LtProduct lt{0};
    gpu::LtProduct::Shape shape;
    DeviceArray<double> rows, columns;  // random bits
    DeviceArray<std::int32_t> sums;
    DeviceArray<std::uint8_t> workspace;
  };
  const auto work = std::make_shared<Work>();
  const Index inner = 4 * (shape.k / 16) * 16;
  work->shape = {shape.m, shape.n, inner, inner, inner};
  const auto stream = cudaStreamPerThread;
  work->rows = {shape.m * inner / 8, stream}, work->columns = {shape.n * inner / 8, stream};
  work->sums = {shape.m * shape.n, stream};
  work->workspace = {static_cast<Index>(gpu::LtProduct::workspace_bytes), stream};
  fill_random(work->rows.data(), shape.m * inner / 8, 3, stream);
  fill_random(work->columns.data(), shape.n * inner / 8, 4, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  work->lt.tune(work->shape);
  return {"INT8 by cuBLASLt", 4, [work](cudaStream_t on) {
            work->lt.launch(work->shape, reinterpret_cast<const std::int8_t*>(work->rows.data()),
                            reinterpret_cast<const std::int8_t*>(work->columns.data()), work->sums.data(),
                            work->workspace.data(), on);
          }};
}

constexpr const char* others[] = {plan_of_21,
                                  "balanced:8x8:cut=9:exact",
                                  "balanced:5x5:cut=6:exact",
                                  "balanced:4x4:cut=5:exact",
                                  "balanced:3x3:cut=4:exact",
                                  "balanced:2x2:cut=3:exact",
                                  "nearest7:8x8:cut=9:exact"};
constexpr int moduli[] = {8, 13, 15, 18};
constexpr int divided_moduli = 13;  ///< the number of moduli whose phases are timed separately too
constexpr Index largest_portable = 512, least_ceiling = 2048;

}  // namespace

std::string widest_residues(int count, Index k) {
  const int both = ResidueBase::of(count).half.bits() - 1 - bit_length(static_cast<std::uint64_t>(k));
  return to_string(Plan(ResiduePlan{count, (both + 1) / 2, both / 2}));
}

Problem::Problem(const Shape& shape, cudaStream_t stream)
    : shape_(shape), a_(shape.m * shape.k, stream), b_(shape.k * shape.n, stream), c_(shape.m * shape.n, stream) {
  fill_random(a_.data(), shape.m * shape.k, 1, stream);
  fill_random(b_.data(), shape.k * shape.n, 2, stream);
}

RealProduct Problem::product() const {
  return {InputView(MatrixView<const double>(a_.data(), shape_.m, shape_.k, 1, shape_.m)),
          InputView(MatrixView<const double>(b_.data(), shape_.k, shape_.n, 1, shape_.k)),
          OutputView(MatrixView<double>(c_.data(), shape_.m, shape_.n, 1, shape_.m))};
}

Subject Problem::blas(const std::string& name, Cublas::Way way) const {
  const auto dgemm = std::make_shared<Cublas>(way);
  return {name, 0, [dgemm, shape = shape_, x = a_.data(), y = b_.data(), z = c_.data()](cudaStream_t on) {
            (*dgemm)(x, y, z, shape.m, shape.n, shape.k, on);
          }};
}

Subject Problem::product(const std::string& plan, Path path, cudaStream_t stream) const {
  const auto parsed = parse_plan(plan);
  const auto gemm =
      std::make_shared<gpu::DeviceGemm>(parsed, shape_.m, shape_.n, shape_.k, gpu::DeviceGemm::Options{.path = path});
  const auto launch = captured([gemm, call = product()](cudaStream_t on) { (*gemm)(call, on); }, stream);
  return {plan + suffix(path), static_cast<double>(parsed.products()), [gemm, launch](cudaStream_t on) { launch(on); },
          gemm->workspace()};
}

std::vector<Subject> subjects_for(const Problem& problem, cudaStream_t stream) {
  const auto& shape = problem.shape();
  const auto call = problem.product();
  std::vector<Subject> subjects{problem.blas("cublasDgemm", Cublas::Way::native)};
  if (Cublas::can_emulate()) subjects.push_back(problem.blas("cuBLAS emulation, 55 bits", Cublas::Way::emulated));
  const auto add = [&](const char* plan, Path path) { subjects.push_back(problem.product(plan, path, stream)); };
  add(plan_of_28, Path::automatic);
  for (auto& phase : phases(plan_of_28, shape, call, stream)) subjects.push_back(std::move(phase));
  if (gpu::LtProduct::applies(parse_plan(plan_of_28).split())) {
    add(plan_of_28, Path::cublaslt);
    if (std::min(shape.m, shape.n) >= least_ceiling) subjects.push_back(ceiling(shape));
  }
  if (std::max({shape.m, shape.n, shape.k}) <= largest_portable) add(plan_of_28, Path::portable);
  for (const auto* plan : others) add(plan, Path::automatic);
  const auto add_residues = [&](int count, Path path) {
    try {
      const auto plan = widest_residues(count, shape.k);
      add(plan.c_str(), path);
      if (count != divided_moduli || path != Path::automatic) return;
      for (auto& phase : residue_phases(plan, shape, call, stream)) subjects.push_back(std::move(phase));
    } catch (const OutOfMemory&) {
      std::printf("left out for want of device memory: %d moduli%s\n", count, suffix(path));
    }
  };
  for (const auto path : {Path::automatic, Path::cublaslt})
    for (const int count : moduli) add_residues(count, path);
  return subjects;
}

}  // namespace ozbound::bench
