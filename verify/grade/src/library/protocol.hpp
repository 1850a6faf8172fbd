// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The protocol between supervisor and worker. The worker is called `WORKER LIBRARY SYMBOL PART SEED quick|full` and writes one
/// JSON object to result_descriptor. The object has `error` if the library cannot be loaded, or `failure` if the grading itself
/// failed, with the reason. For the part `fingerprint` it has the fingerprint. Otherwise it has findings; for the part
/// `loading` also the `library`, for `threads` also the `fingerprint`, both with the number of threads from the environment.
namespace ozbound::protocol {

inline constexpr const char* loading = "loading";
inline constexpr const char* threads = "threads";
inline constexpr const char* fingerprint = "fingerprint";

}  // namespace ozbound::protocol
