// SPDX-License-Identifier: BSD-3-Clause
#include "device_operands.hpp"

#include <variant>

#include "cuda_residues.hpp"
#include "cuda_slices.hpp"
#include "fast_residues.hpp"
#include "residues.hpp"
#include "slicing.hpp"

namespace ozbound::gpu {
namespace {

template <class Kept>
const DeviceSlices* kept_on(int device, const Kept* kept) {
  return kept != nullptr && kept->device() == device ? &kept->on_device() : nullptr;
}

/// True if both operands are sliced in one launch. This is so if a fused kernel multiplies, because it needs no zeros beyond
/// the last vector.
bool slices_fast(const Plan& plan, const SlicingJob& a, const SlicingJob& b, Path multiplying) {
  return plan.visit(
      [&](const SplitPlan& slices) {
        return multiplying == Path::fused && has_clusters() && fast_slicing_applies(a.vectors, slices.a) &&
               fast_slicing_applies(b.vectors, slices.b);
      },
      [](const ResiduePlan&) { return false; });
}

/// True if the residues of both operands are made in one launch.
bool makes_residues_fast(const ResidueForm& a, const SlicingJob* of_a, const ResidueForm& b, const SlicingJob* of_b) {
  const auto applies = [](const SlicingJob* job, const ResidueForm& form) {
    return job == nullptr || fast_residues_apply(job->vectors, form);
  };
  return applies(of_a, a) && applies(of_b, b) && has_clusters();
}

/// The job of an operand. The job is empty if the operand exists already.
ResidueJob residue_job(const SlicingJob* job, const SlicingJob* other, const ResidueForm& form) {
  ResidueJob result{job != nullptr ? *job : *other, form};
  if (job == nullptr) result.operand.slices.count = 0;
  return result;
}

}  // namespace

DeviceSlices take_operand(Arena& arena, const OperandForm& form, Side side, Index count, Index inner) {
  if (const auto* const residues = std::get_if<ResidueForm>(&form)) return take_residues(arena, *residues, count, inner);
  return take_slices(arena, side == Side::columns_of_b, std::get<Slicing>(form), count, inner);
}

void launch_operand(const SlicingJob& job, const OperandForm& form, cudaStream_t stream) {
  if (const auto* const residues = std::get_if<ResidueForm>(&form))
    return launch_residues(job.vectors, *residues, job.slices, stream);
  launch_slicing(job.vectors, std::get<Slicing>(form), job.slices, stream);
}

void launch_operands(const Plan& plan, const SlicingJob* a, const SlicingJob* b, Path multiplying, cudaStream_t stream) {
  if (a == nullptr && b == nullptr) return;
  if (a != nullptr && b != nullptr && slices_fast(plan, *a, *b, multiplying)) return launch_fast_slicing(*a, *b, stream);
  const auto form_a = plan.form(Side::rows_of_a), form_b = plan.form(Side::columns_of_b);
  const auto *const of_a = std::get_if<ResidueForm>(&form_a), *const of_b = std::get_if<ResidueForm>(&form_b);
  if (multiplying == Path::fused && of_a != nullptr && of_b != nullptr && makes_residues_fast(*of_a, a, *of_b, b))
    return launch_fast_residues(residue_job(a, b, *of_a), residue_job(b, a, *of_b), stream);
  if (a != nullptr) launch_operand(*a, form_a, stream);
  if (b != nullptr) launch_operand(*b, form_b, stream);
}

const DeviceSlices* operand_on(int device, const IntegerOperand& operand) {
  if (const auto* const residues = operand.residues_or_null())
    return kept_on(device, dynamic_cast<const CudaResidues*>(&residues->residues()));
  return kept_on(device, dynamic_cast<const CudaSlices*>(&operand.slices().slices()));
}

}  // namespace ozbound::gpu
