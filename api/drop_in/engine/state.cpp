// SPDX-License-Identifier: BSD-3-Clause
#include "state.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "ozbound/core/float_environment.hpp"
#include "program_blas.hpp"

namespace ozbound::drop_in {
namespace {

using Json = nlohmann::ordered_json;

constexpr long most_call_records = 1000, most_worst_records = 10;
constexpr double seconds_between_counts = 10;
constexpr double free_seconds = 0.05;       ///< seconds of examining that are allowed for any time of native
constexpr double seconds_of_a_call = 5e-4;  ///< least cost of examining a call
constexpr double seconds_of_a_term = 2e-7;  ///< cost per term of a sampled entry
constexpr double many_elements = 1e5;       ///< enough elements to measure the cost per element

std::string program_file() {
  char path[4096];
  const auto length = readlink("/proc/self/exe", path, sizeof path);
  return length < 0 ? "unknown" : std::string(path, static_cast<std::size_t>(length));
}

/// A JSON value for a number; "inf" replaces an infinity, which JSON lacks.
Json json_of(const std::optional<double>& value) {
  if (!value) return nullptr;
  return std::isfinite(*value) ? Json(*value) : Json("inf");
}

/// The name and version of a library, without its further description.
std::string first_words(const std::string& name) {
  const auto space = name.find(' ');
  return name.substr(0, space == std::string::npos ? space : name.find(' ', space + 1));
}

double elements_of(const Call& call) {
  const auto m = static_cast<double>(call.m), n = static_cast<double>(call.n), k = static_cast<double>(call.k);
  return m * k + k * n + m * n;
}

}  // namespace

State::State(Settings settings)
    : settings_(std::move(settings)),
      least_work_(settings_.min_work < 0x1p63 ? static_cast<std::uint64_t>(std::ceil(settings_.min_work))
                                              : std::numeric_limits<std::uint64_t>::max()),
      log_(settings_.log.value_or("")) {}

void State::see(ozd_site& site) {
  if (__atomic_load_n(&site.seen, __ATOMIC_RELAXED) != 0 || __atomic_exchange_n(&site.seen, 1, __ATOMIC_ACQ_REL) != 0) return;
  site.next = sites_.load();
  while (!sites_.compare_exchange_weak(site.next, &site)) {
  }
}

int State::InFlight::threads() const { return others_ > 0 || omp_in_parallel() != 0 ? 1 : 0; }

std::optional<State::Booking> State::book(const Call& call) {
  const std::scoped_lock lock(mutex_);
  const double terms = static_cast<double>(samples_for(call.k)) * static_cast<double>(call.k);
  const double own = seconds_of_a_call + seconds_per_element_ * elements_of(call) + seconds_of_a_term * terms;
  const double native = seconds_per_work_ * call.work();
  double allowed = settings_.share * (tally_.native_seconds() + native) + free_seconds;
  if (kinds_.contains(kind_of(CallClass(call, "")))) allowed /= 2;
  if (!examines_ || settings_.share == 0 || tally_.own_seconds() + booked_ + own > allowed) return {};
  booked_ += own;
  return Booking(own);
}

void State::give_back(const Booking& booking) {
  const std::scoped_lock lock(mutex_);
  booked_ -= booking.own_seconds();
}

void State::add(const CallClass& calls, const Count& count) {
  const std::scoped_lock lock(mutex_);
  tally_.add(calls, count);
  if (count.native_seconds > 0 && count.work > 0) seconds_per_work_ = count.native_seconds / count.work;
}

void State::add(const Call& call, const Examination& examination, long number, const Count& count) {
  const CallClass calls(call, examination.way());
  add(calls, count);
  const std::scoped_lock lock(mutex_);
  kinds_.insert(kind_of(calls));
  if (const double elements = elements_of(call); elements >= many_elements)
    seconds_per_element_ = std::clamp((count.own_seconds - seconds_of_a_call) / elements, 1e-9, 1e-6);
  const auto& blas = blas_of(*call.as_made.site);
  if (libraries_.insert(blas.file()).second)
    write({{"record", "library"}, {"file", blas.file()}, {"name", blas.is_conventional() ? Json(blas.name()) : Json(nullptr)}});
  const bool is_worst = count.worst.value_or(0) > worst_recorded_;
  if (log_.is_wanted() &&
      (call_records_ < most_call_records || (is_worst && call_records_ < most_call_records + most_worst_records))) {
    ++call_records_;
    worst_recorded_ = std::max(worst_recorded_, count.worst.value_or(0));
    const auto& site = *call.as_made.site;
    const auto& decision = examination.decision();
    write({{"record", "call"},
           {"number", number},
           {"routine", call.routine()},
           {"object", call.object()},
           {"offset", site.offset},
           {"ops", call.ops()},
           {"m", call.m},
           {"n", call.n},
           {"k", call.k},
           {"alpha", call.alpha},
           {"beta", call.beta},
           {"way", examination.way()},
           {"plan", decision && decision->plan ? Json(to_string(*decision->plan)) : Json(nullptr)},
           {"reason", examination.reason()},
           {"bound_ratio", json_of(decision ? std::optional(decision->ratio) : std::nullopt)},
           {"library", blas.file()},
           {"native", !examination.mode_is_usual()     ? "unproven (mode)"
                      : !blas.is_conventional()        ? "unproven"
                      : examination.native_certifies() ? "certified"
                                                       : "not certified"},
           {"native_ratio", json_of(count.worst)},
           {"native_seconds", count.native_seconds},
           {"predicted_seconds", json_of(examination.predicted_seconds())},
           {"own_seconds", count.own_seconds}});
  }
  const bool is_power_of_two = (number & (number - 1)) == 0;  // so that a process that is killed early leaves counts too
  if (is_power_of_two || std::chrono::duration<double>(Clock::now() - last_counts_).count() >= seconds_between_counts)
    write_counts();
}

void State::write(Json record) {
  record["process"] = getpid();
  if (!process_written_) {
    process_written_ = true;
    log_.write({{"record", "process"},
                {"process", getpid()},
                {"schema", log_schema},
                {"version", OZBOUND_VERSION},
                {"program", program_file()},
                {"mode", "shadow"},
                {"target", to_string(settings_.target)},
                {"min_work", settings_.min_work},
                {"share", settings_.share}});
  }
  log_.write(record);
}

SiteCounts State::site_counts() const {
  SiteCounts sum;
  const auto read = [](const long& count) { return __atomic_load_n(&count, __ATOMIC_RELAXED); };
  for (const auto* site = sites_.load(); site != nullptr; site = site->next) {
    sum.calls += read(site->calls), sum.small += read(site->small), sum.empty += read(site->empty);
    sum.bad_arguments += read(site->bad_arguments), sum.unknown_width += read(site->unknown_width);
    sum.other_mode += read(site->other_mode);
  }
  return sum;
}

void State::write_counts() {
  last_counts_ = Clock::now();
  for (const auto& [calls, count] : tally_.classes())
    write({{"record", "count"},
           {"routine", calls.routine},
           {"object", calls.object},
           {"ops", calls.ops},
           {"log2_m", calls.log_m},
           {"log2_n", calls.log_n},
           {"log2_k", calls.log_k},
           {"way", calls.way},
           {"calls", count.calls},
           {"work", count.work},
           {"native_seconds", count.native_seconds},
           {"own_seconds", count.own_seconds},
           {"other_seconds", count.other_seconds},
           {"worst", json_of(count.worst)}});
  const auto sites = site_counts();
  write({{"record", "calls"},
         {"calls", sites.calls},
         {"small", sites.small},
         {"empty", sites.empty},
         {"bad_arguments", sites.bad_arguments},
         {"unknown_width", sites.unknown_width},
         {"other_mode", sites.other_mode}});
}

std::string State::summary() const {
  const auto sites = site_counts();
  std::set<std::string> libraries;
  for (const auto* site = sites_.load(); site != nullptr && examines_; site = site->next) {
    const auto& blas = blas_of(*site);
    libraries.insert(blas.file() + ": " +
                     (blas.is_conventional() ? first_words(blas.name()) : "not recognised, so native is unproven"));
  }
  return summary_text(settings_, tally_, sites, {libraries.begin(), libraries.end()});
}

void State::say_unseen() {
  const FloatEnvironment environment;
  write_counts();
  write({{"record", "end"}});
  if (!settings_.writes_summary()) return;
  const QuietSignals quiet;
  std::fputs(unseen_text(program_file(), files_with_blas()).c_str(), stderr);
}

void State::finish() {
  ended_ = true;
  const std::scoped_lock lock(mutex_);
  if (site_counts().calls == 0) return;
  const FloatEnvironment environment;
  write_counts();
  write({{"record", "end"}});
  if (!settings_.writes_summary()) return;
  const QuietSignals quiet;
  std::fputs(summary().c_str(), stderr);
}

void State::begin_in_child() {
  // Another thread of the parent may have held a lock, or been changing the data under it. In the child nobody releases that
  // lock.
  if (in_flight_ > 0) examines_ = false;
  new (&mutex_) std::mutex;
  new (&tally_) Tally;
  new (&kinds_) std::set<std::string>;
  new (&libraries_) std::set<std::string>;
  call_records_ = 0, worst_recorded_ = 0, booked_ = 0;
  in_flight_ = 0, examined_ = 0;
  for (auto* site = sites_.load(); site != nullptr; site = site->next)
    for (auto* count :
         {&site->calls, &site->small, &site->empty, &site->bad_arguments, &site->unknown_width, &site->other_mode})
      __atomic_store_n(count, 0, __ATOMIC_RELAXED);
  log_.begin_in_child();
  process_written_ = false;
}

}  // namespace ozbound::drop_in
