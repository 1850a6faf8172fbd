// SPDX-License-Identifier: BSD-3-Clause
// Products by residues on the device against the CPU's, bit for bit: residues, norms, C' at the limits of every N, C, open
// entries, refusals, and DeviceGemm with blocks, batches, kept operands and graphs.
//
// Usage: residues [SECONDS]. Without an argument a fixed list of cases; with one, random products for that time. Prints
// one line a section; exits with 0 if all bits agree, 1 if some do not, 77 without a device.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "combination.hpp"
#include "cuda_check.hpp"
#include "device_array.hpp"
#include "memory.hpp"
#include "mirror/device_stored.hpp"
#include "mirror/problems.hpp"
#include "mirror/products.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "ozbound/gpu/device_gemm.hpp"
#include "product_launcher.hpp"
#include "recovery.hpp"
#include "residues.hpp"
#include "transfer.hpp"

namespace ozbound::mirror {
namespace {

using gpu::check;
using gpu::DeviceArray;
using gpu::DeviceGemm;
using gpu::Path;

constexpr Path paths[] = {Path::portable, Path::cublaslt, Path::fused};

const CpuEngine& cpu() {
  static const CpuEngine engine;
  return engine;
}

/// A product by residues; the plan in `of` is not used.
struct Case {
  SampledProduct of;
  ResiduePlan plan;

  Case(SampledProduct product, const ResiduePlan& under) : of(std::move(product)), plan(under) {
    of.origin = to_string(Plan(plan)) + ", not by the slices named, " + of.origin;
  }

