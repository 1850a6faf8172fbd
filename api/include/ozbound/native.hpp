// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound {

/// The GEMMs of the loaded OpenBLAS; the default library of Machine and `gemm`. Null if this build has none, or if OpenBLAS
/// computes on threads that cannot be set to round to nearest and to keep subnormals (OpenMP workers of another runtime than
/// ours).
///
/// Every computing thread rounds to nearest and keeps subnormals, independent of inherited settings. If OpenBLAS uses pthreads,
/// OpenMP workers of ours multiply blocks of C instead: min(OpenMP's number of threads, OpenBLAS's). OpenBLAS's number is set
/// to 1 meanwhile, for the whole process. Afterwards it is again the number that the program had set, before or meanwhile. If
/// another thread sets the number during a product, this is detected, and the block is multiplied again. If a thread sets a
/// number and then 1 again within one block, this is not detected; programs must not do that.
const NativeGemm* native_gemm();

/// ?gemm_ as exported by Fortran: column-major, all arguments by address, and the lengths of the two texts.
template <class T, class Integer>
using FortranGemm = void (*)(const char* op_a, const char* op_b, const Integer* m, const Integer* n, const Integer* k,
                             const T* alpha, const T* a, const Integer* lda, const T* b, const Integer* ldb, const T* beta,
                             T* c, const Integer* ldc, std::size_t, std::size_t);

/// The GEMMs of a BLAS with 32-bit (LP64) or 64-bit (ILP64) integers.
template <class Integer = std::int32_t>
struct BlasRoutines {
  FortranGemm<double, Integer> dgemm = nullptr;  ///< required; the others may be null: the library has no such product
  FortranGemm<float, Integer> sgemm = nullptr;
  FortranGemm<std::complex<double>, Integer> zgemm = nullptr;  ///< both zgemm and cgemm, or neither
  FortranGemm<std::complex<float>, Integer> cgemm = nullptr;
};

/// States if a library may be certified by the guarantee of conventional summation (see NativeGemm).
enum class Summation : std::uint8_t {
  conventional,  ///< the caller guarantees all that NativeGemm assumes, also on the library's own threads
  unknown,       ///< it multiplies, but nothing is proven about its results
};

/// Makes a NativeGemm from any BLAS, for Machine::cpu. It computes on the calling thread, which rounds to nearest and keeps
/// subnormals meanwhile, and on the library's own threads, if any.
/// @throws std::invalid_argument without dgemm, or with only one of zgemm and cgemm.
template <class Integer>
std::unique_ptr<NativeGemm> make_native_gemm(const BlasRoutines<Integer>& routines, std::string name, Summation summation);

/// The name of the library that contains a routine, such as its dgemm_, if the library is known to sum conventionally:
/// OpenBLAS, BLIS, ATLAS or netlib's reference BLAS. A library is recognised by its exports: openblas_get_config (or its name
/// in a build with suffixed names), bli_info_get_version_str, ATL_buildinfo. A library named libblas.so… is recognised by the
/// exports of a library in the same folder that it needs. Netlib's is recognised by lsame_ in a file libblas.so… or
/// librefblas.so…. A library that needs a function of another library (MKL, ArmPL, NVPL, ESSL, FlexiBLAS, cuBLAS) is not
/// recognised, since anything may be behind the same names.
std::optional<std::string> recognised_library(const void* routine);

/// C = A B for complex matrices, m x k by k x n, column-major without gaps; C does not overlap A or B.
using NativeZgemm = void (*)(Index m, Index n, Index k, const std::complex<double>* a, const std::complex<double>* b,
                             std::complex<double>* c);

/// OpenBLAS's ZGEMM, for comparisons; null if native_gemm() is null.
NativeZgemm native_zgemm();

}  // namespace ozbound
