// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_slices.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "arena.hpp"
#include "cuda_device.hpp"
#include "slicing.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

Slicing checked(Slicing slicing) {
  if (slicing.slices < 1 || slicing.slices > max_slices)
    throw std::invalid_argument("slices must be 1 … " + std::to_string(max_slices) + ": " + std::to_string(slicing.slices));
  return slicing;
}

Index checked_inner(Index count, Index inner, Slicing slicing) {
  if (CudaSlices::bytes(count, inner, slicing) > static_cast<double>(std::numeric_limits<Index>::max()) / 2)
    throw std::length_error("the slices of an operand of " + std::to_string(count) + " x " + std::to_string(inner) +
                            " are too large");
  return inner;
}

}  // namespace

CudaSlices::CudaSlices(const InputView& operand, Side side, Slicing slicing, int device, cudaStream_t stream)
    : Slices(side, checked(slicing), vectors_of(operand, side).rows(),
             checked_inner(vectors_of(operand, side).rows(), vectors_of(operand, side).cols(), checked(slicing))),
      device_(device) {
  const bool reversed = side == Side::columns_of_b;
  Arena needed;
  take_slices(needed, reversed, slicing, count(), inner_dimension());
  memory_ = DeviceArray<std::uint8_t>(static_cast<Index>(needed.used() + Arena::alignment), stream);
  auto arena = Arena::aligned(memory_.data(), needed.used());
  slices_ = take_slices(arena, reversed, slicing, count(), inner_dimension());
  const DeviceOperand vectors(vectors_of(operand, side), "operand", stream);
  launch_slicing(vectors.matrix(), slicing, slices_, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

VectorScale CudaSlices::scale(Index i) const {
  std::call_once(have_scales_, [this] {
    const CudaDevice device(device_);
    const auto exponents = copy_to_host(slices_.exponents, count(), cudaStreamPerThread);
    const auto special = copy_to_host(slices_.special, count(), cudaStreamPerThread);
    for (std::size_t v = 0; v < exponents.size(); ++v) scales_.push_back({exponents[v], special[v] != 0});
  });
  return scales_[static_cast<std::size_t>(i)];
}

const std::int8_t* CudaSlices::digits(Index i, int p) const {
  std::call_once(have_digits_, [this] {
    const CudaDevice device(device_);
    digits_ = copy_to_host(slices_.digits, count() * slices_.pitch(), cudaStreamPerThread);
  });
  return digits_.data() + i * slices_.pitch() + slices_.place(p) * slices_.padded;
}

int CudaSlices::digit(Index i, int p, Index l) const { return slicing().encoding.digit(p, digits(i, p)[l]); }

std::int64_t CudaSlices::sum_of_digits(Index i, int p) const {
  std::int64_t sum = 0;
  for (Index l = 0; l < inner_dimension(); ++l) sum += digit(i, p, l);
  return sum;
}

int CudaSlices::weight_exponent(Index i, int p) const {
  if (slicing().encoding.common_ratio()) return slicing().encoding.weight_exponent(p);
  std::call_once(have_weights_, [this] {
    const CudaDevice device(device_);
    weights_ = copy_to_host(slices_.weight_exponents, count() * slicing().slices, cudaStreamPerThread);
  });
  return weights_[static_cast<std::size_t>(i * slicing().slices + p - 1)];
}

double CudaSlices::bytes(Index count, Index inner, Slicing slicing) {
  const double vectors = static_cast<double>(count) + DeviceSlices::vector_step;
  const double digits = slicing.slices * (static_cast<double>(inner) + DeviceSlices::digit_step);
  const double others = 4 + 1 + 2 * max_slices + 8;
  return vectors * (digits + others) + 8 * static_cast<double>(Arena::alignment);
}

}  // namespace ozbound::gpu
