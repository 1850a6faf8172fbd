// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ozbound {

/// The text of a record that to_json made, with lines indented by `indent` blanks, or on one line for -1. Text that is no
/// UTF-8, such as a library's name, is replaced.
///
/// The caller may flush subnormal numbers or round in another mode. nlohmann::json::dump runs in the caller's environment and
/// writes 2^-1074 as 0 there, which a certificate's seal then shows as an alteration.
std::string json_text(const nlohmann::json& record, int indent = 2);

}  // namespace ozbound