  [[nodiscard]] RealProduct call(StoredMatrix& c) const {
    return {of.a.input(), of.b.input(), c.output(), of.alpha, of.beta, of.c0.input()};
  }
};

/// The bits of both operands together that N moduli hold for k terms of the largest elements.
int bits_for(int moduli, Index k) {
  return ResidueBase::of(moduli).half.bits() - 1 - bit_length(static_cast<std::uint64_t>(std::max<Index>(k, 1)));
}

/// Any number of moduli, with bits that they hold nearly always or nearly never.
ResiduePlan sample_residue_plan(Index k, RandomBits& random) {
  const int moduli = random.between(2, max_moduli);
  const int both = std::max(2, bits_for(moduli, k) + random.between(-8, 3));
  const int of_a = random.once_in(2) ? both / 2 : random.between(1, both - 1);
  return {moduli, std::clamp(of_a, 1, most_residue_bits), std::clamp(both - of_a, 1, most_residue_bits)};
}

Case sample_case(Index largest, std::uint64_t seed) {
  auto product = sample_product(largest, seed);
  RandomBits random(~seed);
  const auto plan = sample_residue_plan(product.k(), random);
  return {std::move(product), plan};
}

std::string said(const auto& call) {
  try {
    call();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// The outcome of a whole product: C, and the message of a refusal.
struct Whole {
  StoredMatrix c;
  std::string refusal;

  Whole(const Case& of, const Engine& engine, double workspace = unlimited_workspace) : c(of.of.c) {
    refusal = said([&] { multiply_unproven(of.call(c), of.plan, engine, workspace); });
  }
};

bool same_norms(const VectorNorms& x, const VectorNorms& y) {
  return x.scale.exponent == y.scale.exponent && x.scale.special == y.scale.special && x.norms.sum == y.norms.sum &&
         x.norms.sum_squares == y.norms.sum_squares && x.norms.max == y.norms.max && x.floor_squares == y.floor_squares &&
         x.last_bit == y.last_bit;
}

struct Mirror {
  const Engine& cuda;
  Section norms{"norms, last bits"}, residues{"scales, residues"}, integers{"C'"}, results{"C"}, open{"open entries"},
      whole{"gemm"}, refusals{"refusals"};
  Index refused = 0;

  void compare_operand(const InputView& operand, Side side, const ResidueForm& form, const SampledProduct& product) {
    const auto name = [&](Index i) {
      return "vector " + std::to_string(i) + (side == Side::rows_of_a ? " of A, " : " of B, ") + describe(product);
    };
    const auto expected = cpu().norms(operand, side), actual = cuda.norms(operand, side);
    for (std::size_t i = 0; i < expected.size(); ++i)
      norms.expect(same_norms(expected[i], actual.at(i)), [&] { return name(static_cast<Index>(i)); });
    const auto x = cpu().prepare(operand, side, form), y = cuda.prepare(operand, side, form);
    const auto &of_x = x.residues().residues(), &of_y = y.residues().residues();
    for (Index i = 0; i < x.count(); ++i) {
      bool equal = of_x.scale(i).exponent == of_y.scale(i).exponent && of_x.scale(i).special == of_y.scale(i).special;
      for (int t = 0; t < form.moduli; ++t)
        for (Index l = 0; l < x.inner_dimension(); ++l) equal = equal && of_x.residue(i, t, l) == of_y.residue(i, t, l);
      residues.expect(equal, [&] { return name(i); });
    }
  }

  void compare(const Case& of) {
    const auto& product = of.of;
    compare_operand(product.a.input(), Side::rows_of_a, of.plan.a(), product);
    compare_operand(product.b.input(), Side::columns_of_b, of.plan.b(), product);
    const Whole expected(of, cpu()), actual(of, cuda);
    refusals.expect(expected.refusal == actual.refusal,
                    [&] { return "'" + expected.refusal + "', '" + actual.refusal + "', " + describe(product); });
    compare_results(expected.c, actual.c, product, "gemm", whole);
    if (!expected.refusal.empty())
      ++refused;
    else
      compare_steps(of);
  }

  [[nodiscard]] bool report() const {
    bool good = true;
    for (const auto* section : {&norms, &residues, &integers, &results, &open, &whole, &refusals})
      good = section->report() && good;
    return good;
  }

 private:
  struct Steps {
    StoredMatrix c;
    std::vector<Matrix<std::int64_t>> groups;
    std::vector<Entry> open;

    Steps(const Case& of, const Engine& engine) : c(of.of.c) {
      const auto a = engine.prepare(of.of.a.input(), Side::rows_of_a, of.plan.a());
      const auto b = engine.prepare(of.of.b.input(), Side::columns_of_b, of.plan.b());
      groups = engine.recovered_groups(a.residues(), b.residues(), of.plan);
      const auto finite = [](double x) { return is_finite(bits_of(x), binary64) ? x : 1; };
      const Epilogue epilogue{finite(of.of.alpha), finite(of.of.beta), of.of.c0.input(), of.of.error ? &*of.of.error : nullptr};
      open = engine.multiply(a, b, of.plan, epilogue, c.output());
    }
  };

  void compare_steps(const Case& of) {
    const Steps expected(of, cpu()), actual(of, cuda);
    compare_group_sums(expected.groups, actual.groups, of.of, integers);
    compare_results(expected.c, actual.c, of.of, "C", results);
    open.expect(expected.open == actual.open, [&] {
      return std::to_string(expected.open.size()) + " and " + std::to_string(actual.open.size()) + " open entries, " +
             describe(of.of);
    });
  }
};

StoredMatrix stored(const Matrix<double>& values) {
  StoredMatrix matrix(values.rows(), values.cols());
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j) matrix.set(i, j, values(i, j));
  return matrix;
}

SampledProduct product_of(const Matrix<double>& a, const Matrix<double>& b, std::string origin) {
  return {std::move(origin), SplitPlan::balanced(1, 1, 2),     stored(a),
          stored(b),         StoredMatrix(a.rows(), b.cols()), StoredMatrix(a.rows(), b.cols())};
}

Case case_of(const Inputs& inputs) {
  auto product = product_of(inputs.a, inputs.b, inputs.origin);
  product.c0 = stored(inputs.c0), product.alpha = inputs.alpha, product.beta = inputs.beta;
  return {std::move(product),
          parse_plan(inputs.plan)
              .visit([](const ResiduePlan& plan) { return plan; }, [](const SplitPlan&) { return ResiduePlan{}; })};
}

/// Compares C' from -H to H for every number of moduli, where recovery has the least room. A has the digits of C' in radix
/// 2^step, B their weights.
bool compare_limits(const Engine& cuda) {
  constexpr int step = 30, digits = 6, weight_a = 12;  // A has up to 2^(30 + 60) and B up to 2^90, in units of 1
  Section section("C' up to H");
  for (int moduli = 2; moduli <= max_moduli; ++moduli) {
    const auto half = ResidueBase::of(moduli).half;
    std::vector<WideInteger<residue_limbs>> values;
    for (const std::uint64_t below : {0u, 1u, 2u, 255u, 65535u}) {
      auto value = half;
      if (WideInteger<residue_limbs> less{{below}}; less.less_than(value)) value.subtract(less);
      values.push_back(value);
    }
    for (const int down : {1, 2, 8}) values.push_back(shifted<residue_limbs>(half, -down));
    values.push_back({});
    const auto rows = 2 * static_cast<Index>(values.size());
    Matrix<double> a(rows, digits + 1), b(digits + 1, 1);
    for (Index l = 0; l < digits; ++l) {
      const int shift = static_cast<int>(l) * weight_a;
      b(l, 0) = std::ldexp(1.0, step * static_cast<int>(l) - shift);
      for (Index i = 0; i < rows; ++i) {
        const auto digit = values[static_cast<std::size_t>(i / 2)].word_at(step * static_cast<int>(l)) & ((1u << step) - 1);
        a(i, l) = std::ldexp(static_cast<double>(digit), shift) * (i % 2 == 0 ? 1 : -1);
      }
    }
    constexpr int top_a = 92, top_b = 92;  // above every digit, so every scale is 2^93
    for (Index i = 0; i < rows; ++i) a(i, digits) = i % 2 == 0 ? std::ldexp(1.0, top_a) : 0;
    for (Index i = 1; i < rows; i += 2) a(i, digits) = -std::ldexp(1.0, top_a);
    Matrix<double> wide(digits + 2, 1);
    for (Index l = 0; l < digits; ++l) wide(l, 0) = b(l, 0);
    wide(digits + 1, 0) = std::ldexp(1.0, top_b);
    Matrix<double> longer(rows, digits + 2);
    for (Index i = 0; i < rows; ++i)
      for (Index l = 0; l <= digits; ++l) longer(i, l) = a(i, l);
    const Case of(product_of(longer, wide, "C' up to H"), {moduli, top_a + 1, top_b + 1});
    const auto groups_by = [&](const Engine& engine) {
      return engine.recovered_groups(engine.prepare(of.of.a.input(), Side::rows_of_a, of.plan.a()).residues(),
                                     engine.prepare(of.of.b.input(), Side::columns_of_b, of.plan.b()).residues(), of.plan);
    };
    const auto expected = groups_by(cpu()), actual = groups_by(cuda);
    compare_group_sums(expected, actual, of.of, section);
    // The CPU's groups have the intended values.
    std::int64_t groups[4];
    to_groups(half, residue_groups(moduli), residue_radix(moduli), groups, 1);
    for (std::size_t g = 0; g < expected.size(); ++g)
      section.expect(expected[g](0, 0) == groups[g], [&] { return "H of " + std::to_string(moduli) + " moduli"; });
  }
  return section.report();
}

/// Compares the longest inner dimensions that INT32 sums hold, and longer ones: every product of residues modulo 256 is 2^14.
bool compare_long(const Engine& cuda) {
  Mirror mirror{cuda};
  for (const Index k : {130944, 130945, 131071, 131072, 150000}) {
    Matrix<double> a(2, k), b(k, 3);
    for (Index l = 0; l < k; ++l) {
      a(0, l) = 1, a(1, l) = l % 2 == 0 ? -1 : 0.5;
      for (Index j = 0; j < 3; ++j) b(l, j) = j == 2 ? 0.75 : 1;
    }
    for (const int bits : {8, 20}) mirror.compare({product_of(a, b, "k = " + std::to_string(k)), {9, bits, bits}});
  }
  return mirror.report();
}

/// The matrices of a product in device memory.
struct OnDevice {
  Case& of;
  cudaStream_t stream;
  DeviceStored a, b, c0, c;

  OnDevice(Case& product, cudaStream_t on)
      : of(product), stream(on), a(of.of.a, on), b(of.of.b, on), c0(of.of.c0, on), c(of.of.c, on) {}

  [[nodiscard]] RealProduct product() const {
    return {a.input(of.of.a), b.input(of.of.b), c.view(of.of.c), of.of.alpha, of.of.beta, c0.input(of.of.c0)};
  }
  [[nodiscard]] StoredMatrix result() const {
    auto host = of.of.c;
    c.copy_to(host, stream);
    return host;
  }
};

/// A product C = AB of ordinary numbers.
Case sampled_case(Index m, Index n, Index k, const ResiduePlan& plan, RandomBits& random) {
  const auto matrix = [&](Index rows, Index cols) {
    Matrix<double> result(rows, cols);
    for (Index t = 0; t < rows * cols; ++t) result.data()[t] = test::sample_below<double>(-30, 1, random);
    return result;
  };
  const auto a = matrix(m, k), b = matrix(k, n);
  return {product_of(a, b, "ordinary numbers"), plan};
}

/// A sampled case with zeros, subnormal and infinite results, NaNs, infinities, and entries that are exactly zero by
/// cancellation.
Case hard_case(Index m, Index n, Index k, const ResiduePlan& plan, RandomBits& random) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  auto result = sampled_case(m, n, k, plan, random);
  auto &a = result.of.a, &b = result.of.b;
  const double of_rows[] = {1, 0, 0x1p-900, 1, 0x1p900, 1, 1}, of_columns[] = {1, 0x1p-150, 0x1p150, 1, 0};
  for (Index i = 0; i < m; ++i)
    for (Index l = 0; l < k; ++l) a.set(i, l, of_rows[i % 7] * a.value(i, l));
  for (Index j = 0; j < n; ++j)
    for (Index l = 0; l < k; ++l) b.set(l, j, of_columns[j % 5] * b.value(l, j));
  for (Index i = 5; i < m; i += 21) a.set(i, k / 2, i % 2 == 0 ? nan : inf);
  for (Index j = 3; j < n; j += 35) b.set(k / 3, j, j % 2 == 0 ? nan : -inf);
  for (Index i = 6; i < m && k > 1; i += 7)  // rows of two elements that cancel in one column
    for (Index l = 0; l < k; ++l) a.set(i, l, l < 2 ? 1 : 0);
  for (Index j = 3; j < n && k > 1; j += 5) b.set(1, j, -b.value(0, j));
  return result;
}

double least_cap(const Case& of, Path path) {
  for (double cap = 0x1p20;; cap *= 2) try {
      DeviceGemm(of.plan, of.of.m(), of.of.n(), of.of.k(), {.path = path, .workspace = cap, .held = true});
      return cap;
    } catch (const std::invalid_argument&) {
      if (cap > 0x1p34) throw;
    }
}

/// Compares DeviceGemm in one block, in small ones, with kept operands of more moduli, in a graph that is launched for other
/// data, and in batches that share A.
bool compare_device_gemm(const gpu::CudaEngine& cuda, cudaStream_t stream) {
  Section whole("DeviceGemm"), blocks("in blocks"), kept("kept residues"), graphs("in graphs"), started("CudaEngine, there"),
      refused("what is not sure to hold");
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    auto of = sample_case(seed % 4 == 0 ? 400 : 60, 40000 + seed);
    of.of.error.reset();
    const Whole expected(of, cpu());
    if (!expected.refusal.empty()) continue;
    const Index m = of.of.m(), n = of.of.n(), k = of.of.k();
    const bool holds_any = bits_for(of.plan.moduli, k) > of.plan.bits_a + of.plan.bits_b;
    const auto refusal = said([&] { DeviceGemm(of.plan, m, n, k); });
    if (holds_any) refused.expect(refusal.empty(), [&] { return refusal + ", " + describe(of.of); });
    for (const auto path : paths) {
      {
        const OnDevice there(of, stream);
        DeviceGemm multiply(of.plan, m, n, k, {.path = path, .held = true});
        multiply(there.product(), stream);
        compare_results(expected.c, there.result(), of.of, "C", whole);
      }
      {
        const OnDevice there(of, stream);
        DeviceGemm multiply(of.plan, m, n, k, {.path = path, .workspace = least_cap(of, path), .held = true});
        multiply(there.product(), stream);
        compare_results(expected.c, there.result(), of.of, "C", blocks);
      }
      if (k > 0) {
        const OnDevice there(of, stream);
        const int more = std::min(max_moduli, of.plan.moduli + static_cast<int>(seed % 3));
        const auto a = cuda.prepare(of.of.a.input(), Side::rows_of_a, ResidueForm{more, of.plan.bits_a});
        const auto b = cuda.prepare(of.of.b.input(), Side::columns_of_b, ResidueForm{more, of.plan.bits_b});
        DeviceGemm multiply(of.plan, m, n, k, {.path = path, .held = true});
        multiply(there.product(), stream, {}, {}, {seed % 2 == 0 ? &a : nullptr, seed % 5 == 0 ? nullptr : &b});
        compare_results(expected.c, there.result(), of.of, "C", kept);
      }
      {
        const OnDevice there(of, stream);
        DeviceGemm multiply(of.plan, m, n, k, {.path = path, .held = true});
        multiply(there.product(), stream);  // its workspace exists from now on
        cudaGraph_t graph{};
        cudaGraphExec_t captured{};
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
        multiply(there.product(), stream);
        check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
        check(cudaGraphInstantiate(&captured, graph, 0), "cudaGraphInstantiate");
        auto other = of;
        if (m > 0 && k > 0) {
          other.of.a.set(0, 0, other.of.a.value(0, 0) / 2);
          const auto into = there.product().a;
          check(cudaMemcpyAsync(origin_of(into), origin_of(other.of.a.input()), other.of.a.storage().single ? 4 : 8,
                                cudaMemcpyHostToDevice, stream),
                "cudaMemcpyAsync");
        }
        check(cudaGraphLaunch(captured, stream), "cudaGraphLaunch");
        if (const Whole again(other, cpu()); again.refusal.empty())
          compare_results(again.c, there.result(), other.of, "C", graphs);
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        check(cudaGraphExecDestroy(captured), "cudaGraphExecDestroy");
        check(cudaGraphDestroy(graph), "cudaGraphDestroy");
      }
    }
    const OnDevice there(of, cudaStreamPerThread);
    multiply_unproven(there.product(), of.plan, cuda);
    check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
    compare_results(expected.c, there.result(), of.of, "C", started);
  }
  const auto refusal = said([] { DeviceGemm(ResiduePlan{13, 53, 53}, 64, 64, 64); });
  refused.expect(refusal.starts_with("plan: residues:13:53x53 is not sure to hold"), [&] { return refusal; });
  bool good = true;
  for (const auto* section : {&whole, &blocks, &kept, &graphs, &started, &refused}) good = section->report() && good;
  return good;
}

/// Compares products larger than a tile in every direction, with odd sizes.
bool compare_large(const Engine& cuda) {
  Mirror mirror{cuda};
  RandomBits random(11);
  for (int moduli = 2; moduli <= max_moduli; ++moduli) {
    const int both = std::min(bits_for(moduli, 517), 2 * most_residue_bits);
    const ResiduePlan plan{moduli, std::max(1, both / 2), std::max(1, both - both / 2 - 1)};
    mirror.compare(sampled_case(301, 259, 517, plan, random));
  }
  return mirror.report();
}

/// Compares the fused kernel for every tuning: tiles, panels, blocks that wait for each other, and inner dimensions between
/// reductions. Returns true if no device runs it.
bool compare_tunings(cudaStream_t stream) {
  Section section("the fused kernel's knobs");
  const gpu::Kernels kernels(0);
  RandomBits random(12);
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{300, 520, 700},
                                {128, 256, 128},
                                {1, 1, 1},
                                {129, 257, 40000},
                                {260, 130, 131200},
                                {2900, 3100, 140}})  // the last one of many tiles
    for (const int moduli : {3, 6, 9, 10, 13, 14, 16, 20}) {
      if (m > 2000 && moduli % 2 != 0) continue;
      if (!kernels.residues.applies(moduli, m, n, k)) return true;
      const int both = std::min(bits_for(moduli, k), 2 * 50);
      const ResiduePlan plan{moduli, std::max(1, both / 2), std::max(1, both - both / 2)};
      auto of = k < 1000 ? hard_case(m, n, k, plan, random) : sampled_case(m, n, k, plan, random);
      const Whole expected(of, cpu());
      section.expect(expected.refusal.empty(), [&] { return expected.refusal; });
      for (const int columns : {128, 256})
        for (const auto& [panel, interval, lead] : {std::tuple{8, 0, 0}, {1, 1, 1}, {3, 4, 2}}) {
          if (m > 2000 && panel != 8) continue;
          const OnDevice there(of, stream);
          const auto call = there.product();
          gpu::Arena needed;
          const auto take = [&](gpu::Arena& arena) {
            struct Parts {
              gpu::DeviceSlices a, b;
              std::uint8_t* workspace;
            };
            return Parts{gpu::take_residues(arena, of.plan.a(), m, k), gpu::take_residues(arena, of.plan.b(), n, k),
                         arena.take<std::uint8_t>(static_cast<Index>(kernels.residues.workspace(moduli, m, n)))};
          };
          take(needed);
          const gpu::Memory memory(needed.used(), stream);
          auto arena = memory.arena();
          const auto parts = take(arena);
          gpu::launch_residues(gpu::matrix_of(call.a), of.plan.a(), parts.a, stream);
          gpu::launch_residues(gpu::transposed(gpu::matrix_of(call.b)), of.plan.b(), parts.b, stream);
          const gpu::Block all{0, 0, m, n};
          const gpu::FusedResidues::Tuning tuning{.columns = columns, .panel = panel, .interval = interval, .lead = lead};
          const auto bytes = kernels.residues.launch(parts.a, parts.b, moduli, all, parts.workspace, stream, tuning);
          const gpu::DeviceEpilogue epilogue{.c = gpu::matrix_of(call.c.as_input())};
          const gpu::OperandPair operands{gpu::matrix_of(call.a), gpu::matrix_of(call.b), k};
          gpu::launch_recovery(gpu::Combination(of.plan, k), moduli, parts.a, parts.b, all, bytes, epilogue, operands, stream);
          compare_results(expected.c, there.result(), of.of, "C", section);
        }
    }
  return section.report();
}

