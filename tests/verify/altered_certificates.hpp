// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/plan.hpp"

// Certificates with one member changed, and the checker's answers to them.

namespace ozbound::test {

inline std::string seal_of(nlohmann::json certificate) {
  certificate.erase("seal");
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : certificate.dump()) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

/// The Base64 encoding of RFC 4648, section 4.
inline std::string base64_of(const std::string& bytes) {
  constexpr const char* alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t t = 0; t < bytes.size(); t += 3) {
    unsigned three = 0;
    for (std::size_t b = t; b < t + 3; ++b) three = three << 8 | (b < bytes.size() ? static_cast<unsigned char>(bytes[b]) : 0U);
    for (int shift = 18; shift >= 0; shift -= 6) text.push_back(alphabet[three >> shift & 63U]);
  }
  for (std::size_t missing = (3 - bytes.size() % 3) % 3; missing > 0; --missing) text[text.size() - missing] = '=';
  return text;
}

inline nlohmann::json resealed(nlohmann::json certificate) {
  certificate["seal"] = seal_of(certificate);
  return certificate;
}

/// One changed member.
struct Alteration {
  std::string member;  ///< `bound.terms`
  std::string how;
  nlohmann::json certificate;
};

/// Values near a given value, and others that are easily mistaken for it.
inline std::vector<std::pair<std::string, nlohmann::json>> altered_values(const nlohmann::json& value) {
  if (value.is_boolean()) return {{"flipped", !value.get<bool>()}};
  if (value.is_null()) return {{"something", "0000000000000000"}};
  if (value.is_number_integer())
    return {{"more", value.get<Index>() + 1},
            {"less", value.get<Index>() - 1},
            {"negated", -value.get<Index>()},
            {"fraction", static_cast<double>(value.get<Index>()) + 0.5}};
  if (value.is_number()) {
    const double x = value.get<double>();
    return {{"ulp up", std::nextafter(x, std::numeric_limits<double>::infinity())},
            {"ulp down", std::nextafter(x, -std::numeric_limits<double>::infinity())},
            {"negated", -x},
            {"doubled", 2 * x + 1},
            {"text", "inf"}};
  }
  if (value.is_string()) {
    auto text = value.get<std::string>();
    std::vector<std::pair<std::string, nlohmann::json>> all = {{"longer", text + "x"}, {"number", 1.0}, {"null", nullptr}};
    if (!text.empty()) {
      auto other = text;
      other.back() = other.back() == '1' ? '2' : '1';
      all.emplace_back("last character", other);
      other = text;
      other.front() = static_cast<char>(other.front() ^ 1);
      all.emplace_back("first character", other);
    }
    return all;
  }
  return {};
}

/// Collects alterations: every member of the certificate changed, removed, doubled or renamed; every array with an element
/// more, with one less and doubled.
inline void collect(const nlohmann::json& root, nlohmann::json::json_pointer where, const std::string& member,
                    std::vector<Alteration>& all) {
  const auto& value = root.at(where);
  const auto change = [&](const std::string& how, const nlohmann::json& replacement) {
    auto altered = root;
    altered.at(where) = replacement;
    all.push_back({member, how, altered});
  };
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) {
      const auto full = member.empty() ? name : member + "." + name;
      auto without = root;
      without.at(where).erase(name);
      all.push_back({full, "missing", without});
      if (name != "seal") collect(root, where / name, full, all);
    }
    auto with = root;
    with.at(where)["surplus"] = 1;
    all.push_back({member.empty() ? "surplus" : member + ".surplus", "unknown", with});
  } else if (value.is_array()) {
    for (std::size_t t = 0; t < value.size(); ++t) {
      auto fewer = value, twice = value;
      fewer.erase(t);
      change("element less", fewer);
      twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(t), value[t]);
      change("element twice", twice);
      collect(root, where / t, member, all);
    }
    auto more = value;
    more.push_back("A residual x B");
    change("element more", more);
    change("no array", nullptr);
  } else {
    for (const auto& [how, replacement] : altered_values(value)) change(how, replacement);
  }
}

/// A plan by residues with the same bits and other moduli (which may still hold its operands), or with other bits.
inline constexpr const char* other_moduli = "other moduli";
inline constexpr const char* bits_exchanged = "bits exchanged";
inline std::vector<std::pair<std::string, std::string>> altered_residues(const std::string& text) {
  if (!text.starts_with("residues:")) return {};
  const auto plan =
      parse_plan(text).visit([](const SplitPlan&) { return ResiduePlan{}; }, [](const ResiduePlan& p) { return p; });
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](const char* how, const ResiduePlan& other) {
    const bool valid = other.moduli >= 2 && other.moduli <= max_moduli && other.bits_a >= 1;
    if (valid && other != plan) all.emplace_back(how, to_string(Plan(other)));
  };
  for (const int moduli : {2, plan.moduli - 1, plan.moduli + 1, max_moduli})
    add(other_moduli, {moduli, plan.bits_a, plan.bits_b});
  add("a bit less of A", {plan.moduli, plan.bits_a - 1, plan.bits_b});
  add("a bit more of B", {plan.moduli, plan.bits_a, plan.bits_b + 1});
  add(bits_exchanged, {plan.moduli, plan.bits_b, plan.bits_a});
  return all;
}

inline std::vector<Alteration> alterations(const nlohmann::json& certificate) {
  std::vector<Alteration> all;
  collect(certificate, nlohmann::json::json_pointer(), "", all);
  for (const auto* const method : {"slices", "correctly_rounded", "native", "exact"})
    if (certificate["method"] != method) {
      all.push_back({"method", method, certificate});
      all.back().certificate["method"] = method;
    }
  for (const auto* const target :
       {"cr", "dgemm", "dgemm-typical", "componentwise:0.001", "rowcol:0.001", "normwise:0.001", "relative:0.001"})
    if (certificate["target"] != target) {
      all.push_back({"target", target, certificate});
      all.back().certificate["target"] = target;
    }
  for (std::size_t t = 0; t < certificate["plans"].size(); ++t)
    for (const auto* const plan : {"balanced:6x7:cut=8:exact", "nearest7:8x8:full:per_diagonal", "residues:12:40x40"}) {
      all.push_back({"plans", plan, certificate});
      all.back().certificate["plans"][t] = plan;
    }
  for (std::size_t t = 0; t < certificate["plans"].size(); ++t)
    for (auto& altered : altered_residues(certificate["plans"][t])) {
      all.push_back({"plans", altered.first, certificate});
      all.back().certificate["plans"][t] = altered.second;
    }
  return all;
}

/// True if a claim of that name failed, or the refusal names the member.
inline bool names(const std::vector<std::string>& rejections, const std::string& member) {
  return std::any_of(rejections.begin(), rejections.end(), [&member](const std::string& text) {
    return text.starts_with(member + ": ") || text.find("'" + member + "'") != std::string::npos;
  });
}

inline bool is_refusal(const std::vector<std::string>& rejections) {
  return !rejections.empty() && rejections.front().starts_with("certificate: ");
}

/// True if the target that replaces this one means the same: the targets of DGEMM agree for one term.
inline bool is_same_target(const Certificate& certificate, const Alteration& altered) {
  const auto of_dgemm = [](const std::string& target) { return target == "dgemm" || target == "dgemm-typical"; };
  const Index terms = certificate.complex ? 2 * certificate.k : certificate.k;
  return terms <= 1 && of_dgemm(to_string(certificate.target)) && of_dgemm(altered.how);
}

inline bool is_premise(const std::string& member) { return member == "target" || member == "method" || member == "plans"; }

}  // namespace ozbound::test
