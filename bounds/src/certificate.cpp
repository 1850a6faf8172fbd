#include "ozbound/bounds/certificate.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "allowance.hpp"
#include "json_numbers.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/outward.hpp"

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

/// FNV-1a, 64 bits.
std::uint64_t fnv(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

nlohmann::json hex(std::optional<std::uint64_t> hash) {
  if (!hash) return nullptr;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(*hash));
  return text.data();
}

/// Of the object's canonical text: members in order of their names, no space. The library's name need not be UTF-8.
nlohmann::json seal(const nlohmann::json& object) {
  return hex(fnv(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

nlohmann::json record(const Fingerprints& prints) {
  return {{"a", hex(prints.a)}, {"b", hex(prints.b)}, {"c0", hex(prints.c0)}, {"c", hex(prints.c)}};
}

}  // namespace

std::vector<std::string> Certificate::assumptions() const {
  auto all = bound.assumptions;
  if (!assumed_in_search.empty()) all.push_back(assumed_in_search);
  return all;
}

std::optional<double> Certificate::typical_factor_upper() const {
  if (target.kind == Target::Kind::rowcol) return std::nullopt;
  const FloatEnvironment environment;
  const auto& format = narrow ? binary32 : binary64;
  const double tau = target.kind == Target::Kind::correctly_rounded ? unit_roundoff(format) : target_tau(target, k, format);
  const double typical = target_tau(Target::dgemm_typical(), k, format);
  return tau == typical ? ratio : divide_upper(multiply_upper(ratio, tau), typical);
}

nlohmann::json to_json(const Certificate& certificate) {
  const FloatEnvironment environment;
  auto plans = nlohmann::json::array();
  for (const auto& plan : certificate.plans) plans.push_back(to_string(plan));
  auto terms = nlohmann::json::array();
  for (const auto& term : certificate.bound.product.terms) terms.push_back(term.name);
  nlohmann::json object{{"schema", "ozbound-certificate-4"},
                        {"target", to_string(certificate.target)},
                        {"method", to_string(certificate.method)},
                        {"plans", plans},
                        {"m", certificate.m},
                        {"n", certificate.n},
                        {"k", certificate.k},
                        {"alpha", json_number(certificate.alpha)},
                        {"beta", json_number(certificate.beta)},
                        {"type", certificate.narrow ? "binary32" : "binary64"},
                        {"fingerprints", record(certificate.fingerprints)},
                        {"holds", certificate.holds},
                        {"ratio", json_number(certificate.ratio)},
                        {"worst_entry", {certificate.worst_i, certificate.worst_j}},
                        {"largest_bound", json_number(certificate.largest_bound)},
                        {"undecided_entries", certificate.undecided},
                        {"exact_entries", certificate.exact},
                        {"native", certificate.native},
                        {"bound",
                         {{"source", certificate.bound.source},
                          {"rigorous", certificate.bound.assumptions.empty()},
                          {"terms", terms},
                          {"alpha", json_number(certificate.bound.alpha)},
                          {"result_factor", json_number(certificate.bound.result_factor)},
                          {"underflow", json_number(certificate.bound.underflow)}}},
                        {"assumptions", certificate.assumptions()}};
  if (certificate.imaginary)
    object["imaginary"] = {{"alpha", json_number(certificate.imaginary->alpha)},
                           {"beta", json_number(certificate.imaginary->beta)}};
  object["seal"] = seal(object);
  return object;
}

}  // namespace ozbound
