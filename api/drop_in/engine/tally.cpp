// SPDX-License-Identifier: BSD-3-Clause
#include "tally.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace ozbound::drop_in {
namespace {

int ceil_log2(Index size) { return size <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size) - 1)); }

}  // namespace

CallClass::CallClass(const Call& call, std::string outcome)
    : routine(call.routine()),
      object(call.object()),
      ops(call.ops()),
      log_m(ceil_log2(call.m)),
      log_n(ceil_log2(call.n)),
      log_k(ceil_log2(call.k)),
      way(std::move(outcome)) {}

void Count::add(const Count& other) {
  calls += other.calls;
  work += other.work;
  native_seconds += other.native_seconds, own_seconds += other.own_seconds, other_seconds += other.other_seconds;
  if (other.worst) worst = std::max(worst.value_or(0), *other.worst);
}

std::string kind_of(const CallClass& calls) {
  return calls.routine + ' ' + calls.object + ' ' + calls.ops + ' ' + std::to_string(calls.log_m) + ' ' +
         std::to_string(calls.log_n) + ' ' + std::to_string(calls.log_k);
}

void Tally::add(const CallClass& calls, const Count& count) {
  classes_[calls].add(count);
  native_seconds_ += count.native_seconds;
  own_seconds_ += count.own_seconds;
}

}  // namespace ozbound::drop_in
