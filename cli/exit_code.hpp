// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound::cli {

/// The exit code of the command, for scripts that call it.
enum class ExitCode : int {
  success = 0,
  verdict_failed = 1,  ///< a product was judged and is less accurate than required
  bad_input = 2,       ///< unusable arguments or files, or an output that cannot be written
  not_certified = 3,   ///< no certificate for the target; no product was written
};

}  // namespace ozbound::cli
