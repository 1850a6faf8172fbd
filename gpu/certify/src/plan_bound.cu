// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "cuda_check.hpp"
#include "plan_bound.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 128;
constexpr int alternatives = 3;

/// The parts of vector i, for norms_of_part.
struct PartsOf {
  const DeviceFacts& facts;
  Index i;

  [[nodiscard]] __device__ IntegerNorms norms(int part) const {
    return {facts.norm(part, 0, i), facts.norm(part, 1, i), facts.norm(part, 2, i)};
  }
  [[nodiscard]] __device__ int slices() const { return facts.slicing.slices; }
  [[nodiscard]] __device__ IntegerNorms vector() const { return norms(0); }
  [[nodiscard]] __device__ IntegerNorms slice(int p) const { return norms(facts.slice_part(p)); }
  [[nodiscard]] __device__ IntegerNorms tail(int p) const { return norms(facts.tail_part(p)); }
  [[nodiscard]] __device__ int weight_exponent(int p) const {
    return facts.special[i] != 0 && facts.weights != nullptr ? facts.slicing.encoding.weight_exponent(p)
                                                             : facts.weight_exponent(i, p);
  }
};

/// Each thread computes one term of one vector. Grid: terms in y, rows and columns in z.
__global__ void __launch_bounds__(threads)
    find_norms(const __grid_constant__ PlanTerms terms, const __grid_constant__ DeviceFacts rows,
               const __grid_constant__ DeviceFacts columns, double* row_norms, double* column_norms, int* ends) {
  const bool of_columns = blockIdx.z == 1;
  const auto& facts = of_columns ? columns : rows;
  const int t = static_cast<int>(blockIdx.y);
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i == 0 && !of_columns) ends[t] = (t + 1) * alternatives;
  if (i >= facts.count) return;
  const auto norms = norms_of_part(PartsOf{facts, i}, (of_columns ? terms.columns : terms.rows)[t]);
  // dual_norms, repeated because device code may not refer to its elements.
  constexpr int dual[alternatives][2] = {{1, 1}, {0, 2}, {2, 0}};
  auto* const out = (of_columns ? column_norms : row_norms) + i;
#pragma unroll
  for (int h = 0; h < alternatives; ++h) out[(t * alternatives + h) * facts.count] = norms.of[dual[h][of_columns ? 1 : 0]];
}

}  // namespace

void launch_norms(const PlanTerms& terms, const DeviceFacts& rows, const DeviceFacts& columns, double* row_norms,
                  double* column_norms, int* ends, cudaStream_t stream) {
  const Index longest = std::max<Index>({rows.count, columns.count, 1});
  const dim3 grid(static_cast<unsigned>((longest + threads - 1) / threads), static_cast<unsigned>(terms.count), 2);
  find_norms<<<grid, threads, 0, stream>>>(terms, rows, columns, row_norms, column_norms, ends);
  check_launch("find_norms");
}

}  // namespace ozbound::gpu
