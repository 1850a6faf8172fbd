// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/standard_streams.hpp"

#include <atomic>

namespace ozbound::files {
namespace {

std::atomic<bool> input_is_claimed = false, output_is_claimed = false;

}  // namespace

bool claim_standard_input() { return !input_is_claimed.exchange(true); }
bool claim_standard_output() { return !output_is_claimed.exchange(true); }
bool standard_output_is_claimed() { return output_is_claimed; }

}  // namespace ozbound::files
