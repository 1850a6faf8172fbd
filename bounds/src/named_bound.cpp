#include "ozbound/bounds/named_bound.hpp"

#include <array>
#include <stdexcept>
#include <vector>

#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/bounds/uchino_bound.hpp"

namespace ozbound {
namespace {

using Facts = std::span<const VectorFacts>;

bool every_plan(const SplitPlan&) { return true; }

/// One number for every entry.
EntryBound uniform(const char* name, double bound, Facts rows, Facts columns) {
  return {{{name, {{std::vector<double>(rows.size(), bound), std::vector<double>(columns.size(), 1.0)}}}}};
}

}  // namespace

std::span<const NamedBound> truncation_bounds() {
  static const std::array<NamedBound, 3> all{{
      {"a-priori", "theory.md, section 2; docs/derivations/general_bound.md", every_plan,
       [](Facts rows, Facts columns, const SplitPlan& plan, Index k) {
         return uniform("scales", truncation_a_priori_upper(plan, k), rows, columns);
       }},
      {"a-posteriori", "theory.md, section 2; docs/derivations/general_bound.md", every_plan,
       [](Facts rows, Facts columns, const SplitPlan& plan, Index) {
         return truncation_a_posteriori_upper(rows, columns, plan);
       }},
      {"uchino-truncation", "Uchino, Ozaki, Imamura, section 5.1, for their Algorithm 3", uchino_truncation_covers,
       [](Facts rows, Facts columns, const SplitPlan& plan, Index k) {
         return uniform("scales", uchino_truncation_upper(plan, k), rows, columns);
       }},
  }};
  return all;
}

const NamedBound& find_truncation_bound(std::string_view name) {
  std::string names;
  for (const auto& bound : truncation_bounds()) {
    if (bound.name == name) return bound;
    names += (names.empty() ? "" : ", ") + bound.name;
  }
  throw std::invalid_argument("truncation bound '" + std::string(name) + "' is none of " + names);
}

}  // namespace ozbound
