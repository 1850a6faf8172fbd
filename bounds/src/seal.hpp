// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ozbound {

/// The checksum of all members of a certificate except `seal` (docs/records.md): 16 hexadecimal digits.
std::string seal_of(nlohmann::json certificate);

}  // namespace ozbound
