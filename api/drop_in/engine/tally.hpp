// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>

#include "call.hpp"

namespace ozbound::drop_in {

/// Calls that are counted together: they share caller, kind, approximate sizes and outcome.
struct CallClass {
  std::string routine, object, ops;
  int log_m, log_n, log_k;  ///< the smallest x with size <= 2^x
  std::string way;          ///< the way at the target, `native`, `residues`, …, or the reason why it was not examined

  CallClass(const Call& call, std::string outcome);
  auto operator<=>(const CallClass&) const = default;
};

/// The costs of a class of calls.
struct Count {
  long calls = 0;
  double work = 0;              ///< multiplications m n k
  double native_seconds = 0;    ///< measured
  double own_seconds = 0;       ///< spent on examining
  double other_seconds = 0;     ///< predicted for a cheaper way than native; measured for native if there is none
  std::optional<double> worst;  ///< largest sampled error over the error that the target allows

  void add(const Count& other);
};

/// The class without its outcome; the budget is shared among these kinds.
std::string kind_of(const CallClass& calls);

/// Totals of all classes so far. Users that share it must hold a lock.
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
