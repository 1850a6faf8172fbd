// SPDX-License-Identifier: BSD-3-Clause
#include "claims.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "../parsed_json.hpp"
#include "base64.hpp"

namespace ozbound::checking {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& wrong) { throw std::invalid_argument("certificate: " + wrong); }

json parse(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

/// An object. Every member must be asked for exactly once.
class Members {
 public:
  Members(const json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) refuse((path_.empty() ? "it" : "'" + path_ + "'") + " is not an object");
  }

  const json& operator[](const char* name) {
    asked_.insert(name);
    if (!object_.contains(name)) refuse("'" + full(name) + "' is missing");
    return object_[name];
  }
  [[nodiscard]] bool has(const char* name) const { return object_.contains(name); }
  std::string text(const char* name) { return is(name, &json::is_string, "a string").get<std::string>(); }
  bool flag(const char* name) { return is(name, &json::is_boolean, "true or false").get<bool>(); }
  Index count(const char* name) { return index((*this)[name], full(name)); }

  std::vector<std::string> texts(const char* name) {
    std::vector<std::string> all;
    for (const auto& element : is(name, &json::is_array, "an array")) {
      if (!element.is_string()) refuse("'" + full(name) + "' holds something that is no string");
      all.push_back(element.get<std::string>());
    }
    return all;
  }

  /// A number, or one of the strings that replace numbers missing in JSON.
  double number(const char* name) {
    const auto& value = (*this)[name];
    if (value.is_number()) return value.get<double>();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
    refuse("'" + full(name) + "' is not a number");
  }

  std::optional<std::string> print(const char* name) {
    if ((*this)[name].is_null()) return std::nullopt;
    return text(name);
  }

  /// Numbers in little-endian order, as base64.
  template <class Number>
  std::vector<Number> numbers(const char* name) {
    auto all = numbers_in<Number>(text(name));
    if (!all) refuse("'" + full(name) + "' is not the base64 of " + std::to_string(8 * sizeof(Number)) + "-bit numbers");
    return *std::move(all);
  }

  Entry entry(const char* name, bool complex) {
    const std::string wanted =
        complex ? "a row, a column and a part, as of a 'complex' product" : "a row and a column, as without 'complex'";
    const auto& value = is(name, &json::is_array, wanted.c_str());
    const bool fits = complex ? value.size() == 3 && (value[2] == "real" || value[2] == "imaginary") : value.size() == 2;
    if (!fits) refuse("'" + full(name) + "' is not " + wanted);
    return {index(value[0], full(name)), index(value[1], full(name)), complex ? value[2].get<std::string>() : ""};
  }

  /// Refuses members that were not asked for.
  void finish() const {
    for (const auto& [name, value] : object_.items())
      if (!asked_.contains(name)) refuse("'" + full(name) + "' is unknown");
  }

 private:
  [[nodiscard]] std::string full(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }

  const json& is(const char* name, bool (json::*kind)() const noexcept, const char* wanted) {
    const auto& value = (*this)[name];
    if (!(value.*kind)()) refuse("'" + full(name) + "' is not " + wanted);
    return value;
  }

  static Index index(const json& value, const std::string& name) {
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{1} << 62) ||
        value.get<Index>() < 0)
      refuse("'" + name + "' is not a count");
    return value.get<Index>();
  }

  const json& object_;
  std::string path_;
  std::set<std::string> asked_;
};

constexpr std::array<std::pair<std::string_view, Method>, 4> methods{{{"slices", Method::slices},
                                                                      {"correctly_rounded", Method::correctly_rounded},
                                                                      {"native", Method::native},
                                                                      {"exact", Method::exact}}};
constexpr std::array<std::pair<std::string_view, Target::Kind>, 7> kinds{{{"cr", Target::Kind::cr},
                                                                          {"dgemm", Target::Kind::dgemm},
                                                                          {"dgemm-typical", Target::Kind::dgemm_typical},
                                                                          {"componentwise", Target::Kind::componentwise},
                                                                          {"rowcol", Target::Kind::rowcol},
                                                                          {"normwise", Target::Kind::normwise},
                                                                          {"relative", Target::Kind::relative}}};

Method method_of(const std::string& text) {
  for (const auto& [name, method] : methods)
    if (text == name) return method;
  refuse("'method' is not one of slices, correctly_rounded, native, exact");
}

/// `cr`, `dgemm`, `dgemm-typical`, or a kind with the shortest decimal of its tau.
Target target_of(const std::string& text) {
  for (const auto& [name, kind] : kinds) {
    if (kind == Target::Kind::cr || kind == Target::Kind::dgemm || kind == Target::Kind::dgemm_typical) {
      if (text == name) return {kind, 0};
      continue;
    }
    if (!text.starts_with(std::string(name) + ":")) continue;
    const char* const begin = text.data() + name.size() + 1;
    double tau = 0;
    const auto read = std::from_chars(begin, text.data() + text.size(), tau);
    std::array<char, 40> shortest{};
    const auto* const end = std::to_chars(shortest.data(), shortest.data() + shortest.size(), tau).ptr;
    const bool canonical = read.ec == std::errc{} && std::string_view(shortest.data(), end) == begin;
    if (canonical && tau > 0 && tau <= std::numeric_limits<double>::max()) return {kind, tau};
  }
  refuse("'target' is not a target in its canonical spelling");
}

