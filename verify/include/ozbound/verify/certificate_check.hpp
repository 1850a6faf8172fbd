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

/// One claim of a certificate, and whether it holds.
struct ClaimCheck {
  std::string claim;  ///< a member, `bound.terms`; or `c`, the bits of C; `bound` and `target`, the exact error
                      ///< of C within them; `identity` and `guard`, of plans (docs/records.md)
  bool holds = true;
  std::string finding;  ///< for people, if the claim fails: the claim, and the true value
};

/// Results of recomputing a certificate.
struct CertificateCheck {
  std::vector<ClaimCheck> claims;   ///< in the order of docs/records.md
  std::vector<std::string> limits;  ///< parts that were not, or not wholly, recomputed
  Index entries = 0;                ///< entries of C that were recomputed; of a complex C, parts of entries

  [[nodiscard]] bool holds() const;
};

struct CertificateCheckOptions {
  EntrySelection selection = EntrySelection::all();  ///< entries that are recomputed; bounds are recomputed for all entries
  std::function<void(double)> progress = {};         ///< called with the share of the entries done, by any thread
  bool takes_norms = false;  ///< takes the norms of the bounds from the record unchecked, so that only exact entries judge them
};

/// Recomputes every claim of a certificate (docs/records.md: ozbound-certificate-5, or -4) from the operands and C only.
///
/// Shares no code with the writer of certificates. Digits, sums and C come from the reference product, true values from the
/// exact oracle, and bounds from a second implementation of docs/derivations. Numbers must agree bit for bit, since the
/// derivations fix every rounding.
///
/// Both implementations follow the same derivation, and their agreement does not prove it. The claim `identity` therefore says
/// that AB minus the sum of the plan's products, in exact arithmetic, is within the bound at every entry that is examined.
///
/// For a complex product (Operands) the claim `complex` says that A consists of blocks (x, -y; y, x) wherever it is read. With
/// complex scalars, `imaginary.alpha` and `imaginary.beta` are their imaginary parts. If one of these claims fails, nothing
/// else is recomputed.
/// @param json the certificate, or a report, recognised by its schema `ozbound-report-1`. In a report only the certificate is
/// checked; `limits` names the other members.
/// @throws std::invalid_argument naming the member for an invalid certificate: another schema, or members that are missing,
/// unknown, duplicated or of another type.
CertificateCheck check_certificate(std::string_view json, const Operands& operands, const ResultView& c,
                                   const CertificateCheckOptions& options = {});

/// The entries that `check_certificate` can examine in about ten times the work of the certified product: all entries, or a
/// sample with this seed. Work is a count of operations from the certificate's sizes, method and plans (docs/records.md), not a
/// measured time.
/// @throws std::invalid_argument as check_certificate.
EntrySelection affordable_selection(std::string_view json, std::uint64_t seed = 0);

}  // namespace ozbound
