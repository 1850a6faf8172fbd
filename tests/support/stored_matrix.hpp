// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "properties/stored_matrix.hpp"

namespace ozbound::test {

using ozbound::Storage;
using ozbound::StoredMatrix;

/// The same values in another storage. @pre the new format holds them.
inline StoredMatrix stored(const StoredMatrix& matrix, Storage storage) {
  StoredMatrix result(matrix.rows(), matrix.cols(), storage);
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) result.set(i, j, matrix.value(i, j));
  return result;
}

inline StoredMatrix stored(const Matrix<double>& matrix, Storage storage = {}) {
  StoredMatrix result(matrix.rows(), matrix.cols(), storage);
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) result.set(i, j, matrix(i, j));
  return result;
}

/// A matrix from its rows.
inline Matrix<double> matrix_of(const std::vector<std::vector<double>>& rows) {
  Matrix<double> result(static_cast<Index>(rows.size()), rows.empty() ? 0 : static_cast<Index>(rows[0].size()));
  for (Index i = 0; i < result.rows(); ++i)
    std::copy(rows[static_cast<std::size_t>(i)].begin(), rows[static_cast<std::size_t>(i)].end(), &result(i, 0));
  return result;
}

}  // namespace ozbound::test
