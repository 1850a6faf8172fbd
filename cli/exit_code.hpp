// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound::cli {

/// How the command ends, for the scripts that call it.
enum class ExitCode : int {
  success = 0,
  verdict_failed = 1,  ///< a product was judged and is not as accurate as it should be
  bad_input = 2,       ///< arguments or files that cannot be used, or an output that cannot be written
  not_certified = 3,   ///< no certificate for the target; no product was written
};

}  // namespace ozbound::cli
