// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// 0 where a test cannot replace operator new: clang's thread sanitizer links its own into every program.
#define OZBOUND_REPLACES_NEW 1
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef OZBOUND_REPLACES_NEW
#define OZBOUND_REPLACES_NEW 0
#endif
#endif
