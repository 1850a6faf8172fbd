// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ozbound/verify/grade/grade.hpp"

namespace ozbound::grading {

/// What a finding asks, and who asks it.
struct Claim {
  std::string test, statement, source;
};

/// The cases of one finding, and in words those that contradict it.
class Tally {
 public:
  explicit Tally(Claim claim, Outcome otherwise = Outcome::fail) : claim_(std::move(claim)), otherwise_(otherwise) {}

  void holds() { ++cases_; }
  void contradicts(std::string words);

  /// The first argument decides; `words` is called only where it is false.
  template <class Words>
  void expect(bool condition, Words words) {
    if (condition)
      holds();
    else
      contradicts(words());
  }

  /// The same with a program that shows the contradiction: snippet(name of the test) is called until one is had.
  template <class Words, class Snippet>
  void expect(bool condition, Words words, Snippet snippet) {
    expect(condition, words);
    const bool wanted = !condition && otherwise_ == Outcome::fail && snippet_.empty() && tried_ < most_tries;
    if (wanted) snippet_ = snippet(claim_.test), ++tried_;
  }

  [[nodiscard]] bool clean() const { return contradictions_ == 0; }

  /// Passes if no case contradicts it. The detail tells the number of cases, `note`, and the first three contradictions.
  [[nodiscard]] Finding finding(const std::string& note = {}) const;

 private:
  Claim claim_;
  Outcome otherwise_;
  int cases_ = 0;
  static constexpr int most_tries = 3;

  int contradictions_ = 0;
  int tried_ = 0;
  std::string snippet_;
  std::vector<std::string> first_;
};

/// A finding without cases: row-major calls of dgemm_.
Finding skipped(Claim claim, std::string why);

}  // namespace ozbound::grading
