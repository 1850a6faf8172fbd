// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "claims.hpp"
#include "ozbound/verify/certificate_check.hpp"

namespace ozbound::checking {

/// True for the same bits, or if both are NaN.
bool same(double x, double y);

// Texts for people of a claim, or of the value found in its place.
std::string text(double x);
std::string text(bool x);
std::string text(Index x);
std::string text(int x);
std::string text(const std::string& x);
std::string text(const std::optional<std::string>& x);
std::string text(const std::vector<std::string>& x);
std::string text(const Entry& x);

/// Records the claims and whether they hold.
class Findings {
 public:
  explicit Findings(CertificateCheck& result) : result_(result) {}

  /// Compares the claim with the value found, and records the result.
  template <class T>
  bool expect(const char* claim, const T& claimed, const T& found) {
    const bool holds = equal(claimed, found);
    return say(claim, holds, holds ? "" : text(claimed) + " is claimed, and " + text(found) + " found");
  }

  /// As `expect`, for all numbers of an array.
  template <class Number>
  void expect_all(const char* claim, const std::vector<Number>& claimed, const std::vector<Number>& found) {
    if (claimed.size() != found.size()) {
      say(claim, false, text(claimed.size()) + " numbers are claimed, and " + text(found.size()) + " found");
      return;
    }
    const auto differing = std::mismatch(claimed.begin(), claimed.end(), found.begin(), equal<Number>);
    const bool holds = differing.first == claimed.end();
    say(claim, holds,
        holds ? ""
              : "number " + text(differing.first - claimed.begin()) + " is claimed to be " + text(*differing.first) +
                    ", and is " + text(*differing.second));
  }

  /// Records a claim. @param finding the text if it does not hold
  bool say(const char* claim, bool holds, const std::string& finding);

  /// Records a part that was not, or not wholly, recomputed.
  void limit(std::string what) { result_.limits.push_back(std::move(what)); }

 private:
  static std::string text(std::size_t x) { return std::to_string(x); }
  template <class T>
  static std::string text(const T& x) {
    return checking::text(x);
  }

  template <class T>
  static bool equal(const T& x, const T& y) {
    if constexpr (std::is_same_v<T, double>)
      return same(x, y);
    else
      return x == y;
  }

  CertificateCheck& result_;
};

}  // namespace ozbound::checking
