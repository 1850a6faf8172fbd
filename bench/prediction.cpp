// SPDX-License-Identifier: BSD-3-Clause
#include "prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "ozbound/verify/problem.hpp"

#include "ozbound/bounds/calibrate.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/files/columns.hpp"

namespace ozbound::bench {
namespace {

constexpr double seconds_of_a_way = 0.4;
constexpr double hopeless = 20;  ///< a way that is predicted to take this many times the least is not timed

constexpr Shape held_out[] = {{48, 48, 48},     {7, 61, 68},     {100, 100, 100}, {600, 40, 300},  {40, 600, 300},
                              {160, 160, 160},  {40, 40, 3000},  {700, 700, 20},  {300, 20, 900},  {20, 300, 900},
                              {100, 100, 1500}, {320, 320, 320}, {200, 900, 150}, {448, 448, 448}, {700, 700, 700}};
constexpr const char* targets[] = {"dgemm", "componentwise:1e-12", "componentwise:1e-8"};

std::string name_of(Method method, const std::optional<Plan>& plan) { return plan ? to_string(*plan) : to_string(method); }

/// A product, and everything to decide on it and to run it.
class HeldOut {
 public:
  HeldOut(const Shape& shape, const CpuEngine& engine, const NativeGemm* native, const CostModel& costs)
      : shape_(shape),
        engine_(engine),
        native_(native),
        costs_(costs),
        problem_(generate({Family::uniform, shape.m, shape.n, shape.k, 0, 1})),
        c_(shape.m, shape.n) {}

  PredictionCase time(const Target& target) {
    const auto chosen = decide_with(target, native_);
    auto candidates = chosen.candidates;
    if (chosen.method == Method::native) {
      const auto other = decide_with(target, nullptr);
      std::ranges::copy_if(other.candidates, std::back_inserter(candidates),
                           [](const auto& one) { return one.plan.has_value(); });
    }
    std::erase_if(candidates, [](const Candidate& one) { return !one.certifies; });
    const double least = std::ranges::min_element(candidates, {}, &Candidate::cost)->cost;
    PredictionCase result{shape_, to_string(target), engine_.threads(), {}};
    for (const auto& one : candidates)
      if (one.cost <= hopeless * least)
        result.ways.push_back({name_of(one.method, one.plan), one.cost, seconds(chosen, one),
                               one.method == chosen.method && one.plan == chosen.plan});
    return result;
  }

 private:
  [[nodiscard]] Decision decide_with(const Target& target, const NativeGemm* native) const {
    return decide({problem_.a, problem_.b}, target, {engine_, native, &costs_});
  }

  double seconds(Decision way, const Candidate& candidate) {
    way.method = candidate.method, way.plan = candidate.plan;
    const RealProduct call{problem_.a, problem_.b, c_};
    return median_seconds([&] { static_cast<void>(multiply(call, way, {engine_, native_})); }, seconds_of_a_way);
  }

  Shape shape_;
  const CpuEngine& engine_;
  const NativeGemm* native_;
  const CostModel& costs_;
  Problem problem_;
  Matrix<double> c_;
};

std::string milliseconds(double seconds) { return fmt::format("{:.4g}", 1e3 * seconds); }

}  // namespace

std::vector<double> PredictionCase::errors() const {
  std::vector<double> errors;
  for (const auto& way : ways) errors.push_back(std::abs(way.predicted / way.measured - 1));
  return errors;
}

double PredictionCase::regret() const {
  const double fastest = std::ranges::min_element(ways, {}, &TimedWay::measured)->measured;
  return std::ranges::find(ways, true, &TimedWay::chosen)->measured / fastest;
}

std::vector<PredictionCase> predict(const CpuEngine& engine, const NativeGemm* native, const CostModel& costs, bool quick) {
  std::vector<PredictionCase> cases;
  for (const auto& shape : held_out) {
    if (quick && shape.m * shape.n * shape.k > 1000000) continue;
    HeldOut product(shape, engine, native, costs);
    for (const char* target : targets) cases.push_back(product.time(parse_target(target)));
  }
  return cases;
}

std::vector<Goal> judge_predictions(std::span<const PredictionCase> cases) {
  std::vector<double> errors;
  double right = 0;
  for (const auto& one : cases) {
    const auto some = one.errors();
    errors.insert(errors.end(), some.begin(), some.end());
    if (one.regret() <= 1.1) ++right;
  }
  return {{"median relative error of predicted times, held-out products", 0.25, true, true, quartiles(errors).median},
          {"choices within 10 % of the fastest certified way", 0.9, false, true, right / static_cast<double>(cases.size())}};
}

nlohmann::ordered_json to_json(const PredictionCase& one) {
  auto ways = nlohmann::ordered_json::array();
  for (const auto& way : one.ways)
    ways.push_back({{"way", way.way}, {"predicted", way.predicted}, {"measured", way.measured}, {"chosen", way.chosen}});
  return {{"m", one.shape.m},     {"n", one.shape.n},       {"k", one.shape.k},
          {"target", one.target}, {"threads", one.threads}, {"ways", ways}};
}

std::string prediction_table(std::span<const PredictionCase> cases) {
  std::vector<files::Cells> rows{{"shape", "threads", "target", "", "way", "predicted ms", "measured ms", "error %"}};
  for (const auto& one : cases)
    for (const auto& way : one.ways)
      rows.push_back({to_string(one.shape), std::to_string(one.threads), one.target, way.chosen ? "*" : "", way.way,
                      milliseconds(way.predicted), milliseconds(way.measured),
                      fmt::format("{:.0f}", 100 * (way.predicted / way.measured - 1))});
  return files::format_columns(rows);
}

}  // namespace ozbound::bench
