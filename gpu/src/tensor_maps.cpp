// SPDX-License-Identifier: BSD-3-Clause
#include "tensor_maps.hpp"

#include <cuda_runtime_api.h>

#include "cuda_check.hpp"

namespace ozbound::gpu {

TensorMaps TensorMaps::find() {
  TensorMaps maps;
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found),
        "cudaGetDriverEntryPointByVersion");
  if (found == cudaDriverEntryPointSuccess) maps.encode_ = encode;
  return maps;
}

CUtensorMap TensorMaps::of_bytes(const std::int8_t* bytes, Index pitch, Index vectors, int box_vectors) const {
  CUtensorMap map;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(pitch), static_cast<cuuint64_t>(vectors)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(pitch)};
  const cuuint32_t box[] = {128, static_cast<cuuint32_t>(box_vectors)}, ones[] = {1, 1};
  const auto result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode_)(
      &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, const_cast<std::int8_t*>(bytes), sizes, strides, box, ones,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue, "cuTensorMapEncodeTiled");
  return map;
}

}  // namespace ozbound::gpu
