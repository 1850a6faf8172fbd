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

/// The GEMMs of the OpenBLAS that is loaded; null where this build has none, or where it computes on threads that cannot be
/// told to round to nearest and to keep subnormals (OpenMP workers of another runtime than ours). What Machine and `gemm` take
/// where no other library is handed over.
///
/// Every thread that computes does so, whatever it inherited. With OpenBLAS's pthreads, blocks of C are multiplied by OpenMP
/// workers of ours instead: min(OpenMP's number of threads, OpenBLAS's). That is set to 1 meanwhile, for the whole process, and
/// then is again what the program had set, before or meanwhile. What another thread sets during a product shows, and the block
/// is multiplied again; one that sets a number and 1 again within one block does not, and must not be there.
const NativeGemm* native_gemm();

/// ?gemm_ as Fortran exports it: column-major, every argument by address, and the lengths of the two texts.
template <class T, class Integer>
using FortranGemm = void (*)(const char* op_a, const char* op_b, const Integer* m, const Integer* n, const Integer* k,
                             const T* alpha, const T* a, const Integer* lda, const T* b, const Integer* ldb, const T* beta,
                             T* c, const Integer* ldc, std::size_t, std::size_t);

/// The GEMMs of a BLAS whose integers have 32 bits (LP64) or 64 (ILP64).
template <class Integer = std::int32_t>
struct BlasRoutines {
  FortranGemm<double, Integer> dgemm = nullptr;  ///< needed; the others may be null: the library has no such product
  FortranGemm<float, Integer> sgemm = nullptr;
  FortranGemm<std::complex<double>, Integer> zgemm = nullptr;  ///< with cgemm, or neither
  FortranGemm<std::complex<float>, Integer> cgemm = nullptr;
};

/// Whether a library may be certified by what conventional summation guarantees (NativeGemm names it).
enum class Summation : std::uint8_t {
  conventional,  ///< the caller answers for all that NativeGemm assumes of it, on the threads that it computes on too
  unknown,       ///< it multiplies, and nothing is proven of what it writes
};

/// Any BLAS as a value that can be handed to Machine::cpu. It computes on the calling thread, which rounds to nearest and keeps
/// subnormals meanwhile, and on what threads it has of its own.
/// @throws std::invalid_argument without dgemm, or with one of zgemm and cgemm.
template <class Integer>
std::unique_ptr<NativeGemm> make_native_gemm(const BlasRoutines<Integer>& routines, std::string name, Summation summation);

/// The name of the library that a routine, such as its dgemm_, lies in, if it is known to sum conventionally: OpenBLAS, BLIS,
/// ATLAS or netlib's reference BLAS. A library is recognised by what it exports: openblas_get_config (or that of a
/// build with suffixed names), bli_info_get_version_str,
/// ATL_buildinfo, one of named libblas.so… by what a library that it needs, in the same folder, does; netlib's by lsame_ in a
/// file libblas.so… or librefblas.so…. None is that needs a function of another library (MKL, ArmPL, NVPL, ESSL, FlexiBLAS,
/// cuBLAS), which may be anything behind the same names.
std::optional<std::string> recognised_library(const void* routine);

/// C = A B of complex matrices, m x k by k x n, column-major without gaps, C apart from A and B.
using NativeZgemm = void (*)(Index m, Index n, Index k, const std::complex<double>* a, const std::complex<double>* b,
                             std::complex<double>* c);

/// OpenBLAS's ZGEMM, to compare with, or null as native_gemm().
NativeZgemm native_zgemm();

}  // namespace ozbound
