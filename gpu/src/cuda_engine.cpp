// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/gpu/cuda_engine.hpp"

#include <cuda_runtime_api.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "arena.hpp"
#include "cuda_check.hpp"
#include "cuda_device.hpp"
#include "cuda_residues.hpp"
#include "cuda_slices.hpp"
#include "device_matrices.hpp"
#include "device_operands.hpp"
#include "first_digits.hpp"
#include "host_facts.hpp"
#include "marked_entries.hpp"
#include "memory.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/overlap.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/detail/usable_threads.hpp"
#include "product_launcher.hpp"
#include "product_on_device.hpp"
#include "recovery.hpp"
#include "slicing.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

struct Operands {
  const DeviceSlices& a;
  const DeviceSlices& b;
};

Operands on_device(const IntegerOperand& a, const IntegerOperand& b, int device) {
  const auto *of_a = operand_on(device, a), *of_b = operand_on(device, b);
  if (of_a == nullptr || of_b == nullptr) throw std::invalid_argument("a and b must have been prepared on the engine's device");
  return {*of_a, *of_b};
}

DeviceProperties properties_of(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return {properties.name, std::to_string(properties.major) + "." + std::to_string(properties.minor),
          properties.totalGlobalMem};
}

}  // namespace

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

std::vector<DeviceProperties> devices() {
  std::vector<DeviceProperties> all;
  for (int device = 0; device < device_count(); ++device) all.push_back(properties_of(device));
  return all;
}

CudaEngine::CudaEngine(Options options) : options_(options) {
  if (options.device < 0) throw std::invalid_argument("device must not be negative: " + std::to_string(options.device));
  if (options.threads < 0) throw std::invalid_argument("threads must not be negative: " + std::to_string(options.threads));
  if (!(options.sum_bytes > 0)) throw std::invalid_argument("sum_bytes must be positive");
  if (options_.threads == 0) options_.threads = omp_get_max_threads();
  const CudaDevice device(options.device);
  kernels_ = std::make_shared<Kernels>(options.device);
  matrices_ = std::make_shared<const DeviceMatrices>(options.device, options_.threads);
}

SlicedMatrix CudaEngine::slice(InputView operand, Side side, Slicing slicing) const {
  const CudaDevice device(options_.device);
  return SlicedMatrix(std::make_shared<const CudaSlices>(operand, side, slicing, options_.device, cudaStreamPerThread));
}

bool CudaEngine::takes(const IntegerOperand& operand) const { return operand_on(options_.device, operand) != nullptr; }

IntegerOperand CudaEngine::prepare(InputView operand, Side side, const OperandForm& form) const {
  const auto* const residues = std::get_if<ResidueForm>(&form);
  if (residues == nullptr) return Engine::prepare(operand, side, form);
  const CudaDevice device(options_.device);
  return ResidueMatrix(std::make_shared<const CudaResidues>(operand, side, *residues, options_.device, cudaStreamPerThread));
}

SliceFacts CudaEngine::measure(InputView operand, Side side, Slicing slicing) const {
  if (slicing.slices < 1 || slicing.slices > max_slices) return {operand, side, slicing, 1};  // throws
  const CudaDevice device(options_.device);
  const auto stream = cudaStreamPerThread;
  const auto vectors = vectors_of(operand, side);
  Arena needed;
  take_facts(needed, slicing, vectors.rows());
  const Memory memory(needed.used(), stream);
  auto arena = memory.arena();
  const auto facts = take_facts(arena, slicing, vectors.rows());
  const DeviceOperand copy(vectors, "operand", stream);
  launch_facts(copy.matrix(), vectors.cols(), facts, stream);
  return copy_facts_to_host(facts, stream);
}

std::vector<VectorNorms> CudaEngine::norms(InputView operand, Side side) const {
  const CudaDevice device(options_.device);
  const auto stream = cudaStreamPerThread;
  const auto vectors = vectors_of(operand, side);
  return vector_norms_of(DeviceOperand(vectors, "operand", stream).matrix(), vectors.rows(), vectors.cols(), stream);
}

