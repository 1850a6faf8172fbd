// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/decision.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "json_numbers.hpp"

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

constexpr std::array<std::pair<Method, const char*>, 4> methods{{
    {Method::one_plan, "slices"},
    {Method::correctly_rounded, "correctly_rounded"},
    {Method::native, "native"},
    {Method::exact, "exact"},
}};

constexpr const char* schema = "ozbound-decision-3";
constexpr const char* schema_before_rounding = "ozbound-decision-2";  ///< ratios exclude the rounding
constexpr const char* schema_of_products = "ozbound-decision-1";      ///< costs count products

Method parse_method(const std::string& text) {
  for (const auto& [method, name] : methods)
    if (text == name) return method;
  throw std::invalid_argument("method must be slices, correctly_rounded, native or exact: '" + text + "'");
}

nlohmann::json plan_json(const std::optional<Plan>& plan) {
  return plan ? nlohmann::json(to_string(*plan)) : nlohmann::json(nullptr);
}

template <class T>
T member(const nlohmann::json& json, const char* name) {
  try {
    return json.at(name).get<T>();
  } catch (const nlohmann::json::exception&) {
    throw std::invalid_argument(std::string("decision: member '") + name + "' is missing or of the wrong type");
  }
}

Index size_member(const nlohmann::json& json, const char* name, Index largest = std::numeric_limits<Index>::max()) {
  if (!json.contains(name) || !json.at(name).is_number_integer() || json.at(name).get<Index>() < 0 ||
      json.at(name).get<Index>() > largest)
    throw std::invalid_argument(std::string("decision: member '") + name + "' must be a size");
  return json.at(name).get<Index>();
}

/// The number, or 0 if the member is missing.
double number_member(const nlohmann::json& json, const char* name) {
  return json.contains(name) ? member<double>(json, name) : 0;
}

nlohmann::json costs_json(const CostOrigin& costs) {
  nlohmann::json json{{"model", costs.model}, {"unit", costs.unit}};
  if (costs.threads > 0) json.update({{"processor", costs.processor}, {"kernel", costs.kernel}, {"threads", costs.threads}});
  if (!costs.note.empty()) json["note"] = costs.note;
  return json;
}

CostOrigin costs_member(const nlohmann::json& json) {
  if (!json.contains("costs")) return {};
  const auto& costs = json.at("costs");
  const auto text = [&costs](const char* name) { return costs.contains(name) ? member<std::string>(costs, name) : ""; };
  CostOrigin origin{member<std::string>(costs, "model"),
                    member<std::string>(costs, "unit"),
                    text("processor"),
                    text("kernel"),
                    0,
                    text("note")};
  if (costs.contains("threads")) origin.threads = static_cast<int>(std::min<Index>(size_member(costs, "threads"), 1 << 20));
  return origin;
}

/// Reads a number in the form of json_number.
double unbounded_member(const nlohmann::json& json, const char* name) {
  const bool infinite = json.contains(name) && json.at(name) == "inf";
  return infinite ? std::numeric_limits<double>::infinity() : number_member(json, name);
}

BackendId engine_member(const nlohmann::json& json) {
  const auto text = member<std::string>(json, "engine");
  try {
    return parse_backend_id(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("decision: engine ") + error.what());
  }
}

}  // namespace

std::string to_string(Method method) {
  for (const auto& [value, name] : methods)
    if (value == method) return name;
  throw std::invalid_argument("method is out of range");
}

std::string way_text(Method method, const std::optional<Plan>& plan) {
  return method == Method::one_plan && plan && plan->by_residues() ? "residues" : to_string(method);
}

nlohmann::json to_json(const Decision& decision) {
  const FloatEnvironment environment;
  auto candidates = nlohmann::json::array();
  for (const auto& c : decision.candidates)
    candidates.push_back({{"method", to_string(c.method)},
                          {"plan", plan_json(c.plan)},
                          {"products", c.plan ? nlohmann::json(c.plan->products()) : nlohmann::json(nullptr)},
                          {"cost", json_number(c.cost)},
                          {"ratio", json_number(c.ratio)},
                          {"certifies", c.certifies}});
  nlohmann::json json{{"schema", schema},
                      {"target", to_string(decision.target)},
                      {"method", to_string(decision.method)},
                      {"plan", plan_json(decision.plan)},
                      {"m", decision.m},
                      {"n", decision.n},
                      {"k", decision.k},
                      {"cost", json_number(decision.cost)},
                      {"ratio", json_number(decision.ratio)},
                      {"reason", decision.reason},
                      {"costs", costs_json(decision.costs)},
                      {"candidates", candidates}};
  if (decision.complex) json["complex"] = true;
  if (decision.engine) json["engine"] = to_string(*decision.engine);
  return json;
}

Decision decision_from_json(const nlohmann::json& json) {
  const FloatEnvironment environment;
  if (!json.is_object()) throw std::invalid_argument("decision: must be a JSON object");
  const auto version = member<std::string>(json, "schema");
  if (version != schema && version != schema_before_rounding && version != schema_of_products)
    throw std::invalid_argument(std::string("decision: schema must be ") + schema);
  Decision decision;
  decision.target = parse_target(member<std::string>(json, "target"));
  decision.method = parse_method(member<std::string>(json, "method"));
  const bool planned = decision.method == Method::one_plan || decision.method == Method::correctly_rounded;
  if (planned) decision.plan = parse_plan(member<std::string>(json, "plan"));
  decision.complex = json.contains("complex");
  if (decision.complex && !member<bool>(json, "complex")) throw std::invalid_argument("decision: complex is true, or missing");
  const Index largest = std::numeric_limits<Index>::max() / (decision.complex ? 2 : 1);
  decision.m = size_member(json, "m", largest);
  decision.n = size_member(json, "n");
  decision.k = size_member(json, "k", largest);
  if (json.contains("engine")) decision.engine = engine_member(json);
  if (json.contains("reason")) decision.reason = member<std::string>(json, "reason");
  decision.cost = unbounded_member(json, "cost");
  decision.ratio = unbounded_member(json, "ratio");
  if (version != schema_of_products) decision.costs = costs_member(json);
  return decision;
}

Decision parse_decision(std::string_view text) {
  const FloatEnvironment environment;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw std::invalid_argument("decision: is not JSON");
  return decision_from_json(json);
}

}  // namespace ozbound
