// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ozbound/verify/grade/grade.hpp"

namespace ozbound::grading {

/// The statement of a finding, and its source.
struct Claim {
  std::string test, statement, source;
};

/// The cases of one finding, and descriptions of the cases that contradict it.
class Tally {
 public:
  explicit Tally(Claim claim, Outcome otherwise = Outcome::fail) : claim_(std::move(claim)), otherwise_(otherwise) {}

  void holds() { ++cases_; }
  void contradicts(std::string words);

  /// Counts a case. The first argument is its result; `words` is called only if it is false.
  template <class Words>
  void expect(bool condition, Words words) {
    if (condition)
      holds();
    else
      contradicts(words());
  }

  /// Counts a case, with a program that shows the contradiction: calls snippet(name of the test) until it returns a program.
  template <class Words, class Snippet>
  void expect(bool condition, Words words, Snippet snippet) {
    expect(condition, words);
    const bool wanted = !condition && otherwise_ == Outcome::fail && snippet_.empty() && tried_ < most_tries;
    if (wanted) snippet_ = snippet(claim_.test), ++tried_;
  }

  [[nodiscard]] bool clean() const { return contradictions_ == 0; }

  /// The finding, which passes if no case contradicts it. The detail has the number of cases, `note`, and the first three
  /// contradictions.
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

/// A finding without cases, for example about row-major calls of dgemm_.
Finding skipped(Claim claim, std::string why);

}  // namespace ozbound::grading
