// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound {

/// The unproven assumption of a search for a certificate's worst entry by tensor cores (docs/derivations/enclosure.md, E5).
inline constexpr const char* assumed_of_tensor_cores =
    "tensor cores' sum of k products of bfloat16 numbers is at most the exact one over 1 - k 2^-22";

}  // namespace ozbound
