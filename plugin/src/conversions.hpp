// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/entry.hpp"
#include "ozbound/core/matrices.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/product.hpp"
#include "ozbound/core/special_entries.hpp"
#include "ozbound/core/vector_norms.hpp"
#include "ozbound/plugin/table.h"

// Conversions between C++ objects and their forms at the boundary, in both directions for both sides. A form with pointers
// refers to the object from which it was made.

namespace ozbound::plugin {

inline constexpr const char* release = OZBOUND_VERSION;

inline ozbound_plugin_text text_of(std::string_view text) { return {text.data(), static_cast<std::int64_t>(text.size())}; }
inline std::string text_from(const ozbound_plugin_text& text) {
  return text.size == 0 ? std::string() : std::string(text.data, static_cast<std::size_t>(text.size));
}

/// A copy; `data` may be null if `count` is 0.
template <class T>
std::vector<T> vector_from(const T* data, std::int64_t count) {
  return count == 0 ? std::vector<T>() : std::vector<T>(data, data + count);
}

template <class T>
std::int64_t count_of(const T& container) {
  return static_cast<std::int64_t>(container.size());
}

// Matrices.

template <class T>
ozbound_plugin_view view_of(const MatrixView<T>& v, bool is_double, bool conjugated, Place place) {
  void* const data = const_cast<std::remove_const_t<T>*>(v.data());
  return {data, v.rows(), v.cols(), v.row_stride(), v.col_stride(), is_double ? 1 : 0, conjugated ? 1 : 0, place.device, 0};
}

/// The view for any of the four C++ views.
template <class View>
ozbound_plugin_view view_of(const View& view) {
  bool conjugated = false;
  if constexpr (requires { view.conjugated(); }) conjugated = view.conjugated();
  return std::visit([&](const auto& v) { return view_of(v, view.is_double(), conjugated, view.place()); }, view.typed());
}

template <class T>
MatrixView<T> typed_from(const ozbound_plugin_view& v) {
  return {static_cast<T*>(v.data), v.rows, v.cols, v.row_stride, v.col_stride};
}

inline InputView input_from(const ozbound_plugin_view& v) {
  return (v.is_double != 0 ? InputView(typed_from<const double>(v)) : InputView(typed_from<const float>(v))).at({v.device});
}
inline OutputView output_from(const ozbound_plugin_view& v) {
  return (v.is_double != 0 ? OutputView(typed_from<double>(v)) : OutputView(typed_from<float>(v))).at({v.device});
}
inline ComplexInputView complex_input_from(const ozbound_plugin_view& v) {
  const auto view = v.is_double != 0 ? ComplexInputView(typed_from<const std::complex<double>>(v))
                                     : ComplexInputView(typed_from<const std::complex<float>>(v));
  return (v.conjugated != 0 ? view.conjugate() : view).at({v.device});
}
inline ComplexOutputView complex_output_from(const ozbound_plugin_view& v) {
  return (v.is_double != 0 ? ComplexOutputView(typed_from<std::complex<double>>(v))
                           : ComplexOutputView(typed_from<std::complex<float>>(v)))
      .at({v.device});
}

inline ozbound_plugin_product product_of(const RealProduct& p) {
  return {view_of(p.a), view_of(p.b), view_of(p.c), view_of(p.c0), p.alpha, p.beta};
}
inline RealProduct product_from(const ozbound_plugin_product& p) {
  return {input_from(p.a), input_from(p.b), output_from(p.c), p.alpha, p.beta, input_from(p.c0)};
}

inline ozbound_plugin_complex_product product_of(const ComplexProduct& p) {
  return {view_of(p.a),
          view_of(p.b),
          view_of(p.c),
          view_of(p.c0),
          {p.alpha.real(), p.alpha.imag()},
          {p.beta.real(), p.beta.imag()}};
}
inline ComplexProduct product_from(const ozbound_plugin_complex_product& p) {
  return {complex_input_from(p.a),  complex_input_from(p.b), complex_output_from(p.c),
          {p.alpha[0], p.alpha[1]}, {p.beta[0], p.beta[1]},  complex_input_from(p.c0)};
}

// Plans and targets.

inline std::int32_t side_of(Side side) { return side == Side::rows_of_a ? 0 : 1; }
inline Side side_from(std::int32_t side) { return side == 0 ? Side::rows_of_a : Side::columns_of_b; }

inline ozbound_plugin_slicing slicing_of(const Slicing& s) {
  return {static_cast<std::int32_t>(s.encoding.kind), s.encoding.beta, s.slices};
}
inline Slicing slicing_from(const ozbound_plugin_slicing& s) {
  return {{static_cast<Encoding::Kind>(s.kind), s.beta}, s.slices};
}

/// @throws std::invalid_argument for residues of complex integers, which no plug-in supports.
inline ozbound_plugin_form form_of(const OperandForm& form) {
  const auto* const residues = std::get_if<ResidueForm>(&form);
  if (residues == nullptr) return {0, 0, 0, slicing_of(std::get<Slicing>(form))};
  if (residues->complex) throw std::invalid_argument("plan: this engine has no residues of complex integers");
  return {1, residues->moduli, residues->bits, {}};
}
inline OperandForm form_from(const ozbound_plugin_form& f) {
  if (f.kind == 0) return slicing_from(f.slicing);
  return ResidueForm{f.moduli, f.bits};
}

inline ozbound_plugin_plan plan_of(const Plan& plan) {
  return plan.visit(
      [](const SplitPlan& p) {
        return ozbound_plugin_plan{
            0, 0, 0, 0, slicing_of(p.a), slicing_of(p.b), p.cut, static_cast<std::int32_t>(p.accumulation)};
      },
      [](const ResiduePlan& p) { return ozbound_plugin_plan{1, p.moduli, p.bits_a, p.bits_b, {}, {}, 0, 0}; });
}
inline Plan plan_from(const ozbound_plugin_plan& p) {
  if (p.kind == 1) return ResiduePlan{p.moduli, p.bits_a, p.bits_b};
  if (p.kind != 0) throw std::invalid_argument("plan must be by slices or residues, not of kind " + std::to_string(p.kind));
  return SplitPlan{slicing_from(p.a), slicing_from(p.b), p.cut, static_cast<Accumulation>(p.accumulation)};
}

inline ozbound_plugin_vector_norms norms_of(const VectorNorms& v) {
  return {{v.norms.sum, v.norms.sum_squares, v.norms.max},
          v.floor_squares,
          v.scale.exponent,
          v.scale.special ? 1 : 0,
          v.last_bit,
          0};
}
inline VectorNorms norms_from(const ozbound_plugin_vector_norms& v) {
  return {{v.exponent, v.special != 0}, {v.norms[0], v.norms[1], v.norms[2]}, v.floor_squares, v.last_bit};
}

inline ozbound_plugin_target target_of(const Target& t) { return {t.tau, static_cast<std::int32_t>(t.kind), 0}; }
inline Target target_from(const ozbound_plugin_target& t) { return {static_cast<Target::Kind>(t.kind), t.tau}; }

// Entries.

inline std::vector<ozbound_plugin_entry> entries_of(const std::vector<Entry>& entries) {
  std::vector<ozbound_plugin_entry> all;
  all.reserve(entries.size());
  for (const auto& entry : entries) all.push_back({entry.i, entry.j});
  return all;
}
inline std::vector<Entry> entries_from(const ozbound_plugin_entry* data, std::int64_t count) {
  std::vector<Entry> all;
  all.reserve(static_cast<std::size_t>(count));
  for (std::int64_t t = 0; t < count; ++t) all.push_back({data[t].i, data[t].j});
  return all;
}

inline ozbound_plugin_specials specials_of(const SpecialEntries& s) {
  return {s.rows.data(), s.columns.data(), count_of(s.rows), count_of(s.columns), view_of(s.c0), s.everywhere ? 1 : 0, 0,
          nullptr};
}
inline SpecialEntries specials_from(const ozbound_plugin_specials& s) {
  return {vector_from(s.rows, s.row_count), vector_from(s.columns, s.column_count), s.everywhere != 0, input_from(s.c0)};
}

inline ozbound_plugin_range range_of(const ExponentRange& range) { return {range.least, range.top}; }
inline ExponentRange range_from(const ozbound_plugin_range& range) { return {range.least, range.top}; }

// Bounds.

/// An EntryBound's terms in the form of a table. They refer to the bound's norms.
class BoundTerms {
 public:
  explicit BoundTerms(const EntryBound& bound) : uniform_(bound.uniform) {
    std::size_t count = 0;
    for (const auto& term : bound.terms) count += term.alternatives.size();
    outer_.reserve(count);  // so that no element moves
    for (const auto& term : bound.terms) {
      const auto* const first = outer_.data() + outer_.size();
      for (const auto& o : term.alternatives)
        outer_.push_back({o.rows.data(), o.columns.data(), count_of(o.rows), count_of(o.columns)});
      terms_.push_back({text_of(term.name), first, count_of(term.alternatives)});
    }
  }

