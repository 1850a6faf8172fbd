// SPDX-License-Identifier: BSD-3-Clause
#include "complex_copies.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "ozbound/core/dyadic.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 256;
constexpr Index most_blocks = 4096;

template <class Real>
struct Parts {
  Real re, im;
};

/// Changes only the sign, also of NaNs and subnormal numbers.
__device__ double negated(double x) { return double_from_bits(bits_of(x) ^ binary64.sign); }
__device__ float negated(float x) { return float_from_bits(bits_of(x) ^ binary32.sign); }

/// Finds element (i, j) from a number, such that elements of near numbers lie near each other.
struct Place {
  Index i, j;

  __device__ Place(const DeviceComplex& matrix, Index number)
      : i(matrix.row_stride < matrix.col_stride ? number % matrix.rows : number / matrix.cols),
        j(matrix.row_stride < matrix.col_stride ? number / matrix.rows : number % matrix.cols) {}
};

template <class Real>
__device__ Parts<Real> element(const DeviceComplex& matrix, const Place& at) {
  const Real* const parts = static_cast<const Real*>(matrix.data) + 2 * (at.i * matrix.row_stride + at.j * matrix.col_stride);
  return {parts[0], matrix.conjugated ? negated(parts[1]) : parts[1]};
}

template <class Real>
__global__ void write_left_factor(const DeviceComplex a, Real* blocks) {
  const Index count = a.rows * a.cols;
  for (Index t = Index{blockIdx.x} * threads + threadIdx.x; t < count; t += Index{gridDim.x} * threads) {
    const Place at(a, t);
    const auto x = element<Real>(a, at);
    Real* const upper = blocks + 2 * at.i * (2 * a.cols) + 2 * at.j;
    Real* const lower = upper + 2 * a.cols;
    upper[0] = x.re, upper[1] = negated(x.im);
    lower[0] = x.im, lower[1] = x.re;
  }
}

template <class Real>
__global__ void stack(const DeviceComplex matrix, Real* parts) {
  const Index count = matrix.rows * matrix.cols;
  for (Index t = Index{blockIdx.x} * threads + threadIdx.x; t < count; t += Index{gridDim.x} * threads) {
    const Place at(matrix, t);
    const auto x = element<Real>(matrix, at);
    Real* const place = parts + at.j * (2 * matrix.rows) + 2 * at.i;
    place[0] = x.re, place[1] = x.im;
  }
}

template <class Real>
__global__ void unstack(const Real* parts, const DeviceComplex matrix) {
  const Index count = matrix.rows * matrix.cols;
  for (Index t = Index{blockIdx.x} * threads + threadIdx.x; t < count; t += Index{gridDim.x} * threads) {
    const Place at(matrix, t);
    const Real* const from = parts + at.j * (2 * matrix.rows) + 2 * at.i;
    Real* const to =
        static_cast<Real*>(const_cast<void*>(matrix.data)) + 2 * (at.i * matrix.row_stride + at.j * matrix.col_stride);
    to[0] = from[0], to[1] = from[1];
  }
}

unsigned blocks_for(const DeviceComplex& matrix) {
  return static_cast<unsigned>(std::clamp<Index>((matrix.rows * matrix.cols + threads - 1) / threads, 1, most_blocks));
}

}  // namespace

void launch_left_factor(const DeviceComplex& a, void* blocks, cudaStream_t stream) {
  if (a.is_double)
    write_left_factor<<<blocks_for(a), threads, 0, stream>>>(a, static_cast<double*>(blocks));
  else
    write_left_factor<<<blocks_for(a), threads, 0, stream>>>(a, static_cast<float*>(blocks));
  check_launch("write_left_factor");
}

void launch_stacking(const DeviceComplex& matrix, void* parts, cudaStream_t stream) {
  if (matrix.is_double)
    stack<<<blocks_for(matrix), threads, 0, stream>>>(matrix, static_cast<double*>(parts));
  else
    stack<<<blocks_for(matrix), threads, 0, stream>>>(matrix, static_cast<float*>(parts));
  check_launch("stack");
}

void launch_unstacking(const void* parts, const DeviceComplex& matrix, cudaStream_t stream) {
  if (matrix.is_double)
    unstack<<<blocks_for(matrix), threads, 0, stream>>>(static_cast<const double*>(parts), matrix);
  else
    unstack<<<blocks_for(matrix), threads, 0, stream>>>(static_cast<const float*>(parts), matrix);
  check_launch("unstack");
}

}  // namespace ozbound::gpu
