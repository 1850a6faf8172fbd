// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_residues.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include "arena.hpp"
#include "cuda_device.hpp"
#include "ozbound/core/plan.hpp"
#include "residues.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

ResidueForm checked(ResidueForm form, const InputView& operand, Side side) {
  if (form.complex) throw std::invalid_argument("plan: this engine has no residues of complex integers");
  ResiduePlan{form.moduli, form.bits, form.bits}.validate();
  const auto vectors = vectors_of(operand, side);
  if (CudaResidues::bytes(vectors.rows(), vectors.cols(), form) > static_cast<double>(std::numeric_limits<Index>::max()) / 2)
    throw std::length_error("the residues of an operand of " + std::to_string(vectors.rows()) + " x " +
                            std::to_string(vectors.cols()) + " are too large");
  return form;
}

}  // namespace

CudaResidues::CudaResidues(const InputView& operand, Side side, ResidueForm form, int device, cudaStream_t stream)
    : Residues(side, checked(form, operand, side), vectors_of(operand, side).rows(), vectors_of(operand, side).cols()),
      device_(device) {
  Arena needed;
  take_residues(needed, form, count(), inner_dimension());
  memory_ = DeviceArray<std::uint8_t>(static_cast<Index>(needed.used() + Arena::alignment), stream);
  auto arena = Arena::aligned(memory_.data(), needed.used());
  residues_ = take_residues(arena, form, count(), inner_dimension());
  const DeviceOperand vectors(vectors_of(operand, side), "operand", stream);
  launch_residues(vectors.matrix(), form, residues_, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

VectorScale CudaResidues::scale(Index i) const {
  std::call_once(have_scales_, [this] {
    const CudaDevice device(device_);
    const auto exponents = copy_to_host(residues_.exponents, count(), cudaStreamPerThread);
    const auto special = copy_to_host(residues_.special, count(), cudaStreamPerThread);
    for (std::size_t v = 0; v < exponents.size(); ++v) scales_.push_back({exponents[v], special[v] != 0});
  });
  return scales_[static_cast<std::size_t>(i)];
}

int CudaResidues::residue(Index i, int t, Index l) const {
  std::call_once(have_bytes_, [this] {
    const CudaDevice device(device_);
    bytes_ = copy_to_host(residues_.digits, form().moduli * residues_.offset(2), cudaStreamPerThread);
  });
  return bytes_[static_cast<std::size_t>(residues_.offset(t + 1) + i * residues_.pitch() + l)];
}

double CudaResidues::bytes(Index count, Index inner, ResidueForm form) {
  const double vectors = static_cast<double>(count) + DeviceSlices::vector_step;
  const double residues = form.moduli * (static_cast<double>(inner) + DeviceSlices::digit_step);
  const double others = 4 + 1 + 8;
  return vectors * (residues + others) + 8 * static_cast<double>(Arena::alignment);
}

}  // namespace ozbound::gpu