std::uint64_t CudaEngine::largest_units(InputView a, InputView b) const {
  constexpr Slicing one_digit{Encoding::balanced(), 1};
  const Index m = a.rows(), n = b.cols(), k = a.cols();
  if (m == 0 || n == 0) return 0;
  const CudaDevice device(options_.device);
  const auto stream = cudaStreamPerThread;
  const ProductLauncher launcher(SplitPlan{one_digit, one_digit, 2, Accumulation::exact}, m, n, k, options_.sum_bytes,
                                 Path::cublaslt, *kernels_);
  launcher.prepare();
  struct Parts {
    DeviceSlices a, b;
    std::int64_t *row_sums, *column_sums;
    std::uint64_t* largest;
    std::uint8_t* sums;
  };
  const auto take = [&](Arena& arena) {
    return Parts{take_slices(arena, false, one_digit, m, k),
                 take_slices(arena, true, one_digit, n, k),
                 arena.take<std::int64_t>(m),
                 arena.take<std::int64_t>(n),
                 arena.take<std::uint64_t>(1),
                 arena.take<std::uint8_t>(static_cast<Index>(launcher.bytes()))};
  };
  Arena needed;
  take(needed);
  const Memory memory(needed.used(), stream);
  auto arena = memory.arena();
  const auto parts = take(arena);
  const DeviceOperand left(vectors_of(a, Side::rows_of_a), "a", stream), right(vectors_of(b, Side::columns_of_b), "b", stream);
  launch_first_magnitudes(left.matrix(), parts.a, stream);
  launch_first_magnitudes(right.matrix(), parts.b, stream);
  launch_digit_sums(parts.a, parts.row_sums, stream);
  launch_digit_sums(parts.b, parts.column_sums, stream);
  check(cudaMemsetAsync(parts.largest, 0, sizeof *parts.largest, stream), "cudaMemsetAsync");
  launcher.for_each_block(parts.a, parts.b, Arena(parts.sums, static_cast<std::size_t>(launcher.bytes())), stream,
                          [&](const Block& block, const BlockSums<std::int64_t>& sums) {
                            launch_largest_units(block, {sums.data, sums.group_stride, sums.row_stride, sums.col_stride},
                                                 parts.row_sums, parts.column_sums, k, parts.largest, stream);
                          });
  return copy_to_host(parts.largest, 1, stream)[0];
}

std::vector<Entry> CudaEngine::multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan,
                                        const Epilogue& epilogue, OutputView c) const {
  check_operands(a, b, plan);
  const Index m = a.count(), n = b.count();
  check_epilogue(epilogue, c, m, n);
  const auto operands = on_device(a, b, options_.device);
  if (m == 0 || n == 0) return {};
  const CudaDevice device(options_.device);
  const auto stream = cudaStreamPerThread;
  const ProductLauncher launcher(plan, m, n, a.inner_dimension(), options_.sum_bytes, options_.path, *kernels_);
  launcher.prepare();
  const Memory memory(static_cast<std::size_t>(launcher.bytes()), stream);

  DeviceEpilogue last{.alpha = epilogue.alpha, .beta = epilogue.beta};
  const DeviceOperand result(c.as_input(), "c", stream);  // entries that are not written keep their values
  last.c = last.c0 = result.matrix();
  DeviceOperand addend;
  if (!is_zero(epilogue.beta) && !same_elements(epilogue.c0, c)) {
    addend = DeviceOperand(epilogue.c0, "c0", stream);
    last.c0 = addend.matrix();
  }
  std::optional<ZivBoundOnDevice> bound;
  std::optional<MarkedEntries> open;
  if (epilogue.error) {
    last.bound = bound.emplace(epilogue.error, m, n, options_.device, stream).data();
    open.emplace(m, n, stream).add_to(last);
  }
  poll_cancelled();  // after this the launched work is waited for
  launcher.launch(operands.a, operands.b, last, {}, memory.arena(), stream);
  result.write_to(c, stream);
  auto entries = open ? open->in_order(stream) : std::vector<Entry>{};
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return entries;
}

