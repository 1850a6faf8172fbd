// SPDX-License-Identifier: BSD-3-Clause
// The device's measurements of vectors against core's: every integer of SliceFacts.

#include <cuda_runtime_api.h>

#include <cmath>

#include "facts.hpp"
#include "host_facts.hpp"
#include "mirror/products.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "transfer.hpp"

namespace ozbound::mirror {
namespace {

bool equal(const IntegerNorms& x, const IntegerNorms& y) {
  return x.sum == y.sum && x.sum_squares == y.sum_squares && x.max == y.max;
}

std::string to_string(const IntegerNorms& x) {
  return "(" + std::to_string(x.sum) + ", " + std::to_string(x.sum_squares) + ", " + std::to_string(x.max) + ")";
}

/// Compares the facts of vector i of x with those of vector `other` of y.
void compare(const SliceFacts& x, Index i, const SliceFacts& y, Index other, const std::string& origin, Section& section) {
  const auto &expected = x.vectors[static_cast<std::size_t>(i)], &actual = y.vectors[static_cast<std::size_t>(other)];
  const auto where = [&] {
    return " of vector " + std::to_string(i) + ", " + ozbound::to_string(x.slicing.encoding) + " x " +
           std::to_string(x.slicing.slices) + ", " + origin;
  };
  const auto norms = [&](const IntegerNorms& a, const IntegerNorms& b, const char* what, std::size_t p) {
    section.expect(equal(a, b), [&] { return what + std::to_string(p) + ' ' + to_string(a) + ' ' + to_string(b) + where(); });
  };
  section.expect(expected.scale.exponent == actual.scale.exponent && expected.scale.special == actual.scale.special,
                 [&] { return "scale" + where(); });
  section.expect(expected.weights == actual.weights, [&] { return "weights" + where(); });
  section.expect(expected.floor_squares == actual.floor_squares, [&] { return "floor squares" + where(); });
  norms(expected.vector, actual.vector, "norms ", 0);
  for (std::size_t p = 0; p < static_cast<std::size_t>(x.slicing.slices); ++p) {
    norms(expected.slices[p], actual.slices[p], "slice ", p + 1);
    norms(expected.tails[p], actual.tails[p], "tail ", p + 1);
  }
}

void compare(const InputView& operand, Side side, Slicing slicing, const gpu::CudaEngine& engine, const std::string& origin,
             Section& section) {
  const SliceFacts expected(operand, side, slicing, 1), actual = engine.measure(operand, side, slicing);
  section.expect(actual.slicing == slicing && actual.vectors.size() == expected.vectors.size(),
                 [&] { return "number of vectors, " + origin; });
  for (std::size_t i = 0; i < expected.vectors.size(); ++i)
    compare(expected, static_cast<Index>(i), actual, static_cast<Index>(i), origin, section);
}

/// An operand to measure and the text that reproduces it.
struct Operand {
  std::string origin;
  StoredMatrix matrix;
  Side side;
};

Operand sample(std::uint64_t seed) {
  RandomBits random(seed);
  const auto size = [&] { return random.once_in(8) ? Index{0} : Index{random.below(random.once_in(3) ? 300 : 40)}; };
  const Index rows = size(), cols = size();
  const auto side = random.once_in(2) ? Side::rows_of_a : Side::columns_of_b;
  return {"seed " + std::to_string(seed), sample_matrix(rows, cols, side, random.once_in(2), random.once_in(4), random), side};
}

/// Vectors that are difficult: their largest element and elements near it, at every distance.
StoredMatrix edges(int top_exponent, int variant) {
  constexpr Index vectors = 70;
  StoredMatrix matrix(vectors, 133);
  const double top = std::ldexp(1.0, top_exponent);
  for (Index i = 0; i < vectors; ++i)
    for (Index l = 0; l < matrix.cols(); ++l) {
      const double sign = (i * 31 + l * 17) % 3 == 0 ? -1 : 1;
      const double power =
          std::ldexp(sign, std::max(top_exponent - static_cast<int>(l) * (1 + variant % 9) - static_cast<int>(i), -1074));
      const double values[] = {power,
                               std::nextafter(power, 0),
                               std::nextafter(power, 4 * power),
                               1.5 * power,
                               0.5 * (power + std::nextafter(power, 0)),
                               -0.0};
      matrix.set(i, l, values[static_cast<std::size_t>((i + l * variant) % 6)]);
    }
  constexpr double largest[] = {0x1p0, 0x1.fcfffffffffffp0, 0x1.fdp0, 0x1.fffffffffffffp0, 0x1.0000000000001p0, 0x1.8p0};
  for (Index i = 0; i < vectors; ++i) matrix.set(i, i, (i % 2 == 0 ? 1 : -1) * top * largest[i % 6]);
  return matrix;
}

bool compare_sampled(const gpu::CudaEngine& engine) {
  Section section("vectors drawn by classes");
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto operand = sample(seed);
    for (const auto& encoding : all_encodings())
      for (const int slices : {1, 2, 3, 5, 7, 8, 9, 16, 20})
        compare(operand.matrix.input(), operand.side, {encoding, slices}, engine, operand.origin, section);
  }
  return section.report();
}

bool compare_edges(const gpu::CudaEngine& engine) {
  Section section("powers of two and neighbours");
  for (const int top : {1023, 1000, 60, 3, 0, -40, -900, -1015, -1022, -1050, -1074})
    for (int variant = 0; variant < 10; ++variant) {
      const auto matrix = edges(std::min(top, 1022), variant);
      const auto origin = "edges(" + std::to_string(top) + ", " + std::to_string(variant) + ")";
      for (int slices = 1; slices <= 10; ++slices)
        for (const auto side : {Side::rows_of_a, Side::columns_of_b})
          compare(matrix.input(), side, {Encoding::balanced(), slices}, engine, origin, section);
    }
  return section.report();
}

/// Compares vectors longer than one warp takes, in either order.
bool compare_long(const gpu::CudaEngine& engine) {
  Section section("long and wide");
  for (const auto& [rows, cols] : {std::pair<Index, Index>{3, 70001}, {70001, 3}, {300, 2050}, {1, 1}, {2050, 301}}) {
    Matrix<double> matrix(rows, cols);
    RandomBits random(static_cast<std::uint64_t>(rows * 7 + cols));
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) matrix(i, j) = test::sample_below<double>(0, random.once_in(9) ? 60 : 3, random);
    for (const auto side : {Side::rows_of_a, Side::columns_of_b})
      for (const Slicing slicing : {Slicing{Encoding::balanced(), 8}, {Encoding::balanced(), 3}, {Encoding::truncated(7), 3}})
        compare(matrix, side, slicing, engine, std::to_string(rows) + " x " + std::to_string(cols), section);
  }
  return section.report();
}

