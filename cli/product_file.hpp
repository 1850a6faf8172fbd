#pragma once

#include "ozbound/bounds/complex_gemm.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/operands.hpp"

namespace ozbound::cli {

/// A matrix of zeros to write a product into: complex where it is, binary32 where A and B are.
MatrixFile new_product(const OperandFiles& files);

/// The call that writes the product of these files to `c`, which must be as new_product makes it. All must outlive it.
/// @pre the product is real, or complex.
GemmCall real_call(const OperandFiles& files, MatrixFile& c);
ComplexGemmCall complex_call(const OperandFiles& files, MatrixFile& c);
ComplexGemmCall complex_call(const OperandFiles& files, const ComplexOutputView& c);

}  // namespace ozbound::cli
