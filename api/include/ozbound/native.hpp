#pragma once

#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound {

/// The native DGEMM that this build was linked with (OpenBLAS), or null where it was built without one.
const NativeGemm* native_gemm();

}  // namespace ozbound
