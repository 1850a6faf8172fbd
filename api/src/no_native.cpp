// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/native.hpp"

#ifndef OZBOUND_HAVE_OPENBLAS
namespace ozbound {

const NativeGemm* native_gemm() { return nullptr; }

NativeZgemm native_zgemm() { return nullptr; }

}  // namespace ozbound
#endif
