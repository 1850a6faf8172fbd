// SPDX-License-Identifier: BSD-3-Clause
// Built if no OpenBLAS is found.
#include "ozbound/native.hpp"

namespace ozbound {

const NativeGemm* native_gemm() { return nullptr; }

NativeZgemm native_zgemm() { return nullptr; }

}  // namespace ozbound
