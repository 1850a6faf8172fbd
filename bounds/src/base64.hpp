// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ozbound {

/// RFC 4648, section 4: with padding, without line breaks.
std::string to_base64(std::string_view bytes);

/// Decodes `text`; returns nothing if it is not an output of to_base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace ozbound
