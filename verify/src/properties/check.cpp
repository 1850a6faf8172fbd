// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/check.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "properties/simpler_cases.hpp"

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Yields simpler_cases, one at a time.
class SimplerCases {
 public:
  explicit SimplerCases(const GemmCase& gemm_case)
      : case_(std::make_shared<const GemmCase>(gemm_case)),
        steps_(std::make_shared<const std::vector<SimplifyingStep>>(simplifying_steps(gemm_case))) {}

  rc::Maybe<GemmCase> operator()() {
    while (next_ < steps_->size()) {
      auto simpler = *case_;
      (*steps_)[next_++](simpler);
      if (!(simpler == *case_)) return simpler;
    }
    return rc::Nothing;
  }

 private:
  std::shared_ptr<const GemmCase> case_;
  std::shared_ptr<const std::vector<SimplifyingStep>> steps_;
  std::size_t next_ = 0;
};

rc::Seq<GemmCase> simpler(const GemmCase& gemm_case) { return rc::makeSeq<SimplerCases>(gemm_case); }

/// A generator of a domain's cases, with their simplification.
rc::Gen<GemmCase> generator(const CaseDomain& domain) {
  return [domain](rc::Random random, int) { return rc::shrinkable::shrinkRecur(sample_case(domain, random.next()), &simpler); };
}

/// Suppresses rapidcheck's reports; Search records the failing case.
class Silence final : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

/// Draws cases until one falsifies the property or time is up, then shrinks it. When the time for drawing or shrinking is up,
/// all further cases pass without a check, so that rapidcheck ends.
class Search {
 public:
  Search(const Property& property, const Engine& engine, const CheckOptions& options)
      : property_(property), engine_(engine), options_(options), generator_(generator(property.domain)) {}

  void run() {
    for (std::uint64_t batch = 0; !found_ && !finished(); ++batch) run_batch(batch);
    if (found_) store();  // replaces the case as it was found
  }

  [[nodiscard]] std::int64_t drawn() const { return drawn_; }
  [[nodiscard]] std::optional<Counterexample>& found() { return found_; }

 private:
  static constexpr int batch_size = 100;
  static constexpr double least_shrinking = 5;  // seconds

  [[nodiscard]] bool finished() const { return drawn_ >= options_.cases || seconds_since(start_) >= options_.seconds; }

  void run_batch(std::uint64_t batch) {
    rc::detail::TestParams params;
    params.seed = options_.seed + batch * 0x9e3779b97f4a7c15;
    params.maxSuccess = batch_size;
    Silence silence;
    const auto result = rc::detail::checkProperty(rc::detail::toProperty([this] { look_at(*generator_); }), {}, params, silence,
                                                  std::unordered_map<std::string, rc::detail::Reproduce>());
    const bool judged = result.is<rc::detail::SuccessResult>() || result.is<rc::detail::FailureResult>();
    if (!judged) throw std::logic_error("no case could be drawn for " + property_.name);
  }

  void look_at(const GemmCase& gemm_case) {
    if (found_ ? seconds_since(found_at_) >= std::max(options_.seconds, least_shrinking) : finished()) return;
    if (!found_) ++drawn_;
    if (options_.progress) options_.progress(std::min(1.0, seconds_since(start_) / options_.seconds));
    auto wrong = judge(property_, gemm_case, engine_);
    if (!wrong) return;
    const bool first = !found_;
    // The last case to fail is the simplest, because rapidcheck continues from each failing case.
    found_ = {{{property_.name}, *wrong, gemm_case}, *wrong, {}};
    if (first) {
      store();  // if the user stops the shrinking, this case is on file
      found_at_ = Clock::now();
    }
    RC_FAIL(*wrong);
  }

  void store() {
    if (options_.store.empty()) return;
    try {
      found_->file = store_case(*found_, options_.store);
      std::error_code ignored;  // a left-over second file does no harm
      if (!stored_.empty() && stored_ != found_->file) std::filesystem::remove(stored_, ignored);
      stored_ = found_->file;
    } catch (const std::runtime_error& error) {
      found_->not_stored = error.what();
    }
  }

  const Property& property_;
  const Engine& engine_;
  const CheckOptions& options_;
  rc::Gen<GemmCase> generator_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point found_at_;
  std::int64_t drawn_ = 0;
  std::optional<Counterexample> found_;
  std::filesystem::path stored_;  // the file written by this search
};

/// Replays the files of a folder that are for the property, until one fails.
void replay(const std::filesystem::path& folder, const Property& property, const Engine& engine, CheckResult& result) {
  for (const auto& file : case_files(folder)) {
    const auto stored = read_case(file);
    if (result.counterexample || !stored.is_for(property.name)) continue;
    ++result.replayed;
    if (auto wrong = judge(property, stored.gemm_case, engine)) result.counterexample = {stored, *wrong, file};
  }
}

}  // namespace

CheckResult check(const Property& property, const Engine& engine, const CheckOptions& options) {
  const FloatEnvironment environment;
  if (!options.store.empty()) require_storable(options.store);
  CheckResult result;
  result.property = property.name;
  for (const auto& folder : options.replayed) replay(folder, property, engine, result);
  if (!options.store.empty()) replay(options.store, property, engine, result);
  if (result.counterexample) return result;
  Search search(property, engine, options);
  search.run();
  result.drawn = search.drawn();
  result.counterexample = std::move(search.found());
  return result;
}

}  // namespace ozbound
