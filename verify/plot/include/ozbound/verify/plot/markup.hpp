// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace ozbound::markup {

/// `text` as the content of an XML element or of an attribute in double quotes, in UTF-8. Invalid UTF-8 and control characters,
/// which XML cannot hold, become U+FFFD.
std::string escape(std::string_view text);

/// A number for people: at most four digits, or `inf`, `-inf`, `nan`.
std::string number(double x);

}  // namespace ozbound::markup