  [[nodiscard]] ozbound_plugin_entry_bound table() const { return {terms_.data(), count_of(terms_), uniform_}; }

 private:
  double uniform_;
  std::vector<ozbound_plugin_outer_product> outer_;
  std::vector<ozbound_plugin_bound_term> terms_;
};

/// @param owner owner of the norms, which are not copied; null: the caller, for the duration of the call
inline EntryBound bound_from(const ozbound_plugin_entry_bound& b, const std::shared_ptr<const void>& owner) {
  EntryBound bound;
  bound.uniform = b.uniform;
  for (std::int64_t t = 0; t < b.count; ++t) {
    BoundTerm term{text_from(b.terms[t].name), {}};
    for (std::int64_t s = 0; s < b.terms[t].count; ++s) {
      const auto& o = b.terms[t].alternatives[s];
      term.alternatives.push_back({Norms(owner, o.rows, static_cast<std::size_t>(o.row_count)),
                                   Norms(owner, o.columns, static_cast<std::size_t>(o.column_count))});
    }
    bound.terms.push_back(std::move(term));
  }
  return bound;
}

/// A PlanBound in host memory in the form of a table; `bound` must outlive it.
class PlanBoundTable {
 public:
  PlanBoundTable(const EntryBound& product, const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& columns)
      : terms_(product), rows_(rows), columns_(columns) {}