/// Compares vectors taken in an order other than their storage.
bool compare_some() {
  Section section("some vectors, all slicings");
  const cudaStream_t stream = cudaStreamPerThread;
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    const auto operand = sample(seed);
    const auto vectors = vectors_of(operand.matrix.input(), operand.side);
    std::vector<Index> chosen;
    for (Index i = vectors.rows() - 1; i >= 0; i -= 7) chosen.push_back(i);
    if (chosen.empty()) continue;
    const gpu::DeviceCopy copy(vectors, stream);
    const auto indices = gpu::copy_to_device(chosen, stream);
    for (const auto& encoding : all_encodings()) {
      const auto count = static_cast<Index>(chosen.size());
      // All chosen vectors, and the last of them once more as the only one.
      gpu::SomeVectors some{copy.matrix(), vectors.cols(), indices.data()};
      gpu::SomeVectors only{copy.matrix(), vectors.cols(), nullptr, chosen.back()};
      const auto take = [&](gpu::Arena& arena) {
        some.take(arena, encoding, count), only.take(arena, encoding, 1);
        some.take_elements(arena), only.take_elements(arena);
      };
      gpu::Arena needed;
      take(needed);
      const gpu::DeviceArray<std::uint8_t> memory(static_cast<Index>(needed.used() + gpu::Arena::alignment), stream);
      auto arena = gpu::Arena::aligned(memory.data(), needed.used());
      take(arena);
      gpu::launch_facts_of_some(some, only, stream);
      const gpu::HostBlock copied(some.facts.begin(), only.facts.end(), stream);
      for (int s = 1; s <= max_slices; ++s) {
        const SliceFacts expected(operand.matrix.input(), operand.side, {encoding, s}, 1);
        std::vector<VectorFacts> actual;
        for (Index t = 0; t < count; ++t) actual.push_back(gpu::facts_on_host(some.facts, s, t, copied));
        actual.push_back(gpu::facts_on_host(only.facts, s, 0, copied));
        const SliceFacts found({encoding, s}, std::move(actual));
        for (std::size_t t = 0; t < chosen.size(); ++t)
          compare(expected, chosen[t], found, static_cast<Index>(t), operand.origin, section);
        compare(expected, chosen.back(), found, count, operand.origin, section);
      }
    }
  }
  return section.report();
}

}  // namespace
}  // namespace ozbound::mirror

int main() {
  using namespace ozbound;
  return mirror::compare_on_device([] {
    const gpu::CudaEngine engine;
    bool good = mirror::compare_sampled(engine);
    good = mirror::compare_edges(engine) && good;
    good = mirror::compare_long(engine) && good;
    return mirror::compare_some() && good;
  });
}
