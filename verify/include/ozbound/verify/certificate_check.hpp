#pragma once

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
  std::string claim;  ///< a member, `bound.terms`; or `c`, the bits of C; `bound` and `target`, its exact error within them
  bool holds = true;
  std::string finding;  ///< for people, where it does not hold: what is claimed, and what is so
};

/// What recomputing a certificate found.
struct CertificateCheck {
  std::vector<ClaimCheck> claims;   ///< in the order of docs/records.md
  std::vector<std::string> limits;  ///< what was not, or not wholly, recomputed
  Index entries = 0;                ///< of C that were recomputed

  [[nodiscard]] bool holds() const;
};

struct CertificateCheckOptions {
  EntrySelection selection = EntrySelection::all();  ///< entries that are recomputed; bounds are, of all
  std::function<void(double)> progress = {};         ///< told the share of the entries that are done, by any thread
};

/// Recomputes every claim of a certificate (docs/records.md, `ozbound-certificate-4`) from the operands and C alone.
///
/// Shares no code with what writes certificates: digits, sums and C come from the reference product, the truth from the exact
/// oracle, bounds from a second implementation of docs/derivations. Numbers must be the same bits, since the derivations fix
/// every rounding.
///
/// With complex scalars (Operands) the claims `imaginary.alpha` and `imaginary.beta` are theirs, and `imaginary` says that A is
/// made of blocks (x, -y; y, x) where it is read: nothing else is recomputed where it is not.
/// @param json the certificate, or a report that has one.
/// @throws std::invalid_argument naming the member for what is no certificate: other schemas, members that are missing,
/// unknown, there twice or of another type.
CertificateCheck check_certificate(std::string_view json, const Operands& operands, const ResultView& c,
                                   const CertificateCheckOptions& options = {});

}  // namespace ozbound
