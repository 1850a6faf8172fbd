// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/product.hpp"
#include "ozbound/files/matrix_file.hpp"
#include "ozbound/files/operands.hpp"

namespace ozbound::cli {

/// A matrix of zeros for the product: complex if the product is complex, binary32 if A and B are.
files::MatrixFile new_product(const files::OperandFiles& files);

/// The product of these files, written to `c`, which must come from new_product. All must outlive the product.
Product product_of(const files::OperandFiles& files, files::MatrixFile& c);

/// The product of these files without a C; for callers that only decide.
Product product_of(const files::OperandFiles& files);

}  // namespace ozbound::cli