  [[nodiscard]] ozbound_plugin_plan_bound table() const {
    return {terms_.table(), rows_.data(), columns_.data(), count_of(rows_), count_of(columns_), nullptr, nullptr};
  }

 private:
  BoundTerms terms_;
  const std::vector<std::int32_t>&rows_, &columns_;
};

/// A bound with a remote handle in place of its members.
inline ozbound_plugin_plan_bound kept_bound(ozbound_plugin_remote_bound* remote) {
  ozbound_plugin_plan_bound bound = {};
  bound.remote = remote;
  return bound;
}

inline PlanBound plan_bound_from(const ozbound_plugin_plan_bound& b, const std::shared_ptr<const void>& owner) {
  return {bound_from(b.product, owner), vector_from(b.row_exponents, b.row_count),
          vector_from(b.column_exponents, b.column_count)};
}

class ErrorBoundTable {
 public:
  explicit ErrorBoundTable(const ErrorBound& bound)
      : bound_(bound), plan_(bound.product, bound.row_exponents, bound.column_exponents) {}

  [[nodiscard]] ozbound_plugin_error_bound table() const {
    return {plan_.table(), bound_.alpha, bound_.result_factor, bound_.underflow, bound_.rounded_once ? 1 : 0, 0};
  }

 private:
  const ErrorBound& bound_;
  PlanBoundTable plan_;
};

inline ErrorBound error_bound_from(const ozbound_plugin_error_bound& b) {
  auto plan = plan_bound_from(b.plan, nullptr);
  ErrorBound bound;
  bound.alpha = b.alpha, bound.result_factor = b.result_factor, bound.underflow = b.underflow;
  bound.rounded_once = b.rounded_once != 0;
  bound.product = std::move(plan.product);
  bound.row_exponents = std::move(plan.row_exponents), bound.column_exponents = std::move(plan.column_exponents);
  return bound;
}

inline ozbound_plugin_probe probe_of(const Probe& p) { return {p.i, p.j, p.allowed}; }
inline Probe probe_from(const ozbound_plugin_probe& p) { return {p.i, p.j, p.allowed}; }

}  // namespace ozbound::plugin
