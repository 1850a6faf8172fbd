// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

// Exact for all strides and sizes: elements that only lie between each other share nothing. Views are not dereferenced.

/// Whether two views have a byte in common. Takes logarithmic time where each has a stride of 1, one row or one column, as all
/// matrices of BLAS do; for other strides it tries the lines that reach into the other view.
bool overlap(const InputView& x, const OutputView& y);

/// Whether two elements of a view share memory.
bool overlaps_itself(const OutputView& view);

/// Whether element (i, j) of one is element (i, j) of the other, for all of them. @pre they have the same shape.
bool same_elements(const InputView& x, const InputView& y);
bool same_elements(const InputView& x, const OutputView& y);

/// Likewise of complex matrices.
bool overlap(const ComplexInputView& x, const ComplexOutputView& y);
bool overlaps_itself(const ComplexOutputView& view);
bool same_elements(const ComplexInputView& x, const ComplexOutputView& y);

}  // namespace ozbound
