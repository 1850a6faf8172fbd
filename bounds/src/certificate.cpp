#include "ozbound/bounds/certificate.hpp"

#include "json_numbers.hpp"

namespace ozbound {

nlohmann::json to_json(const Certificate& certificate) {
  auto plans = nlohmann::json::array();
  for (const auto& plan : certificate.plans) plans.push_back(to_string(plan));
  auto terms = nlohmann::json::array();
  for (const auto& term : certificate.bound.product.terms) terms.push_back(term.name);
  return {{"schema", "ozbound-certificate-1"},
          {"target", to_string(certificate.target)},
          {"method", to_string(certificate.method)},
          {"plans", plans},
          {"m", certificate.m},
          {"n", certificate.n},
          {"k", certificate.k},
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
          {"assumptions", certificate.bound.assumptions}};
}

}  // namespace ozbound
