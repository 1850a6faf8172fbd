// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ozbound {

/// The text of a record from to_json, with lines indented by `indent` blanks, or on one line for -1. Text that is not UTF-8,
/// such as a library's name, is replaced.
///
/// Works in any floating-point environment of the caller. nlohmann::json::dump runs in the caller's environment. Under
/// flush-to-zero it writes 2^-1074 as 0, which a certificate's seal then reveals as an alteration.
std::string json_text(const nlohmann::json& record, int indent = 2);

}  // namespace ozbound
