// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// An approximate inverse by Gauss-Jordan elimination with partial pivoting, in plain double. Some problem families use it, so
/// its operations and their order are fixed. Infinite and NaN elements become 0.
Matrix<double> gauss_jordan_inverse(Matrix<double> a);

/// An approximate inverse of a symmetric positive definite matrix with three subdiagonals, by LDL^T in plain double. Infinite
/// and NaN elements become 0.
Matrix<double> banded_inverse(const Matrix<double>& a);

}  // namespace ozbound
