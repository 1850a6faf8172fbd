// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound {

__extension__ typedef unsigned __int128 VerifyUint128;  ///< 128 bits: the product of two significands, exactly
__extension__ typedef __int128 VerifyInt128;

}  // namespace ozbound
