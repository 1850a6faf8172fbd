// SPDX-License-Identifier: BSD-3-Clause
#include "study/figure.hpp"

#include <algorithm>
#include <utility>

namespace ozbound::study {
namespace {

/// Distinct names, in the order of their first occurrence.
template <class Item, class Name>
std::vector<std::string> names_of(const std::vector<Item>& items, Name name) {
  std::vector<std::string> names;
  for (const auto& item : items)
    if (std::find(names.begin(), names.end(), name(item)) == names.end()) names.push_back(name(item));
  return names;
}

}  // namespace

Axes over_inner_dimension(Measure measure) {
  return {"inner dimension", true, [](const auto& one) { return static_cast<double>(one.k); }, measure};
}

Axes over_slices(Measure measure) {
  return {"slices", false, [](const auto& one) { return static_cast<double>(one.slices); }, measure};
}

Axes over_phi(Measure measure) {
  return {"φ", true, [](const auto& one) { return one.phi; }, measure};
}

std::vector<const StudyMeasurement*> Figure::all(const Wanted& wanted) const {
  std::vector<const StudyMeasurement*> found;
  for (const auto& one : study_.measurements)
    if (wanted(one)) found.push_back(&one);
  return found;
}

void Figure::add(const std::string& plot, const std::string& label, std::vector<std::pair<double, double>> points, bool bound) {
  study_.series.push_back({.plot = plot,
                           .label = label,
                           .x_axis = axes_.x_axis,
                           .y_axis = axes_.measure == Measure::average ? "average relative error" : "largest relative error",
                           .log_x = axes_.log_x,
                           .log_y = true,
                           .points = std::move(points),
                           .bound = bound});
}

void Figure::add_methods(const std::string& plot, const Wanted& wanted, const Name& name) {
  const auto measured = all(wanted);
  for (const auto& label : names_of(measured, [&name](const auto* one) { return name(*one); })) {
    std::vector<std::pair<double, double>> points;
    for (const auto* one : measured)
      if (name(*one) == label) points.emplace_back(axes_.x(*one), error_of(*one, axes_.measure));
    add(plot, label, std::move(points), false);
  }
}

void Figure::add_claims(const std::string& plot, const std::vector<const StudyMeasurement*>& measured) {
  std::vector<std::string> names;
  for (const auto* one : measured)
    for (const auto& claim : one->claims)
      if (std::find(names.begin(), names.end(), claim.name) == names.end()) names.push_back(claim.name);
  for (const auto& name : names) {
    std::vector<std::pair<double, double>> points;
    bool rigorous = true;
    for (const auto* one : measured)
      for (const auto& claim : one->claims)
        if (claim.name == name) {
          points.emplace_back(axes_.x(*one), bound_of(claim, axes_.measure));
          rigorous = claim.rigorous;
        }
    add(plot, rigorous ? name : name + " (estimate)", std::move(points), true);
  }
}

void Figure::add_bounds(const std::string& plot, const Wanted& wanted) {
  const auto measured = all(wanted);
  std::vector<std::pair<double, double>> points;
  for (const auto* one : measured) points.emplace_back(axes_.x(*one), error_of(*one, axes_.measure));
  if (points.empty()) return;
  add(plot, "measured", std::move(points), false);
  add_claims(plot, measured);
}

}  // namespace ozbound::study
