// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/certificate.hpp"

#include <nlohmann/json.hpp>

#include "allowance.hpp"
#include "hex.hpp"
#include "json_numbers.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"
#include "recorded_norms.hpp"
#include "seal.hpp"

namespace ozbound {
namespace {

nlohmann::json print(std::optional<std::uint64_t> hash) { return hash ? nlohmann::json(hex(*hash)) : nlohmann::json(nullptr); }

nlohmann::json record(const Fingerprints& prints) {
  return {{"a", print(prints.a)}, {"b", print(prints.b)}, {"c0", print(prints.c0)}, {"c", print(prints.c)}};
}

const char* name_of(Part part) { return part == Part::real ? "real" : "imaginary"; }

}  // namespace

std::string Certificate::worst_entry() const {
  const auto entry = "entry (" + std::to_string(worst_i) + ", " + std::to_string(worst_j) + ")";
  return complex ? std::string("the ") + name_of(worst_part) + " part of " + entry : entry;
}

std::vector<std::string> Certificate::assumptions() const {
  auto all = bound.assumptions;
  if (!assumed_in_search.empty()) all.push_back(assumed_in_search);
  return all;
}

std::optional<double> Certificate::typical_factor_upper() const {
  if (target.kind == Target::Kind::rowcol) return std::nullopt;
  const FloatEnvironment to_nearest;
  const auto& format = narrow ? binary32 : binary64;
  const Index terms = complex ? 2 * k : k;
  const bool with_scalars = !imaginary && has_scalars(alpha, beta);
  const bool rounds = target.kind == Target::Kind::correctly_rounded;
  const double tau = rounds ? unit_roundoff(format) : target_tau(target, terms, format, with_scalars);
  const double typical = target_tau(Target::dgemm_typical(), terms, format, with_scalars);
  return tau == typical ? ratio : divide_upper(multiply_upper(ratio, tau), typical);
}

nlohmann::json to_json(const Certificate& certificate) {
  const FloatEnvironment environment;
  auto plans = nlohmann::json::array();
  for (const auto& plan : certificate.plans) plans.push_back(to_string(plan));
  auto terms = nlohmann::json::array();
  for (const auto& term : certificate.bound.product.terms) terms.push_back(term.name);
  nlohmann::json object{{"schema", certificate_schema},
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
                          {"underflow", json_number(certificate.bound.underflow)},
                          {"rounded_once", certificate.bound.rounded_once},
                          {"norms", norms_json(certificate.bound)}}},
                        {"assumptions", certificate.assumptions()}};
  if (certificate.complex) {
    object["complex"] = true;
    object["worst_entry"].push_back(name_of(certificate.worst_part));
  }
  if (certificate.imaginary)
    object["imaginary"] = {{"alpha", json_number(certificate.imaginary->alpha)},
                           {"beta", json_number(certificate.imaginary->beta)}};
  object["seal"] = seal_of(object);
  return object;
}

}  // namespace ozbound
