// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/verdict.hpp"

namespace ozbound::cli {

/// An oracle's verdicts on a certificate's claims.
struct Verification {
  std::vector<Verdict> verdicts;

  [[nodiscard]] bool holds() const;
  [[nodiscard]] double ratio() const;   ///< the largest of all verdicts
  [[nodiscard]] Index entries() const;  ///< number of entries that each verdict judged
};

/// The number of passes over the selected entries in `verify_product`.
Index verification_passes(const Certificate& certificate, const EntrySelection& selection);

/// Judges C by the target, if the certificate says that it holds, and by the certificate's bound. Does not judge a sample by a
/// normwise target, which concerns all entries. Does not judge a correctly rounded C by its bound, which is weaker.
Verification verify_product(const ResultView& c, const Certificate& certificate, const Oracle& oracle,
                            const JudgeOptions& options);

/// The output of `ozbound verify --json`: schema ozbound-verification-1 (docs/records.md).
nlohmann::ordered_json to_json(const Verification& verification);

}  // namespace ozbound::cli