bool CudaEngine::takes_whole(const RealProduct& product, const Plan& plan, KeptOperands kept) const {
  const auto fits = [&](const IntegerOperand* operand, Side side, Index count) {
    return operand == nullptr || (takes(*operand) && operand->side() == side && operand->serves(plan.form(side)) &&
                                  operand->count() == count && operand->inner_dimension() == product.k());
  };
  return fits(kept.a, Side::rows_of_a, product.m()) && fits(kept.b, Side::columns_of_b, product.n()) && all_on_device(product);
}

bool CudaEngine::start(const RealProduct& product, const Plan& plan, KeptOperands kept) const {
  const CudaDevice device(options_.device);
  return takes_whole(product, plan, kept) && launch_product(product, plan, kept, {});
}

std::optional<std::vector<Entry>> CudaEngine::multiply_whole(const RealProduct& product, const Plan& plan, KeptOperands kept,
                                                             ZivBound error) const {
  const CudaDevice device(options_.device);
  const auto stream = cudaStreamPerThread;
  if (product.m() == 0 || product.n() == 0 || !takes_whole(product, plan, kept)) return std::nullopt;
  DeviceEpilogue ziv;
  std::optional<ZivBoundOnDevice> bound;
  std::optional<MarkedEntries> open;
  try {
    if (error) {
      ziv.bound = bound.emplace(error, product.m(), product.n(), options_.device, stream).data();
      open.emplace(product.m(), product.n(), stream).add_to(ziv);
    }
  } catch (const OutOfMemory&) {  // continue in blocks
    return std::nullopt;
  }
  if (!launch_product(product, plan, kept, ziv)) return std::nullopt;
  auto entries = open ? open->in_order(stream) : std::vector<Entry>{};
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return entries;
}

bool CudaEngine::launch_product(const RealProduct& product, const Plan& plan, KeptOperands kept,
                                const DeviceEpilogue& ziv) const {
  check_inner_dimension(plan, product.k());
  const CudaDevice device(options_.device);
  const auto stream = cudaStreamPerThread;
  const ProductLauncher launcher(plan, product.m(), product.n(), product.k(), options_.sum_bytes, options_.path, *kernels_);
  struct Parts {
    DeviceSlices a, b;
    std::uint8_t* sums;
  };
  const auto take = [&](Arena& arena) {
    Parts parts;
    const auto [of_a, of_b] = operand_forms(plan);
    if (kept.a == nullptr) parts.a = take_operand(arena, of_a, Side::rows_of_a, product.m(), product.k());
    if (kept.b == nullptr) parts.b = take_operand(arena, of_b, Side::columns_of_b, product.n(), product.k());
    parts.sums = arena.take<std::uint8_t>(static_cast<Index>(launcher.bytes()));
    return parts;
  };
  Arena needed;
  take(needed);
  Memory memory;
  try {
    launcher.prepare();
    memory = Memory(needed.used(), stream);
  } catch (const OutOfMemory&) {
    return false;
  }
  poll_cancelled();  // after this, kernels read A and B
  auto arena = memory.arena();
  const auto parts = take(arena);
  const SlicingJob a{matrix_of(product.a), parts.a}, b{transposed(matrix_of(product.b)), parts.b};
  launch_operands(plan, kept.a == nullptr ? &a : nullptr, kept.b == nullptr ? &b : nullptr, launcher.path(), stream);
  const auto slices_of = [this](const IntegerOperand* kept_operand, const DeviceSlices& own) {
    return kept_operand == nullptr ? own : *operand_on(options_.device, *kept_operand);
  };
  auto last = ziv;
  last.alpha = product.alpha, last.beta = product.beta;
  last.c0 = matrix_of(product.c0), last.c = matrix_of(product.c.as_input());
  launcher.launch(slices_of(kept.a, a.slices), slices_of(kept.b, b.slices), last, {},
                  Arena(parts.sums, static_cast<std::size_t>(launcher.bytes())), stream);
  return true;
}

