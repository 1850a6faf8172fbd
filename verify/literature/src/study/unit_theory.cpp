// SPDX-License-Identifier: BSD-3-Clause
#include <functional>

#include "ozbound/core/matrix_unit.hpp"
#include "study/kinds.hpp"

namespace ozbound::study {
namespace {

/// One of the four panels: a number for each unit and inner dimension.
struct Panel {
  std::string plot, y_axis;
  bool log_y;
  std::function<double(const MatrixUnit&, Index k)> value;
};

/// The accuracy of the representation in the paper's example.
constexpr int mantissa_space = 70;

int slices(const MatrixUnit& unit, Index k) { return unit.slices(mantissa_space, k); }

std::vector<Panel> panels() {
  return {
      {"Bits of a slice", "bits", false,
       [](const MatrixUnit& unit, Index k) { return static_cast<double>(unit.bits_per_slice(k)); }},
      {"Slices for a mantissa space of 70 bits", "slices", false,
       [](const MatrixUnit& unit, Index k) { return static_cast<double>(slices(unit, k)); }},
      {"Working memory", "bytes an element", false,
       [](const MatrixUnit& unit, Index k) { return unit.bytes_per_element(slices(unit, k)); }},
      {"Products of slices", "products", true,
       [](const MatrixUnit& unit, Index k) { return static_cast<double>(triangle_products(slices(unit, k))); }},
  };
}

}  // namespace

Study ootomo_fig4(const StudyOptions& options, const StudyContext&) {
  Study study{.name = "ootomo-fig4", .options = options, .measurements = {}, .series = {}};
  for (const auto& panel : panels())
    for (const auto& unit : matrix_units) {
      study.series.push_back({.plot = panel.plot,
                              .label = std::string(unit.name),
                              .x_axis = "inner dimension",
                              .y_axis = panel.y_axis,
                              .log_x = true,
                              .log_y = panel.log_y,
                              .points = {}});
      for (Index k = Index{1} << 8; k <= Index{1} << 20; k *= 2)
        study.series.back().points.emplace_back(static_cast<double>(k), panel.value(unit, k));
    }
  return study;
}

}  // namespace ozbound::study
