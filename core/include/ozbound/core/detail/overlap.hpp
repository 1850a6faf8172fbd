// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

// These tests are exact for all strides and sizes: views whose elements interleave without a common byte do not overlap. No
// element is read.

/// True if two views have a byte in common. Takes logarithmic time if each view has a stride of 1, one row or one column, as
/// all BLAS matrices do. For other strides it tries the lines that reach into the other view.
bool overlap(const InputView& x, const OutputView& y);

/// True if two elements of a view share memory.
bool overlaps_itself(const OutputView& view);

/// True if element (i, j) of one view is element (i, j) of the other, for all (i, j). @pre both views have the same shape.
bool same_elements(const InputView& x, const InputView& y);
bool same_elements(const InputView& x, const OutputView& y);

/// The same functions for complex matrices.
bool overlap(const ComplexInputView& x, const ComplexOutputView& y);
bool overlaps_itself(const ComplexOutputView& view);
bool same_elements(const ComplexInputView& x, const ComplexOutputView& y);

}  // namespace ozbound
