#pragma once

namespace ozbound {

/// What finding a certificate's worst entry by tensor cores takes on trust (docs/derivations/enclosure.md, E5).
inline constexpr const char* assumed_of_tensor_cores =
    "tensor cores err by 2^-22 of a sum at most in each rounding, and round a sum of k products of bfloat16 numbers k times";

}  // namespace ozbound
