// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/gpu/device_gemm.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "arena.hpp"
#include "cuda_check.hpp"
#include "cuda_device.hpp"
#include "device_array.hpp"
#include "device_epilogue.hpp"
#include "device_operands.hpp"
#include "exact_finish.hpp"
#include "ozbound/core/detail/overlap.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/float_environment.hpp"
#include "product_launcher.hpp"
#include "specials.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

struct Shape {
  Index m, n, k;
};

std::string to_string(const Shape& shape) {
  return std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " + std::to_string(shape.k);
}

Shape checked(Index m, Index n, Index k) {
  for (const auto& [size, name] : {std::pair(m, "m"), {n, "n"}, {k, "k"}})
    if (size < 0) throw std::invalid_argument(std::string(name) + " must not be negative: " + std::to_string(size));
  return {m, n, k};
}

Index half_of(Index x) {
  constexpr auto step = DeviceSlices::vector_step;
  return (x / 2 + step - 1) / step * step;
}

/// A bound with the same value for every entry, in device memory.
class UniformBound {
 public:
  explicit UniformBound(double error) {
    if (is_zero(error)) return;
    const auto stream = cudaStreamPerThread;
    ends_ = copy_to_device<int>({0}, stream);  // one term without alternatives: +Inf
    bound_ = copy_to_device<DeviceBound>({{.ends = ends_.data(), .terms = 1, .uniform = error}}, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  [[nodiscard]] const DeviceBound* bound() const { return bound_.data(); }  ///< null if there is no error

 private:
  DeviceArray<int> ends_;
  DeviceArray<DeviceBound> bound_;
};

/// The entries of a block that Ziv's test leaves open.
struct OpenBits {
  std::uint32_t* bits = nullptr;
  unsigned long long* counts = nullptr;  ///< number of open entries, and a word that finishing counts with
  Index words = 0;

  OpenBits(Arena& arena, Index height, Index width) : words((height * width + 31) / 32) {
    bits = arena.take<std::uint32_t>(words);
    counts = arena.take<unsigned long long>(2);
  }

  void add_to(DeviceEpilogue& epilogue, cudaStream_t stream) const {
    check(cudaMemsetAsync(bits, 0, static_cast<std::size_t>(words) * sizeof *bits, stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(counts, 0, sizeof *counts, stream), "cudaMemsetAsync");
    epilogue.open = bits, epilogue.open_count = counts;
  }
};

/// A view of product t of a batch.
InputView shifted(const InputView& view, Index elements) {
  return std::visit(
      [elements](const auto& v) -> InputView {
        if (v.empty()) return v;
        return std::decay_t<decltype(v)>(v.data() + elements, v.rows(), v.cols(), v.row_stride(), v.col_stride());
      },
      view.typed());
}

OutputView shifted(const OutputView& view, Index elements) {
  return std::visit(
      [elements](const auto& v) -> OutputView {
        if (v.empty()) return v;
        return std::decay_t<decltype(v)>(v.data() + elements, v.rows(), v.cols(), v.row_stride(), v.col_stride());
      },
      view.typed());
}

RealProduct product_of(const RealProduct& product, const DeviceBatch& batch, Index t) {
  auto result = product;
  result.a = shifted(product.a, t * batch.stride_a), result.b = shifted(product.b, t * batch.stride_b);
  result.c = shifted(product.c, t * batch.stride_c), result.c0 = shifted(product.c0, t * batch.stride_c0);
  return result;
}

/// The range of bytes from the first to the last element of a batch's matrices.
struct Span {
  std::uintptr_t first, end;

  Span(const InputView& view, Index stride, Index count) {
    const auto of = [&](const auto& v) {
      const auto address = reinterpret_cast<std::uintptr_t>(v.data());
      const Index last = (count - 1) * stride + (v.rows() - 1) * v.row_stride() + (v.cols() - 1) * v.col_stride();
      return std::pair(address, address + static_cast<std::uintptr_t>(last + 1) * sizeof(*v.data()));
    };
    std::tie(first, end) = view.empty() ? std::pair<std::uintptr_t, std::uintptr_t>(0, 0) : std::visit(of, view.typed());
  }
  [[nodiscard]] bool meets(const Span& other) const { return first < other.end && other.first < end; }
};

/// Checks that no C of a batch overlaps memory that another product of the batch reads or writes.
void check_apart(const RealProduct& product, const DeviceBatch& batch, bool reads_c0) {
  for (const auto& [number, name] : {std::pair(batch.count, "batch.count"),
                                     {batch.stride_a, "batch.stride_a"},
                                     {batch.stride_b, "batch.stride_b"},
                                     {batch.stride_c, "batch.stride_c"},
                                     {batch.stride_c0, "batch.stride_c0"}})
    if (number < 0) throw std::invalid_argument(std::string(name) + " must not be negative: " + std::to_string(number));
  if (batch.count < 2 || product.c.as_input().empty()) return;
  for (Index t = 1; t < batch.count; ++t)
    if (overlap(product.c.as_input(), shifted(product.c, t * batch.stride_c)))
      throw std::invalid_argument("batch.stride_c must keep the products' c apart: " + std::to_string(batch.stride_c));
  const Span c(product.c.as_input(), batch.stride_c, batch.count);
  const auto check = [&](const InputView& view, Index stride, const char* name, bool in_place) {
    if (in_place && stride == batch.stride_c && same_elements(view, product.c)) return;  // the Cs, which do not overlap
    if (!c.meets(Span(view, stride, batch.count))) return;
    for (Index s = 0; s < batch.count; ++s)
      for (Index t = 0; t < batch.count; ++t)
        if (!(in_place && s == t) && overlap(shifted(view, s * stride), shifted(product.c, t * batch.stride_c)))
          throw std::invalid_argument(std::string(name) + " of a product must not overlap c of another");
  };
  check(product.a, batch.stride_a, "a", false);
  check(product.b, batch.stride_b, "b", false);
  if (reads_c0) check(product.c0, batch.stride_c0, "c0", true);
}

/// The slices or residues of vectors [first, first + count) of an operand.
DeviceSlices block_of(DeviceSlices slices, Index first, Index count) {
  slices.digits += first * slices.pitch();
  slices.exponents += first, slices.special += first, slices.tops += first;
  if (slices.weight_exponents != nullptr) slices.weight_exponents += first * slices.slices;
  slices.count = count;
  return slices;
}

/// Checks that a plan holds all operands. @throws std::invalid_argument for a plan by residues whose integers may be too large
/// for it.
void check_held_by_any(const Plan& plan, Index k) {
  plan.visit([](const SplitPlan&) {},
             [k](const ResiduePlan& residues) {
               // Each of k products of integers is at most 2^(bits_a + bits_b).
               WideInteger<5> most;
               most.add(static_cast<std::uint64_t>(std::max<Index>(k, 1)), residues.bits_a + residues.bits_b);
               if (shifted<5>(ResidueBase::of(residues.moduli).half, 0).less_than(most))
                 throw std::invalid_argument("plan: " + to_string(Plan(residues)) +
                                             " is not sure to hold any operands with k = " + std::to_string(k) +
                                             ": take more moduli, fewer bits, or set Options::held");
             });
}

/// The operands that a batch of products of a block takes from elsewhere. Null digits: the operand is made in the call.
struct KeptBlock {
  DeviceSlices a, b;
};

}  // namespace

struct DeviceGemm::Work {
  Plan plan;
  Shape shape;
  int device;
  Path path;
  Kernels kernels;
  UniformBound error;
  Index rows, columns;                                           ///< of a block of C; the last blocks may have fewer
  std::map<std::pair<Index, Index>, ProductLauncher> launchers;  ///< by the rows and columns of their blocks
  std::size_t bytes = 0;
  DeviceArray<std::uint8_t> own = {};

  Work(const Plan& under, const Shape& of, const Options& options)
      : plan(under),
        shape(of),
        device(options.device),
        path(options.path),
        kernels(options.device),
        error(options.error),
        rows(std::max<Index>(shape.m, 1)),
        columns(std::max<Index>(shape.n, 1)) {
    for (bytes = bytes_of_blocks(options); static_cast<double>(bytes) > options.workspace; bytes = bytes_of_blocks(options)) {
      auto& longer = rows >= columns ? rows : columns;
      if (longer <= DeviceSlices::vector_step)
        throw std::invalid_argument("workspace must be at least " + std::to_string(bytes) +
                                    " bytes for k = " + std::to_string(shape.k));
      longer = half_of(longer);
    }
    for_each_shape([&](Index height, Index width) {
      const auto [at, is_new] = launchers.try_emplace({height, width}, product_of(height, width, options));
      if (is_new) at->second.prepare();
    });
  }

  [[nodiscard]] ProductLauncher product_of(Index height, Index width, const Options& options) {
    const auto within = [&](double most) {
      return ProductLauncher(plan, height, width, shape.k, std::min(most, options.workspace / 2), options.path, kernels);
    };
    constexpr double most_bytes = 0x1p32,
                     most_sums = 0x1p30;  // for fused residues, enough for 15 moduli of 16384 x 16384 entries; for others
    auto launcher = within(most_bytes);
    return launcher.path() == Path::fused ? std::move(launcher) : within(most_sums);
  }

  /// The largest number of bytes of any block. The last blocks have fewer entries, but may have more sums at a time.
  [[nodiscard]] std::size_t bytes_of_blocks(const Options& options) {
    std::size_t most = bytes_of_block(rows, columns, options);
    for_each_shape([&](Index height, Index width) { most = std::max(most, bytes_of_block(height, width, options)); });
    return most;
  }

  [[nodiscard]] std::size_t bytes_of_block(Index height, Index width, const Options& options) {
    Arena arena;
    static_cast<void>(take(arena, height, width));
    if (error.bound() != nullptr) OpenBits(arena, height, width);
    return arena.used() + static_cast<std::size_t>(product_of(height, width, options).bytes());
  }

  /// Calls visit(height, width) for each of the at most four shapes of blocks.
  template <class Visit>
  void for_each_shape(const Visit& visit) const {
    for (const Index height : {std::min(rows, shape.m), shape.m % rows})
      for (const Index width : {std::min(columns, shape.n), shape.n % columns})
        if (height > 0 && width > 0) visit(height, width);
  }

  template <class Visit>
  void for_each_block(const Visit& visit) const {
    for (Index i = 0; i < shape.m; i += rows)
      for (Index j = 0; j < shape.n; j += columns) visit(i, j, std::min(rows, shape.m - i), std::min(columns, shape.n - j));
  }

  struct Slices {
    DeviceSlices a, b;
  };

  [[nodiscard]] Slices take(Arena& arena, Index height, Index width) const {
    const auto [of_a, of_b] = operand_forms(plan);
    const auto a = take_operand(arena, of_a, Side::rows_of_a, height, shape.k);
    return {a, take_operand(arena, of_b, Side::columns_of_b, width, shape.k)};
  }

  /// @pre the call has a block's shape, or no inner dimension.
  void launch(const RealProduct& product, const DeviceBatch& batch, const KeptBlock& kept, const DeviceScalars& scalars,
              Arena arena, cudaStream_t stream) const {
    auto slices =
        product.k() == 0 ? Slices{{.count = product.m()}, {.count = product.n()}} : take(arena, product.m(), product.n());
    if (kept.a.digits != nullptr) slices.a = kept.a;
    if (kept.b.digits != nullptr) slices.b = kept.b;
    for (Index t = 0; t < batch.count; ++t) {
      const bool new_a = kept.a.digits == nullptr && (t == 0 || batch.stride_a != 0);
      const bool new_b = kept.b.digits == nullptr && (t == 0 || batch.stride_b != 0);
      launch_one(gpu::product_of(product, batch, t), slices, new_a, new_b, scalars, arena, stream);
    }
  }

  void launch_one(const RealProduct& product, const Slices& slices, bool new_a, bool new_b, const DeviceScalars& scalars,
                  Arena arena, cudaStream_t stream) const {
    const auto a = matrix_of(product.a), b = matrix_of(product.b);
    const bool no_terms = product.k() == 0;
    DeviceEpilogue epilogue{.alpha = product.alpha,
                            .beta = product.beta,
                            .alpha_at = no_terms ? nullptr : scalars.alpha,
                            .beta_at = scalars.beta,
                            .c0 = matrix_of(product.c0),
                            .c = matrix_of(product.c.as_input())};
    const OperandPair operands{a, b, product.k()};
    if (no_terms) return launch_specials(operands, slices.a, slices.b, epilogue, stream);
    const auto& launcher = launchers.at({product.m(), product.n()});
    const SlicingJob of_a{a, slices.a}, of_b{transposed(b), slices.b};
    launch_operands(plan, new_a ? &of_a : nullptr, new_b ? &of_b : nullptr, launcher.path(), stream);
    if (error.bound() == nullptr) return launcher.launch(slices.a, slices.b, epilogue, operands, arena, stream);
    const OpenBits open(arena, product.m(), product.n());
    epilogue.bound = error.bound();
    open.add_to(epilogue, stream);
    launcher.launch(slices.a, slices.b, epilogue, operands, arena, stream);
    launch_open_finish(a, b, product.m(), product.n(), product.k(), epilogue, open.counts + 1, stream);
  }

  /// Null if there is no kept operand. @throws std::invalid_argument if it does not match the operand and the plan.
  [[nodiscard]] DeviceSlices kept_operand(const IntegerOperand* kept, Side side, Index stride, const char* name) const {
    if (kept == nullptr) return {};
    const bool of_a = side == Side::rows_of_a;
    const auto refuse = [name](const std::string& what) { throw std::invalid_argument(std::string(name) + " must " + what); };
    const auto* const operand = operand_on(device, *kept);
    if (operand == nullptr) refuse("have been prepared on device " + std::to_string(device));
    if (kept->side() != side) refuse(of_a ? "be rows of A" : "be columns of B");
    if (!kept->serves(plan.form(side))) refuse("have the slices or residues that the plan says");
    if (kept->count() != (of_a ? shape.m : shape.n) || kept->inner_dimension() != shape.k)
      refuse("be of a product " + to_string(shape));
    if (stride != 0) refuse("be of an operand that all products have: its stride is " + std::to_string(stride));
    return *operand;
  }

  void check_shape(const RealProduct& product) const {
    if (product.m() != shape.m || product.n() != shape.n || product.k() != shape.k)
      throw std::invalid_argument("the call must be " + to_string(shape) + ": " +
                                  to_string({product.m(), product.n(), product.k()}));
  }
};

DeviceGemm::DeviceGemm(const Plan& plan, Index m, Index n, Index k, Options options) {
  const FloatEnvironment environment;
  plan.validate();
  const auto shape = checked(m, n, k);
  if (!(options.error >= 0)) throw std::invalid_argument("error must not be negative");
  if (options.device < 0) throw std::invalid_argument("device must not be negative: " + std::to_string(options.device));
  const CudaDevice device(options.device);
  check_inner_dimension(plan, k);
  if (!options.held) check_held_by_any(plan, k);
  work_ = std::make_unique<Work>(plan, shape, options);
}

DeviceGemm::~DeviceGemm() = default;

std::size_t DeviceGemm::workspace() const { return work_->bytes; }

Path DeviceGemm::path() const { return work_->launchers.empty() ? work_->path : work_->launchers.begin()->second.path(); }

void DeviceGemm::operator()(const RealProduct& product, void* workspace, Stream stream, DeviceScalars scalars,
                            const DeviceBatch& batch, KeptOperands kept) const {
  const FloatEnvironment environment;
  auto asked = product;
  if (scalars.beta != nullptr) asked.beta = 1;  // beta in device memory may be any number: the call has a C0
  asked.check();
  work_->check_shape(product);
  const auto read = scalars.alpha == nullptr ? product.without_unread() : product;
  const bool reads_c0 = !is_zero(asked.beta);
  check_apart(read, batch, reads_c0);
  const auto kept_a = work_->kept_operand(kept.a, Side::rows_of_a, batch.stride_a, "kept.a");
  const auto kept_b = work_->kept_operand(kept.b, Side::columns_of_b, batch.stride_b, "kept.b");
  if (workspace == nullptr && work_->bytes > 0) throw std::invalid_argument("workspace must not be null");
  if (reinterpret_cast<std::uintptr_t>(workspace) % Arena::alignment != 0)
    throw std::invalid_argument("workspace must be aligned to " + std::to_string(Arena::alignment) + " bytes");
  const CudaDevice device(work_->device);
  work_->for_each_block([&](Index i, Index j, Index height, Index width) {
    auto block = read;
    block.a = read.a.block(i, 0, height, read.k());
    block.b = read.b.block(0, j, read.k(), width);
    block.c = read.c.block(i, j, height, width);
    if (reads_c0) block.c0 = read.c0.block(i, j, height, width);
    KeptBlock kept_block;
    if (kept_a.digits != nullptr && read.k() > 0) kept_block.a = block_of(kept_a, i, height);
    if (kept_b.digits != nullptr && read.k() > 0) kept_block.b = block_of(kept_b, j, width);
    work_->launch(block, batch, kept_block, scalars, Arena(workspace, work_->bytes), stream);
  });
}

void DeviceGemm::operator()(const RealProduct& product, Stream stream, DeviceScalars scalars, const DeviceBatch& batch,
                            KeptOperands kept) {
  const CudaDevice device(work_->device);
  if (work_->own.data() == nullptr) {
    work_->own = DeviceArray<std::uint8_t>(static_cast<Index>(work_->bytes + Arena::alignment), cudaStreamPerThread);
    check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  }
  void* workspace = work_->own.data();
  auto room = work_->bytes + Arena::alignment;
  std::as_const (*this)(product, std::align(Arena::alignment, work_->bytes, workspace, room), stream, scalars, batch, kept);
}

}  // namespace ozbound::gpu
