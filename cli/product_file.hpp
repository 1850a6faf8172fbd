// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/product.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/operands.hpp"

namespace ozbound::cli {

/// A matrix of zeros to write a product into: complex where it is, binary32 where A and B are.
MatrixFile new_product(const OperandFiles& files);

/// The product of these files, to be written to `c`, which must be as new_product makes it. All must outlive it.
Product product_of(const OperandFiles& files, MatrixFile& c);

/// The same without a C, for who decides.
Product product_of(const OperandFiles& files);

}  // namespace ozbound::cli
