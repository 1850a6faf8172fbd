// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "ozbound/bounds/error_bound.hpp"

namespace ozbound {

/// The error bound of every entry, read from a certificate's JSON. Together with C it suffices to bound |C^ - C|_ij.
struct RecordedBound {
  ErrorBound bound;      ///< `upper` returns the same bits as when the certificate was written
  std::uint64_t c = 0;   ///< fingerprint of the C that the bound is about (certificate.hpp)
  bool complex = false;  ///< true if that C is complex
};

/// @param certificate a certificate of the schema certificate_schema by itself, not inside a report.
/// @throws std::invalid_argument naming the member that is missing or wrong; `seal`, if it does not match the other members.
RecordedBound bound_from_json(const nlohmann::json& certificate);

}  // namespace ozbound
