// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// An approximate inverse by Gauss-Jordan elimination with partial pivoting, in plain double: part of the recipe of some
/// problem families, so its operations and their order are fixed. Elements that come out infinite or NaN are 0.
Matrix<double> gauss_jordan_inverse(Matrix<double> a);

/// An approximate inverse of a symmetric positive definite matrix with three subdiagonals, by LDL^T in plain double.
/// Elements that come out infinite or NaN are 0.
Matrix<double> banded_inverse(const Matrix<double>& a);

}  // namespace ozbound
