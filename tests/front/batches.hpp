// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/machine.hpp"

namespace ozbound::mirror {

/// Compares batches on the device with those on the CPU, strided and by pointers, real and complex: C's, decisions and
/// certificates, or refusals. Prints a line for each form. @param device_memory true to place matrices in device memory, too
bool compare_batches(const Machine& cpu, const Machine& device, bool device_memory);

}  // namespace ozbound::mirror
