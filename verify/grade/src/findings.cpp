// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/grade/grade.hpp"

namespace ozbound {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<Outcome, std::string_view>, 7> outcomes{{
    {Outcome::pass, "pass"},
    {Outcome::fail, "fail"},
    {Outcome::differs, "differs"},
    {Outcome::measured, "measured"},
    {Outcome::skipped, "skipped"},
    {Outcome::crashed, "crashed"},
    {Outcome::hung, "hung"},
}};

json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

/// One value of a JSON tree, with the path that leads to it.
struct Member {
  const json& value;
  std::string path;

  [[noreturn]] void refuse(const char* wanted) const {
    throw std::invalid_argument("findings: '" + path + "' must be " + wanted);
  }

  [[nodiscard]] Member at(const char* name) const {
    if (!value.is_object()) refuse("an object");
    const auto found = value.find(name);
    const auto full = path.empty() ? name : path + "." + name;
    if (found == value.end()) throw std::invalid_argument("findings: '" + full + "' is missing");
    return {*found, full};
  }

  [[nodiscard]] std::vector<Member> elements() const {
    if (!value.is_array()) refuse("an array");
    std::vector<Member> members;
    for (const auto& element : value) members.push_back({element, path + "[" + std::to_string(members.size()) + "]"});
    return members;
  }

  [[nodiscard]] std::string text() const {
    if (!value.is_string()) refuse("a string");
    return value.get<std::string>();
  }

  [[nodiscard]] bool boolean() const {
    if (!value.is_boolean()) refuse("true or false");
    return value.get<bool>();
  }

  [[nodiscard]] double real() const {
    using Limits = std::numeric_limits<double>;
    if (value.is_number()) return value.get<double>();
    if (value == "inf") return Limits::infinity();
    if (value == "-inf") return -Limits::infinity();
    if (value == "nan") return Limits::quiet_NaN();
    refuse(R"(a number, "inf", "-inf" or "nan")");
  }

  [[nodiscard]] Outcome outcome() const {
    for (const auto& [known, name] : outcomes)
      if (value == name) return known;
    refuse("pass, fail, differs, measured, skipped, crashed or hung");
  }
};

json finding_json(const Finding& finding) {
  auto values = json::array();
  for (const auto& [name, value] : finding.values) values.push_back({{"name", name}, {"value", number(value)}});
  json object{{"test", finding.test},     {"statement", finding.statement},
              {"source", finding.source}, {"outcome", to_string(finding.outcome)},
              {"detail", finding.detail}, {"values", values}};
  if (!finding.snippet.empty()) object["snippet"] = finding.snippet;
  return object;
}

json series_json(const Series& series) {
  auto points = json::array();
  for (const auto& [x, y] : series.points) points.push_back(json::array({number(x), number(y)}));
  return {{"plot", series.plot},   {"label", series.label}, {"x_axis", series.x_axis}, {"y_axis", series.y_axis},
          {"log_x", series.log_x}, {"log_y", series.log_y}, {"points", points}};
}

Finding finding_from(const Member& member) {
  Finding finding{.test = member.at("test").text(),
                  .statement = member.at("statement").text(),
                  .source = member.at("source").text(),
                  .outcome = member.at("outcome").outcome(),
                  .detail = member.at("detail").text(),
                  .values = {}};
  for (const auto& value : member.at("values").elements())
    finding.values.emplace_back(value.at("name").text(), value.at("value").real());
  if (member.value.contains("snippet")) finding.snippet = member.at("snippet").text();
  return finding;
}

Series series_from(const Member& member) {
  Series series{.plot = member.at("plot").text(),
                .label = member.at("label").text(),
                .x_axis = member.at("x_axis").text(),
                .y_axis = member.at("y_axis").text(),
                .log_x = member.at("log_x").boolean(),
                .log_y = member.at("log_y").boolean(),
                .points = {}};
  for (const auto& point : member.at("points").elements()) {
    const auto coordinates = point.elements();
    if (coordinates.size() != 2) point.refuse("two numbers");
    series.points.emplace_back(coordinates[0].real(), coordinates[1].real());
  }
  return series;
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  for (const auto& [known, name] : outcomes)
    if (known == outcome) return name;
  throw std::invalid_argument("outcome is out of range");
}

nlohmann::json to_json(const Findings& findings) {
  const FloatEnvironment environment;
  json result{{"findings", json::array()}, {"series", json::array()}};
  for (const auto& finding : findings.findings) result["findings"].push_back(finding_json(finding));
  for (const auto& series : findings.series) result["series"].push_back(series_json(series));
  return result;
}

Findings findings_from_json(const nlohmann::json& document) {
  const FloatEnvironment environment;
  const Member root{document, ""};
  Findings findings;
  for (const auto& finding : root.at("findings").elements()) findings.findings.push_back(finding_from(finding));
  for (const auto& series : root.at("series").elements()) findings.series.push_back(series_from(series));
  return findings;
}

}  // namespace ozbound
