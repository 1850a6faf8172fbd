// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>

#include "call.hpp"

namespace ozbound::drop_in {

/// Calls that are counted together: of one caller, one kind, about the same sizes, with one outcome.
struct CallClass {
  std::string routine, object, ops;
  int log_m, log_n, log_k;  ///< the least x with size <= 2^x
  std::string way;          ///< `native`, `residues`, …, what the call would be at the target; or why it was not examined

  CallClass(const Call& call, std::string outcome);
  auto operator<=>(const CallClass&) const = default;
};

/// What a class of calls took.
struct Count {
  long calls = 0;
  double work = 0;              ///< multiplications m n k
  double native_seconds = 0;    ///< measured
  double own_seconds = 0;       ///< of examining
  double other_seconds = 0;     ///< predicted for another way than native, where that was cheaper; else native's, measured
  std::optional<double> worst;  ///< of sampled errors over what the target allows

  void add(const Count& other);
};

/// The class but for its outcome, by which the budget is shared out.
std::string kind_of(const CallClass& calls);

/// What was seen so far. Whoever shares it holds a lock.
class Tally {
 public:
  void add(const CallClass& calls, const Count& count);

  [[nodiscard]] const std::map<CallClass, Count>& classes() const { return classes_; }
  [[nodiscard]] double native_seconds() const { return native_seconds_; }
  [[nodiscard]] double own_seconds() const { return own_seconds_; }

 private:
  std::map<CallClass, Count> classes_;
  double native_seconds_ = 0, own_seconds_ = 0;
};

inline constexpr const char* way_not_examined = "not examined";
inline constexpr const char* way_special = "special";
inline constexpr const char* way_overlap = "overlap";

}  // namespace ozbound::drop_in
