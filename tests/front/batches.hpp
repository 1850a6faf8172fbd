// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/machine.hpp"

namespace ozbound::mirror {

/// Batches, strided and by pointers, real and complex, on the device as on the CPU: C's, decisions and certificates, or what
/// they are refused with. Prints a line for each form. @param device_memory whether matrices are to lie there, too
bool compare_batches(const Machine& cpu, const Machine& device, bool device_memory);

}  // namespace ozbound::mirror