/// Compares blocks at the end of C that need more sums at a time than whole blocks fit into the workspace.
bool compare_last_blocks(cudaStream_t stream) {
  Section section("blocks at the end of C");
  RandomBits random(13);
  auto of = sampled_case(1920, 100, 1152, {18, 60, 60}, random);
  const Whole expected(of, cpu());
  for (const double workspace : {35e6, 50e6, 80e6}) {
    const OnDevice there(of, stream);
    DeviceGemm multiply(of.plan, 1920, 100, 1152, {.path = Path::portable, .workspace = workspace, .held = true});
    multiply(there.product(), stream);
    compare_results(expected.c, there.result(), of.of, "C", section);
  }
  return section.report();
}

bool compare_fixed(const gpu::CudaEngine& cuda) {
  bool good = true;
  std::printf("products drawn by classes\n");
  Mirror drawn{cuda};
  for (std::uint64_t seed = 0; seed < 300; ++seed) drawn.compare(sample_case(40, seed));
  good = drawn.report() && good;
  std::printf("%lld of them refused\n", static_cast<long long>(drawn.refused));
  std::printf("inputs of the conformance vectors\n");
  Mirror stated{cuda};
  for (const auto& inputs : conformance_inputs(true)) stated.compare(case_of(inputs));
  good = stated.report() && good;
  std::printf("limits\n");
  good = compare_limits(cuda) && good;
  std::printf("long inner dimensions\n");
  good = compare_long(cuda) && good;
  std::printf("every number of moduli\n");
  return compare_large(cuda) && good;
}

bool compare_for(double seconds, const Engine& cuda) {
  Mirror mirror{cuda};
  const auto start = std::chrono::steady_clock::now();
  const auto first = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  std::uint64_t seed = first;
  for (; std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds; ++seed) {
    constexpr Index sizes[] = {20, 60, 150, 300};
    mirror.compare(sample_case(sizes[seed % 4], seed));
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
    bool good = true;
    for (const auto& [path, name] : paths) {
      const gpu::CudaEngine cuda({.path = path});
      std::printf("\n%s\n", name);
      good = (count > 1 ? mirror::compare_for(std::atof(arguments[1]) / 4, cuda) : mirror::compare_fixed(cuda)) && good;
    }
    cudaStream_t stream{};
    gpu::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    std::printf("\ndevice memory\n");
    good = mirror::compare_device_gemm(gpu::CudaEngine(), stream) && good;
    good = mirror::compare_tunings(stream) && good;
    return mirror::compare_last_blocks(stream) && good;
  });
}
