// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "study/kinds.hpp"

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

using nlohmann::ordered_json;

constexpr const char* ootomo = "Ootomo, Ozaki, Yokota: DGEMM on Integer Matrix Multiplication Unit, ";
constexpr const char* uchino = "Uchino, Ozaki, Imamura: Performance Enhancement of the Ozaki Scheme, ";
constexpr const char* abdelfattah =
    "Abdelfattah, Dongarra, Fasi, Mikaitis, Tisseur: High-Accuracy Floating-Point Matrix Multiplication";
constexpr const char* mukunoki = "Mukunoki, Ozaki, Ogita, Imamura: DGEMM Using Tensor Cores, ";

void check(const StudyOptions& options) {
  if (!(options.scale >= 0x1p-6 && options.scale <= 64))
    throw std::invalid_argument(fmt::format("the scale must be from 1/64 to 64: {}", options.scale));
}

/// Runs a study after checking its options.
template <Study (*run)(const StudyOptions&, const StudyContext&)>
Study checked(const StudyOptions& options, const StudyContext& context) {
  const FloatEnvironment environment;
  check(options);
  return run(options, context);
}

/// A number in JSON, which has no infinity.
ordered_json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

ordered_json claim_json(const StudyClaim& claim) {
  return {{"name", claim.name},
          {"rigorous", claim.rigorous},
          {"average_relative", number(claim.average_relative)},
          {"max_relative", number(claim.max_relative)},
          {"worst_ratio", number(claim.worst_ratio)}};
}

ordered_json measurement_json(const StudyMeasurement& one) {
  ordered_json json{{"method", one.method},
                    {"plan", one.plan},
                    {"data", one.data},
                    {"phi", one.phi},
                    {"k", one.k},
                    {"slices", one.slices},
                    {"average_relative", number(one.average_relative)},
                    {"max_relative", number(one.max_relative)},
                    {"bounds", ordered_json::array()}};
  for (const auto& claim : one.claims) json["bounds"].push_back(claim_json(claim));
  return json;
}

ordered_json series_json(const Series& series) {
  ordered_json json{{"plot", series.plot},     {"label", series.label},          {"x_axis", series.x_axis},
                    {"y_axis", series.y_axis}, {"log_x", series.log_x},          {"log_y", series.log_y},
                    {"bound", series.bound},   {"points", ordered_json::array()}};
  for (const auto& [x, y] : series.points) json["points"].push_back(ordered_json::array({number(x), number(y)}));
  return json;
}

}  // namespace

bool Study::holds() const {
  return std::all_of(measurements.begin(), measurements.end(), [](const auto& one) {
    return std::all_of(one.claims.begin(), one.claims.end(), [](const auto& claim) { return claim.holds(); });
  });
}

std::span<const StudyKind> all_studies() {
  static const std::array<StudyKind, 11> all{{
      {"ootomo-fig4", std::string(ootomo) + "Fig. 4",
       "bits of a slice, slices for 70 bits, memory and products of four matrix units against the inner dimension",
       checked<study::ootomo_fig4>},
      {"ootomo-fig6", std::string(ootomo) + "Fig. 6",
       "average relative error of INT8x9, INT8x11, INT8x13 and DGEMM against the inner dimension, for four widths of exponents",
       checked<study::ootomo_fig6>},
      {"ootomo-fig7", std::string(ootomo) + "Fig. 7", "average relative error of the product of a matrix and its inverse",
       checked<study::ootomo_fig7>},
      {"circuit", std::string(ootomo) + "section 4.4",
       "error of the state of random circuits, native ZGEMM, INT8-AUTO and certified products, against the gates applied; "
       "ZGEMM's bounds assume conventional sums",
       checked<study::circuit>},
      {"uchino-fig1", std::string(uchino) + "Fig. 1",
       "largest relative error of ozIMMU with 4 to 11 slices against the inner dimension", checked<study::uchino_fig1>},
      {"uchino-fig5", std::string(uchino) + "Fig. 5",
       "largest relative error of ozIMMU, ozIMMU_RN, ozIMMU_EF and ozIMMU_H with 7 to 11 slices against the inner dimension",
       checked<study::uchino_fig5>},
      {"kappa", abdelfattah, "how far the bound by κ, Uchino's and ours are above the error, against the width of exponents",
       checked<study::kappa>},
      {"multiword", std::string(abdelfattah) + ", (3) to (5)",
       "average relative error of binary32 products by words of 16 bits, units that truncate and units that round to nearest, "
       "against the inner dimension",
       checked<study::multiword>},
      {"m3xu", "Ha, Zhang, Kao, Hughes, Ro, Tseng: M3XU, sections IV-A and V-B",
       "average relative error of FP32 products on 12-bit multipliers against the width of the register",
       checked<study::m3xu_width>},
      {"mukunoki-fig3", std::string(mukunoki) + "Fig. 3",
       "largest relative error of DGEMM and of slices of binary16, DP-mode and CR-mode, against the inner dimension and φ",
       checked<study::mukunoki_fig3>},
      {"mukunoki-fig8", std::string(mukunoki) + "Fig. 8",
       "largest relative error of SGEMM and of slices of binary16, SP-mode, against the inner dimension and φ",
       checked<study::mukunoki_fig8>},
  }};
  return all;
}

const StudyKind& find_study(std::string_view name) {
  std::string names;
  for (const auto& kind : all_studies()) {
    if (kind.name == name) return kind;
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  throw std::invalid_argument(fmt::format("there is no study '{}'; the studies are {}", name, names));
}

std::string explain_failures(const Study& study) {
  const FloatEnvironment environment;
  std::string text;
  for (const auto& one : study.measurements)
    for (const auto& claim : one.claims)
      if (!claim.holds())
        text += fmt::format("FAILS: {} of {} ({})\n  data: {}\n  entry ({}, {}): error {}, bound {}, ratio {:.4g}\n",
                            claim.name, one.method, one.plan.empty() ? "native" : one.plan, one.data, claim.row, claim.col,
                            to_string(claim.error), to_string(claim.bound), claim.worst_ratio);
  return text;
}

ordered_json to_json(const Study& study) {
  const FloatEnvironment environment;
  const auto& kind = find_study(study.name);
  ordered_json json{{"schema", "ozbound-study-1"},    {"study", study.name},
                    {"source", kind.source},          {"statement", kind.statement},
                    {"scale", study.options.scale},   {"seed", study.options.seed},
                    {"holds", study.holds()},         {"measurements", ordered_json::array()},
                    {"series", ordered_json::array()}};
  for (const auto& one : study.measurements) json["measurements"].push_back(measurement_json(one));
  for (const auto& one : study.series) json["series"].push_back(series_json(one));
  return json;
}

}  // namespace ozbound