std::vector<Matrix<std::int64_t>> CudaEngine::group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                         const SplitPlan& plan) const {
  check_operands(a, b, plan);
  const auto operands = on_device(a, b, options_.device);
  return sums_of(plan, operands.a, operands.b, static_cast<int>(plan.groups(a.inner_dimension()).size()));
}

std::vector<Matrix<std::int64_t>> CudaEngine::recovered_groups(const ResidueMatrix& a, const ResidueMatrix& b,
                                                               const ResiduePlan& plan) const {
  check_operands(a, b, plan);
  const auto operands = on_device(a, b, options_.device);
  return sums_of(plan, operands.a, operands.b, residue_groups(plan.moduli));
}

std::vector<Matrix<std::int64_t>> CudaEngine::sums_of(const Plan& plan, const DeviceSlices& a, const DeviceSlices& b,
                                                      int groups) const {
  std::vector<Matrix<std::int64_t>> result;
  for (int t = 0; t < groups; ++t) result.emplace_back(a.count, b.count);
  if (a.count == 0 || b.count == 0) return result;
  const CudaDevice device(options_.device);
  const auto stream = cudaStreamPerThread;
  const auto summing = path(plan, a.count, b.count, a.inner) == Path::cublaslt ? Path::cublaslt : Path::portable;
  const ProductLauncher launcher(plan, a.count, b.count, a.inner, options_.sum_bytes, summing, *kernels_);
  launcher.prepare();
  const Memory memory(static_cast<std::size_t>(launcher.bytes()), stream);
  launcher.for_each_block(a, b, memory.arena(), stream, [&](const Block& block, const BlockSums<std::int64_t>& sums) {
    poll_cancelled();
    plan.visit([](const SplitPlan&) {},
               [&](const ResiduePlan& residues) { launch_recovered_groups(residues.moduli, block, sums, stream); });
    for (std::size_t t = 0; t < result.size(); ++t) {
      const auto group = copy_to_host(&sums.at(static_cast<Index>(t), 0, 0), sums.group_stride, stream);
      for (Index i = 0; i < block.rows; ++i)
        for (Index j = 0; j < block.columns; ++j)
          result[t](block.row + i, block.column + j) =
              group[static_cast<std::size_t>(i * sums.row_stride + j * sums.col_stride)];
    }
  });
  return result;
}

int CudaEngine::threads() const { return usable_threads(options_.threads); }

double CudaEngine::workspace(const Plan& plan, Index m, Index n, Index k) const {
  plan.validate();
  const auto elements = [](Index x, Index y) { return 8 * static_cast<double>(x) * static_cast<double>(y); };
  const auto bytes = [&](Side side, Index count) {
    const auto form = plan.form(side);
    if (const auto* const residues = std::get_if<ResidueForm>(&form)) return CudaResidues::bytes(count, k, *residues);
    return CudaSlices::bytes(count, k, std::get<Slicing>(form));
  };
  const double operand = std::max(elements(m, k), elements(k, n));  // one operand at a time, while its digits are made
  return bytes(Side::rows_of_a, m) + bytes(Side::columns_of_b, n) +
         std::max(operand,
                  3 * elements(m, n) + ProductLauncher(plan, m, n, k, options_.sum_bytes, options_.path, *kernels_).bytes());
}

Path CudaEngine::path(const Plan& plan, Index m, Index n, Index k) const {
  plan.validate();
  const CudaDevice device(options_.device);
  return ProductLauncher(plan, m, n, k, options_.sum_bytes, options_.path, *kernels_).path();
}

std::string CudaEngine::device_name() const {
  const auto facts = properties_of(options_.device);
  return facts.name + ", compute capability " + facts.compute_capability;
}

}  // namespace ozbound::gpu
