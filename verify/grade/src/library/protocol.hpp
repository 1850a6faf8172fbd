// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What supervisor and worker say to each other. The worker is called `WORKER LIBRARY SYMBOL PART SEED quick|full` and writes
/// one JSON object to result_descriptor: with `error`, why the library cannot be loaded; with `failure`, why the grading
/// itself failed; for `fingerprint` that; else findings, for the part `loading` also the `library`, for `threads` also the
/// `fingerprint`, both with the number of threads that the environment gives.
namespace ozbound::protocol {

inline constexpr const char* loading = "loading";
inline constexpr const char* threads = "threads";
inline constexpr const char* fingerprint = "fingerprint";

}  // namespace ozbound::protocol
