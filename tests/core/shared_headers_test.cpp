// SPDX-License-Identifier: BSD-3-Clause
#include "mirror/shared_headers.hpp"

#include <gtest/gtest.h>

// The recorded digests of the shared headers' results, which are the same on every compiler and on the device. There,
// tests/mirror/shared_headers.cu compares the bits themselves.

namespace ozbound::mirror::shared_headers_test {
namespace {

TEST(SharedHeadersTest, ResultsAreThoseOnRecord) {
  for_each_section([]<class Section>() {
    const auto results = evaluate_on_host<Section>(Section::cases());
    EXPECT_GE(results.size(), 25000u);
    EXPECT_EQ(digest_of(results), Section::digest) << Section::name << ": 0x" << std::hex << digest_of(results);
  });
}

}  // namespace
}  // namespace ozbound::mirror::shared_headers_test
