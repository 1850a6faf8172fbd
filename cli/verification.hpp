// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/verdict.hpp"

namespace ozbound::cli {

/// What an oracle says of what a certificate says.
struct Verification {
  std::vector<Verdict> verdicts;

  [[nodiscard]] bool holds() const;
  [[nodiscard]] double ratio() const;   ///< the largest of all verdicts
  [[nodiscard]] Index entries() const;  ///< judged, by each
};

/// How many passes over the selected entries `verify_product` takes.
Index verification_passes(const Certificate& certificate, const EntrySelection& selection);

/// Judges C by the target, where the certificate says that it holds, and by the certificate's bound. A sample is not judged by
/// a normwise target, which is about all entries, nor a correctly rounded C by its bound, which says less.
Verification verify_product(const ResultView& c, const Certificate& certificate, const Oracle& oracle,
                            const JudgeOptions& options);

/// What `ozbound verify --json` prints: schema ozbound-verification-1 (docs/records.md).
nlohmann::ordered_json to_json(const Verification& verification);

}  // namespace ozbound::cli
