// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/temporary_directory.hpp"
#include "verify/grade/graded.hpp"

namespace ozbound::test {

/// The last line printed by a program that is built and run by the command in its own comment; empty if it prints nothing.
inline std::string ends_with(const std::string& snippet) {
  const TemporaryDirectory directory;
  write_bytes(directory / "fault.c", snippet);
  const auto begin = snippet.find(" *   ") + 5, end = snippet.find(" */");
  const auto command =
      "cd '" + directory.path().string() + "' && exec >out 2>complaints && { " + snippet.substr(begin, end - begin) + "; }";
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe): nothing else runs
  EXPECT_TRUE(std::filesystem::exists(directory / "fault")) << read_bytes(directory / "complaints") << snippet;
  const auto out = read_bytes(directory / "out");
  const auto last = out.find_last_of('\n', out.size() - 2);
  return out.substr(last == std::string::npos ? 0 : last + 1);
}

/// Checks that the finding's program prints 1 last for the faulty library and 0 for a correct one.
inline void expect_shown(const std::string& library, const Finding& finding) {
  EXPECT_THAT(finding.snippet, testing::HasSubstr("/* " + finding.test + ": "));
  EXPECT_EQ(ends_with(finding.snippet), "1\n") << finding.snippet.substr(0, 4000);
  auto right = finding.snippet;
  ASSERT_NE(right.find(library), std::string::npos);
  for (std::size_t at = 0; (at = right.find(library, at)) != std::string::npos; at += library.size())
    right.replace(at, library.size(), bad_blas("correct"));
  EXPECT_EQ(ends_with(right), "0\n") << right.substr(0, 4000);
}

/// False for faults that no single call shows: differences between two processes, threads or concurrent callers.
inline bool is_of_one_call(const Finding& finding) {
  return finding.test != "reproducibility.processes" && finding.test.find("threads") == std::string::npos &&
         !finding.test.starts_with("callers.");
}

/// Checks the program of each fault of a wrong library.
inline void expect_faults_shown(const std::string& name) {
  const auto library = bad_blas(name);
  const auto grade = graded(library, true);
  int shown = 0;
  for (const auto& part : grade.parts)
    for (const auto& finding : part.findings.findings) {
      if (!is_fault(finding.outcome)) {
        EXPECT_EQ(finding.snippet, "") << finding.test;
        continue;
      }
      if (finding.snippet.empty()) {
        EXPECT_FALSE(is_of_one_call(finding)) << finding.test;
        continue;
      }
      expect_shown(library, finding);
      ++shown;
    }
  EXPECT_GT(shown, 0);
}

}  // namespace ozbound::test
