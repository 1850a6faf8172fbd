// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// 1 if a test can replace operator new. 0 under clang's thread sanitizer, which links its own operator new into every program.
#define OZBOUND_REPLACES_NEW 1
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef OZBOUND_REPLACES_NEW
#define OZBOUND_REPLACES_NEW 0
#endif
#endif
