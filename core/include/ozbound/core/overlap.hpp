#pragma once

#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Whether two views have a byte in common: exactly, unless lines of elements mesh that are at different distances; those are
/// taken to overlap where they could. @pre !overlaps_itself(y).
bool overlap(const InputView& x, const OutputView& y);

/// Whether two elements of a view share memory, or two lines of them mesh.
bool overlaps_itself(const OutputView& view);

/// Whether element (i, j) of one is element (i, j) of the other, for all of them. @pre they have the same shape.
bool same_elements(const InputView& x, const InputView& y);
bool same_elements(const InputView& x, const OutputView& y);

/// Likewise of complex matrices.
bool overlap(const ComplexInputView& x, const ComplexOutputView& y);
bool overlaps_itself(const ComplexOutputView& view);
bool same_elements(const ComplexInputView& x, const ComplexOutputView& y);

}  // namespace ozbound
