// SPDX-License-Identifier: BSD-3-Clause
#include "verification.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ozbound::cli {
namespace {

bool judges_target(const Certificate& certificate, const EntrySelection& selection) {
  return certificate.holds && (selection.is_all() || certificate.target.kind != Target::Kind::normwise);
}

bool judges_bound(const Certificate& certificate) {
  return !certificate.holds || certificate.target.kind != Target::Kind::correctly_rounded;
}

}  // namespace

bool Verification::holds() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const auto& verdict) { return verdict.holds(); });
}

double Verification::ratio() const {
  double largest = 0;
  for (const auto& verdict : verdicts) largest = std::max(largest, verdict.ratio);
  return largest;
}

Index Verification::entries() const { return verdicts.empty() ? 0 : verdicts.front().entries; }

Index verification_passes(const Certificate& certificate, const EntrySelection& selection) {
  return Index{judges_target(certificate, selection)} + Index{judges_bound(certificate)};
}

Verification verify_product(const ResultView& c, const Certificate& certificate, const Oracle& oracle,
                            const JudgeOptions& options) {
  Verification verification;
  if (judges_target(certificate, options.selection))
    verification.verdicts.push_back(verify(c, oracle, certificate.target, options));
  if (judges_bound(certificate))
    verification.verdicts.push_back(
        verify(c, oracle, [&](Index i, Index j) { return certificate.bound.upper(i, j, c(i, j)); }, options));
  return verification;
}

nlohmann::ordered_json to_json(const Verification& verification) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& verdict : verification.verdicts) list.push_back(nlohmann::ordered_json(to_json(verdict)));
  return {{"schema", "ozbound-verification-1"}, {"holds", verification.holds()}, {"verdicts", list}};
}

}  // namespace ozbound::cli