Plan plan_of(const std::string& text) {
  try {
    const Plan plan{text, reference::parse_plan(text)};
    if (reference::to_string(plan.plan) == text) return plan;
  } catch (const std::invalid_argument&) {
    // as below
  }
  refuse("'plans' holds what is not a plan in its canonical spelling: '" + text + "'");
}

std::string seal_of(json certificate) {
  certificate.erase("seal");
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char byte : certificate.dump(-1, ' ', false, json::error_handler_t::replace))
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return spelling(hash);
}

void read_norms(RecordedNorms& recorded, const json& object) {
  Members norms(object, "bound.norms");
  recorded.uniform = norms.number("uniform");
  recorded.row_exponents = norms.numbers<std::int32_t>("row_exponents");
  recorded.column_exponents = norms.numbers<std::int32_t>("column_exponents");
  recorded.rows = norms.numbers<double>("rows");
  recorded.columns = norms.numbers<double>("columns");
  norms.finish();
}

void read_bound(Claims& claims, const json& object) {
  Members bound(object, "bound");
  claims.source = bound.text("source");
  claims.rigorous = bound.flag("rigorous");
  claims.terms = bound.texts("terms");
  claims.bound_alpha = bound.number("alpha");
  claims.result_factor = bound.number("result_factor");
  claims.underflow = bound.number("underflow");
  claims.rounded_once = bound.flag("rounded_once");
  read_norms(claims.norms, bound["norms"]);
  bound.finish();
}

void read_fingerprints(Claims& claims, const json& object) {
  Members prints(object, "fingerprints");
  claims.a_print = prints.print("a");
  claims.b_print = prints.print("b");
  claims.c0_print = prints.print("c0");
  claims.c_print = prints.text("c");
  prints.finish();
}

std::pair<double, double> imaginary_of(const json& object) {
  Members imaginary(object, "imaginary");
  const double alpha = imaginary.number("alpha"), beta = imaginary.number("beta");
  imaginary.finish();
  if (alpha == 0 && beta == 0) refuse("'imaginary' stands there without need");
  return {alpha, beta};
}

bool narrow_of(const std::string& type) {
  if (type != "binary64" && type != "binary32") refuse("'type' is not binary64 or binary32");
  return type == "binary32";
}

bool has_schema(const json& document, const char* schema) {
  return document.is_object() && document.contains("schema") && document["schema"] == schema;
}

/// The certificate in a report; the names of the report's other members go to `beside`. Any other document is returned
/// unchanged.
const json& certificate_in(const json& document, std::vector<std::string>& beside) {
  if (!has_schema(document, "ozbound-report-1")) return document;
  for (const auto& [name, value] : document.items())
    if (name != "schema" && name != "certificate") beside.push_back(name);
  if (!document.contains("certificate")) refuse("the report has no 'certificate'");
  return document["certificate"];
}

}  // namespace

Entry entry_of(Index i, Index j, bool complex) {
  if (!complex) return {i, j, ""};
  return {i / 2, j, i % 2 == 0 ? "real" : "imaginary"};
}

std::string spelling(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

Claims read_claims(std::string_view text) {
  const auto document = parse(text);
  Claims claims;
  const auto& object = certificate_in(document, claims.beside);
  Members members(object, "");
  const auto schema = members.text("schema");
  if (schema == "ozbound-certificate-3") refuse("'schema' is ozbound-certificate-3, whose ratio stopped before the rounding");
  if (schema != "ozbound-certificate-4" && schema != "ozbound-certificate-5") refuse("'schema' is not ozbound-certificate-5");
  claims.schema = schema.back() - '0';
  claims.seal = members.text("seal");
  claims.target_text = members.text("target");
  claims.target = target_of(claims.target_text);
  claims.method = method_of(members.text("method"));
  for (const auto& plan : members.texts("plans")) claims.plans.push_back(plan_of(plan));
  if (members.has("complex") && !(claims.complex = members.flag("complex"))) refuse("'complex' stands there without need");
  claims.m = members.count("m"), claims.n = members.count("n"), claims.k = members.count("k");
  claims.alpha = members.number("alpha"), claims.beta = members.number("beta");
  if (members.has("imaginary")) claims.imaginary = imaginary_of(members["imaginary"]);
  if (claims.imaginary && !claims.complex) refuse("'imaginary' stands there, and 'complex' does not");
  claims.narrow = narrow_of(members.text("type"));
  read_fingerprints(claims, members["fingerprints"]);
  claims.holds = members.flag("holds");
  claims.ratio = members.number("ratio");
  claims.worst = members.entry("worst_entry", claims.complex);
  claims.largest_bound = members.number("largest_bound");
  claims.undecided = members.count("undecided_entries");
  claims.exact = members.count("exact_entries");
  claims.native = members.text("native");
  read_bound(claims, members["bound"]);
  claims.assumptions = members.texts("assumptions");
  members.finish();
  claims.sealed = seal_of(object);
  return claims;
}

}  // namespace ozbound::checking
