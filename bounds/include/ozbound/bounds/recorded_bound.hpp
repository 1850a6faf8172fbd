// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "ozbound/bounds/error_bound.hpp"

namespace ozbound {

/// What the JSON of a certificate says of the error of every entry: with C it is all that bounds |C^ - C|_ij.
struct RecordedBound {
  ErrorBound bound;      ///< whose `upper` has the bits that it had when the certificate was written
  std::uint64_t c = 0;   ///< the fingerprint of the C that it is about (certificate.hpp)
  bool complex = false;  ///< that C is
};

/// @param certificate of the schema certificate_schema, by itself, not in a report.
/// @throws std::invalid_argument naming the member that is missing or wrong; `seal`, if it is not that of the other members.
RecordedBound bound_from_json(const nlohmann::json& certificate);

}  // namespace ozbound
