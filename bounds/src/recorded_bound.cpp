// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/recorded_bound.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "hex.hpp"
#include "json_members.hpp"
#include "ozbound/bounds/certificate.hpp"
#include "ozbound/core/float_environment.hpp"
#include "recorded_norms.hpp"
#include "seal.hpp"

namespace ozbound {
namespace {

using nlohmann::json;

std::vector<std::string> strings_member(const json& object, const std::string& path, const char* name) {
  std::vector<std::string> strings;
  const auto& value = any_member(object, path, name);
  if (!value.is_array()) refuse_member(path, name, "is not an array");
  for (const auto& element : value) {
    if (!element.is_string()) refuse_member(path, name, "holds something that is no string");
    strings.push_back(element.get<std::string>());
  }
  return strings;
}

bool flag_member(const json& object, const std::string& path, const char* name) {
  const auto& value = any_member(object, path, name);
  if (!value.is_boolean()) refuse_member(path, name, "is not true or false");
  return value.get<bool>();
}

std::uint64_t print_of_c(const json& certificate) {
  const auto text = string_member(any_member(certificate, "", "fingerprints"), "fingerprints", "c");
  std::uint64_t print = 0;
  std::from_chars(text.data(), text.data() + text.size(), print, 16);
  if (hex(print) != text) refuse_member("fingerprints", "c", "is not a fingerprint");
  return print;
}

/// @param each number of norm vectors per row or column of C
void check_size(const json& certificate, const char* name, std::size_t vectors, std::size_t each) {
  const json value = any_member(certificate, "", name);
  if (!value.is_number_unsigned() || vectors % each != 0 || value.get<std::uint64_t>() != vectors / each)
    refuse_member("", name, "is not the size of the norms");
}

ErrorBound read_bound(const json& object) {
  ErrorBound bound;
  bound.source = string_member(object, "bound", "source");
  bound.alpha = number_member(object, "bound", "alpha");
  bound.result_factor = bound_member(object, "bound", "result_factor");
  bound.underflow = bound_member(object, "bound", "underflow");
  bound.rounded_once = flag_member(object, "bound", "rounded_once");
  read_norms(bound, any_member(object, "bound", "norms"), strings_member(object, "bound", "terms"));
  return bound;
}

}  // namespace

RecordedBound bound_from_json(const json& certificate) {
  const FloatEnvironment environment;
  const auto schema = string_member(certificate, "", "schema");
  if (schema != certificate_schema && schema != former_certificate_schema)
    refuse_member("", "schema", std::string("is not ") + certificate_schema);
  if (string_member(certificate, "", "seal") != seal_of(certificate))
    refuse_member("", "seal", "is not that of the other members");
  RecordedBound recorded{read_bound(any_member(certificate, "", "bound")), print_of_c(certificate)};
  recorded.complex = certificate.contains("complex");
  if (recorded.complex && !flag_member(certificate, "", "complex")) refuse_member("", "complex", "is true, or missing");
  recorded.bound.assumptions = strings_member(certificate, "", "assumptions");
  check_size(certificate, "m", recorded.bound.row_exponents.size(), recorded.complex ? 2 : 1);
  check_size(certificate, "n", recorded.bound.column_exponents.size(), 1);
  return recorded;
}

}  // namespace ozbound
