#include "ozbound/core/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <variant>

namespace ozbound {
namespace {

/// The elements of a view as lines, in bytes: elements of a line are `step` apart, lines `line_step`, the larger of the two.
struct Lines {
  std::intptr_t first;
  std::intptr_t line_step, lines;
  std::intptr_t step, length;
  std::intptr_t size;  ///< of an element

  /// From the first byte of a line to the last.
  [[nodiscard]] std::intptr_t span() const { return (length - 1) * step + size; }
  [[nodiscard]] std::intptr_t start(std::intptr_t line) const { return first + line * line_step; }
  [[nodiscard]] std::intptr_t end() const { return start(lines - 1) + span(); }
};

/// A direction of distance 0 shows the same elements again and counts once; an empty view has no lines.
template <class T>
Lines lines_of(const MatrixView<T>& view) {
  constexpr auto size = static_cast<std::intptr_t>(sizeof(T));
  if (view.empty()) return {0, 0, 0, 0, 0, size};
  Index outer = view.rows(), outer_stride = view.row_stride(), inner = view.cols(), inner_stride = view.col_stride();
  if (outer == 1 || outer_stride == 0) outer = 1, outer_stride = 0;
  if (inner == 1 || inner_stride == 0) inner = 1, inner_stride = 0;
  if (outer > 1 && inner_stride > outer_stride) std::swap(outer, inner), std::swap(outer_stride, inner_stride);
  return {reinterpret_cast<std::intptr_t>(view.data()), outer_stride * size, outer, inner_stride * size, inner, size};
}

template <class View>
Lines lines_of(const View& view) {
  return std::visit([](const auto& typed) { return lines_of(typed); }, view.typed());
}

/// Whether elements of two lines that start at x and y, and that reach into each other, share a byte.
bool lines_share(const Lines& x, std::intptr_t x_start, const Lines& y, std::intptr_t y_start) {
  if (x_start >= y_start + y.span() || y_start >= x_start + x.span()) return false;
  const auto period = std::gcd(x.step, y.step);
  if (period == 0) return true;  // one element each
  const auto ahead = ((y_start - x_start) % period + period) % period;
  return ahead < x.size || period - ahead < y.size;
}

}  // namespace

bool overlap(const InputView& x_view, const OutputView& y_view) {
  const auto x = lines_of(x_view);
  const auto y = lines_of(y_view);
  if (x.lines == 0 || y.lines == 0 || x.first >= y.end() || y.first >= x.end()) return false;
  for (std::intptr_t i = 0; i < x.lines; ++i) {
    // Lines of y do not mesh: those that meet this one follow the last that starts at or before it.
    const auto start = x.start(i);
    auto j = y.line_step == 0 ? 0 : std::clamp<std::intptr_t>((start - y.first) / y.line_step, 0, y.lines - 1);
    for (; j < y.lines && y.start(j) < start + x.span(); ++j)
      if (lines_share(x, start, y, y.start(j))) return true;
  }
  return false;
}

bool overlaps_itself(const OutputView& view) {
  return std::visit(
      [](const auto& typed) {
        const auto lines = lines_of(typed);
        const bool repeats = (typed.rows() > 1 && typed.row_stride() == 0) || (typed.cols() > 1 && typed.col_stride() == 0);
        return !typed.empty() && (repeats || (lines.lines > 1 && lines.line_step < lines.span()));
      },
      view.typed());
}

bool same_elements(const InputView& x, const InputView& y) {
  return std::visit(
      [](const auto& v, const auto& w) {
        return static_cast<const void*>(v.data()) == static_cast<const void*>(w.data()) &&
               sizeof(*v.data()) == sizeof(*w.data()) && (v.rows() == 1 || v.row_stride() == w.row_stride()) &&
               (v.cols() == 1 || v.col_stride() == w.col_stride());
      },
      x.typed(), y.typed());
}

bool same_elements(const InputView& x, const OutputView& y) { return same_elements(x, y.as_input()); }

bool overlap(const ComplexInputView& x, const ComplexOutputView& y) {
  for (const auto p : both_parts)
    for (const auto q : both_parts)
      if (overlap(x.stored_parts(p), y.parts(q))) return true;
  return false;
}

bool overlaps_itself(const ComplexOutputView& view) { return overlaps_itself(view.parts(Part::real)); }

bool same_elements(const ComplexInputView& x, const ComplexOutputView& y) {
  return same_elements(x.stored_parts(Part::real), y.parts(Part::real));
}

}  // namespace ozbound
