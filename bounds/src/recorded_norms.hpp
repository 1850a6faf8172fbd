// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ozbound/bounds/error_bound.hpp"

namespace ozbound {

/// `bound.norms` of a certificate (docs/records.md): scales, and the vectors of each term. @pre no term has more than three
/// alternatives.
nlohmann::json norms_json(const ErrorBound& bound);

/// Sets product and exponents of a bound. @param terms names of the terms, from `bound.terms`
/// @throws std::invalid_argument naming the member that is wrong.
void read_norms(ErrorBound& bound, const nlohmann::json& norms, const std::vector<std::string>& terms);

}  // namespace ozbound
