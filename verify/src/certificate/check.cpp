// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "../plain_environment.hpp"
#include "bound_members.hpp"
#include "claims.hpp"
#include "expected.hpp"
#include "findings.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "subject.hpp"
#include "totals.hpp"
#include "work.hpp"

namespace ozbound {

bool CertificateCheck::holds() const {
  return std::all_of(claims.begin(), claims.end(), [](const auto& claim) { return claim.holds; });
}

CertificateCheck check_certificate(std::string_view json, const Operands& operands, const ResultView& c,
                                   const CertificateCheckOptions& options) {
  using namespace checking;
  if (c.rows() != operands.a.rows() || c.cols() != operands.b.cols())
    throw std::invalid_argument(fmt::format("c must be {} x {}", operands.a.rows(), operands.b.cols()));
  const PlainEnvironment environment;  // also for reading numbers
  const auto claims = read_claims(json);
  CertificateCheck result;
  Findings findings(result);
  findings.expect("seal", claims.seal, claims.sealed);
  if (!claims.beside.empty()) findings.limit(fmt::format("of the report: {}", fmt::join(claims.beside, ", ")));
  const Subject subject(operands, c);
  if (!check_subject(findings, claims, subject) || !check_method(findings, claims, subject)) return result;
  const auto expected = expected_of(claims, subject);
  check_bound(findings, claims, *expected, options.takes_norms);
  const auto gathered = look_at_entries(claims, subject, *expected, options);
  result.entries = gathered.entries;
  check_totals(findings, claims, subject, *expected, gathered, options.selection.is_all());
  return result;
}

EntrySelection affordable_selection(std::string_view json, std::uint64_t seed) {
  const checking::PlainEnvironment environment;
  const auto entries = checking::affordable_entries(checking::read_claims(json));
  return entries ? EntrySelection::sample(*entries, seed) : EntrySelection::all();
}

}  // namespace ozbound
