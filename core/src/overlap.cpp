// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/detail/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <variant>

namespace ozbound {
namespace {

/// Addresses, their differences and small sums of them: below 2^70 in size.
__extension__ using Bytes = __int128;

/// From 0 to `most` steps of one length.
struct Steps {
  Bytes length, most;

  [[nodiscard]] Bytes reach() const { return length * most; }
};

/// The bytes of a non-empty view: `size` bytes at `start`, and at all places that two kinds of steps reach from it.
struct Lattice {
  Bytes start, size;
  std::array<Steps, 2> steps;

  [[nodiscard]] Bytes reach() const { return steps[0].reach() + steps[1].reach(); }
};

/// Leaves out elements further from the first than the address space is long; such elements cannot exist.
template <class T>
Lattice lattice_of(const MatrixView<T>& view) {
  const auto steps = [](Index stride, Index count) -> Steps {
    constexpr auto size = static_cast<Index>(sizeof(T)), farthest = (Index{1} << 62) / size * 4;
    if (count == 1 || stride == 0) return {0, 0};
    return {Bytes{stride} * size, std::min(count - 1, farthest / stride)};
  };
  return {static_cast<Bytes>(reinterpret_cast<std::uintptr_t>(view.data())),
          sizeof(T),
          {steps(view.row_stride(), view.rows()), steps(view.col_stride(), view.cols())}};
}

Bytes ceil_div(Bytes x, Bytes y) { return (x + y - 1) / y; }

/// True if a z mod m lies in [first, last] for some 0 <= z <= most, by Euclid's algorithm. @pre 0 < first <= last < m.
///
/// If [first, last] has no multiple of a, then a z - m y in [first, last] means that m y mod a lies in [-last mod a, -first mod
/// a], where no residue occurs twice. And z <= most means that m y + first <= a most, since the next multiple of a above m y +
/// first is a z.
bool multiple_lies_in(Bytes a, Bytes m, Bytes first, Bytes last, Bytes most) {
  for (;;) {
    a %= m;
    if (a * most < first) return false;
    if (last / a * a >= first) return true;
    most = (a * most - first) / m;
    const Bytes least = a - last % a;
    last = a - first % a;
    first = least;
    std::swap(a, m);
  }
}

/// True if steps of kind x and steps of kind y together lead into [first, last]. @pre 0 <= last; 0 <= last - first < y.length -
/// 1.
///
/// With x steps of the first kind, v = last - x x.length must be y y.length plus at most last - first. For some y <= y.most
/// this means 0 <= v <= y.reach() + last - first, which bounds x, and v mod y.length <= last - first.
bool leads_into(const Steps& x, const Steps& y, Bytes first, Bytes last) {
  const Bytes least = ceil_div(std::max<Bytes>(0, first - y.reach()), x.length);
  const Bytes most = std::min(x.most, last / x.length);
  if (least > most) return false;
  const Bytes width = last - first;
  const Bytes rest = (last - most * x.length) % y.length;
  return rest <= width || multiple_lies_in(x.length, y.length, y.length - rest, y.length - rest + width, most - least);
}

/// True if steps lead into [first, last]. @pre first <= last; the steps are sorted by length, and no length is 0.
///
/// Steps no longer than the interval leave no gaps in it: they reach one longer interval, into which the other steps must lead.
/// Two remaining kinds take O(log) divisions; there are at most two for matrices that each have a stride of 1, one row or one
/// column. With more kinds, each number of the longest steps is tried in turn.
bool lead_into(std::span<const Steps> steps, Bytes first, Bytes last) {
  for (; !steps.empty() && steps.front().length <= last - first + 1; steps = steps.subspan(1)) first -= steps.front().reach();
  Bytes reach = 0;
  for (const auto& kind : steps) reach += kind.reach();
  if (last < 0 || first > reach) return false;
  if (steps.empty()) return true;
  if (steps.size() == 2) return leads_into(steps[1], steps[0], first, last);
  const auto& [length, most] = steps.back();
  const Bytes end = std::min(most, last / length);
  for (Bytes n = ceil_div(std::max<Bytes>(0, first - (reach - length * most)), length); n <= end; ++n)
    if (lead_into(steps.first(steps.size() - 1), first - n * length, last - n * length)) return true;
  return false;
}

/// Sorts steps by length, merges equal lengths and drops those of length 0.
std::span<const Steps> sorted(std::span<Steps> steps) {
  std::sort(steps.begin(), steps.end(), [](const Steps& x, const Steps& y) { return x.length < y.length; });
  std::size_t kinds = 0;
  for (const auto& kind : steps) {
    if (kind.most == 0) continue;
    if (kinds > 0 && steps[kinds - 1].length == kind.length)
      steps[kinds - 1].most += kind.most;
    else
      steps[kinds++] = kind;
  }
  return steps.first(kinds);
}

/// Elements of x and y share a byte if the one of x starts less than y.size after the one of y, or less than x.size before it.
/// Steps in y go backwards from its last element, so that all steps lead from y to x.
bool share_a_byte(const Lattice& x, const Lattice& y) {
  const Bytes from_y = x.start - y.start - y.reach();
  const Bytes first = 1 - x.size - from_y, last = y.size - 1 - from_y;
  if (last < 0 || first > x.reach() + y.reach()) return false;
  std::array steps{x.steps[0], x.steps[1], y.steps[0], y.steps[1]};
  return lead_into(sorted(steps), first, last);
}

template <class X, class Y>
bool views_overlap(const X& x, const Y& y) {
  return std::visit(
      [](const auto& v, const auto& w) { return !v.empty() && !w.empty() && share_a_byte(lattice_of(v), lattice_of(w)); },
      x.typed(), y.typed());
}

/// Elements (i, j) and (i', j') are the same if (i - i') row_stride = (j' - j) col_stride. The smallest non-zero solution is i
/// - i' = col_stride / g and j' - j = row_stride / g, where g is the greatest common divisor. The view overlaps itself if it is
/// large enough for that solution.
template <class View>
bool view_overlaps_itself(const View& view) {
  return std::visit(
      [](const auto& v) {
        if (v.empty() || (v.rows() == 1 && v.cols() == 1)) return false;
        if (v.rows() == 1) return v.col_stride() == 0;
        if (v.cols() == 1) return v.row_stride() == 0;
        const auto g = std::gcd(v.row_stride(), v.col_stride());
        return g == 0 || (v.col_stride() / g < v.rows() && v.row_stride() / g < v.cols());
      },
      view.typed());
}

template <class X, class Y>
bool views_show_the_same(const X& x, const Y& y) {
  return std::visit(
      [](const auto& v, const auto& w) {
        return static_cast<const void*>(v.data()) == static_cast<const void*>(w.data()) &&
               sizeof(*v.data()) == sizeof(*w.data()) && (v.rows() == 1 || v.row_stride() == w.row_stride()) &&
               (v.cols() == 1 || v.col_stride() == w.col_stride());
      },
      x.typed(), y.typed());
}

}  // namespace

bool overlap(const InputView& x, const OutputView& y) { return views_overlap(x, y); }
bool overlaps_itself(const OutputView& view) { return view_overlaps_itself(view); }
bool same_elements(const InputView& x, const InputView& y) { return views_show_the_same(x, y); }
bool same_elements(const InputView& x, const OutputView& y) { return views_show_the_same(x, y); }

bool overlap(const ComplexInputView& x, const ComplexOutputView& y) { return views_overlap(x, y); }
bool overlaps_itself(const ComplexOutputView& view) { return view_overlaps_itself(view); }
bool same_elements(const ComplexInputView& x, const ComplexOutputView& y) { return views_show_the_same(x, y); }

}  // namespace ozbound
