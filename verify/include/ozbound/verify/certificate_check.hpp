// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ozbound/verify/entry_selection.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/result_view.hpp"

namespace ozbound {

/// One claim of a certificate, and whether it is so.
struct ClaimCheck {
  std::string claim;  ///< a member, `bound.terms`; or `c`, the bits of C; `bound` and `target`, its exact error
                      ///< within them; `identity` and `guard`, of plans (docs/records.md)
  bool holds = true;
  std::string finding;  ///< for people, where it does not hold: what is claimed, and what is so
};

/// What recomputing a certificate found.
struct CertificateCheck {
  std::vector<ClaimCheck> claims;   ///< in the order of docs/records.md
  std::vector<std::string> limits;  ///< what was not, or not wholly, recomputed
  Index entries = 0;                ///< of C that were recomputed, of a complex one parts of entries

  [[nodiscard]] bool holds() const;
};

struct CertificateCheckOptions {
  EntrySelection selection = EntrySelection::all();  ///< entries that are recomputed; bounds are, of all
  std::function<void(double)> progress = {};         ///< told the share of the entries that are done, by any thread
  bool takes_norms =
      false;  ///< bounds from the norms of the record as they stand there, so that exact entries alone judge them
};

/// Recomputes every claim of a certificate (docs/records.md: ozbound-certificate-5, or -4) from the operands and C alone.
///
/// Shares no code with what writes certificates: digits, sums and C come from the reference product, the truth from the exact
/// oracle, bounds from a second implementation of docs/derivations. Numbers must be the same bits, since the derivations fix
/// every rounding.
///
/// That both implementations follow the same derivation is no proof of it: the claim `identity` says that AB minus the sum of
/// the plan's products, in exact arithmetic, is within the bound at every entry that is looked at.
///
/// Of a complex product (Operands) the claim `complex` says that A is made of blocks (x, -y; y, x) where it is read; with
/// complex scalars `imaginary.alpha` and `imaginary.beta` are theirs. Where one of these is not so, nothing else is recomputed.
/// @param json the certificate, or a report: by its schema alone, `ozbound-report-1`. Of a report the certificate is checked;
/// `limits` names the other members.
/// @throws std::invalid_argument naming the member for what is no certificate: other schemas, members that are missing,
/// unknown, there twice or of another type.
CertificateCheck check_certificate(std::string_view json, const Operands& operands, const ResultView& c,
                                   const CertificateCheckOptions& options = {});

/// The entries that `check_certificate` looks at in about ten times the work of the product that a certificate is about: all of
/// them, or a sample by this seed. Work is counted in operations, from the certificate's sizes, method and plans alone
/// (docs/records.md), and is no measured time.
/// @throws std::invalid_argument as check_certificate.
EntrySelection affordable_selection(std::string_view json, std::uint64_t seed = 0);

}  // namespace ozbound
