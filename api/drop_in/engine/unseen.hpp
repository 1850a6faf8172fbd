// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace ozbound::drop_in {

/// A file of this process that has routines of a BLAS itself.
struct OwnBlas {
  std::string file;
  std::string routine;  ///< one of them, `dgemm_`
};

/// The routine of a BLAS that an ELF file defines, `dgemm_` or another GEMM by any of its names; empty if there is none or the
/// file cannot be read. Symbols for debugging count too: a BLAS that is linked statically often has no others.
std::string blas_routine_in(const std::string& file);

/// All files of this process that define one, but the hook and the engine, in the order in which they were loaded.
std::vector<OwnBlas> files_with_blas();

}  // namespace ozbound::drop_in
