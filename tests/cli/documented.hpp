// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace ozbound::cli::test {

/// Every member of an object, and of objects within, stands in a text as `name`.
inline void expect_documented(const nlohmann::json& value, const std::string& text) {
  if (value.is_array())
    for (const auto& element : value) expect_documented(element, text);
  if (!value.is_object()) return;
  for (const auto& [name, element] : value.items()) {
    EXPECT_THAT(text, testing::HasSubstr("`" + name + "`"));
    expect_documented(element, text);
  }
}

}  // namespace ozbound::cli::test
