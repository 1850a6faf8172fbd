// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "ozbound/bounds/calibrate.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/core/panel_slices.hpp"
#include "ozbound/verify/problem.hpp"
#include "support/temporary_directory.hpp"

namespace ozbound::calibration_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Seconds with short significands, none of them 0.
Rates some_rates(int threads) {
  return {threads,
          {0x1p-14, 0x1.8p-30, 0x1.4p-29, 0x1p-36, 0x1.cp-31, 0x1p-27, 0x1.8p-34},
          {0x1p-16, 0x1p-28, 0x1.8p-22, 0x1p-26},
          {{0x1p-17, 0x1p-29, 0x1.8p-29, 0x1p-28, 0x1p-35}},
          {{0x1p-15, 0x1.2p-30, 0x1p-30, 0x1.2p-36, 0x1.4p-31, 0x1p-28, 0x1.6p-34}}};
}

Calibration some(const std::string& kernel = "some") {
  return {"processor", kernel, "1.2.3", {8, 48}, {some_rates(1), some_rates(4)}, "cpu", "a BLAS 0.3"};
}

double seconds_by(const CostModel& costs, const Sample& sample) {
  if (sample.method == Method::one_plan) return costs.planned(*sample.plan, sample.m, sample.n, sample.k);
  if (sample.method == Method::native) return costs.native(sample.m, sample.n, sample.k);
  return costs.exact(sample.m, sample.n, sample.k);
}

/// The samples that a machine with exactly these rates would measure.
std::vector<Sample> timed_by(const Rates& rates, KernelTile tile) {
  const CalibratedCosts costs({"", "", "", tile, {rates}}, rates.threads, {});
  auto samples = calibration_samples();
  for (auto& sample : samples) sample.seconds = seconds_by(costs, sample);
  return samples;
}

template <std::size_t n>
void expect_recovered(const std::array<double, n>& fitted, const std::array<double, n>& expected) {
  // Gram-Schmidt with the right side as a column is backward stable. Relative errors are a few hundred u times the condition
  // number of the samples' counts with columns of length 1, which is below 2^12 for these samples. The least term is at least
  // 2^-8 of its column's share.
  for (std::size_t t = 0; t < n; ++t) EXPECT_NEAR(fitted[t] / expected[t], 1, 0x1p-24) << t;
}

TEST(Calibration, AFitRecoversWhatTimesAreMadeOf) {
  for (const KernelTile tile : {KernelTile{1, 1}, KernelTile{8, 48}, KernelTile{4, 64}}) {
    const auto rates = some_rates(3);
    const auto fitted = fit_rates(timed_by(rates, tile), 3, tile);
    EXPECT_EQ(fitted.threads, 3);
    expect_recovered(fitted.slices, rates.slices);
    expect_recovered(fitted.exact, rates.exact);
    ASSERT_TRUE(fitted.native);
    expect_recovered(*fitted.native, *rates.native);
    ASSERT_TRUE(fitted.residues);
    expect_recovered(*fitted.residues, *rates.residues);
  }
}

TEST(Calibration, ADeviceIsFittedByLargerProducts) {
  const CalibratedCosts costs({"", "", "", {128, 128}, {some_rates(3)}}, 3, {});
  auto samples = calibration_samples(true);
  for (auto& sample : samples) sample.seconds = seconds_by(costs, sample);
  const auto fitted = fit_rates(samples, 3, {128, 128});
  expect_recovered(fitted.slices, some_rates(3).slices);
  expect_recovered(*fitted.native, *some_rates(3).native);
}

TEST(Calibration, ATermThatCostsNothingIsFittedAsNothing) {
  auto rates = some_rates(1);
  rates.slices[1] = rates.slices[5] = rates.native->at(1) = 0;
  const auto fitted = fit_rates(timed_by(rates, {8, 48}), 1, {8, 48});
  for (std::size_t t = 0; t < rates.slices.size(); ++t)
    EXPECT_NEAR(fitted.slices[t], rates.slices[t], 0x1p-24 * std::max(rates.slices[t], 0x1p-36)) << t;

  auto samples = timed_by(rates, {8, 48});
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].seconds *= i % 3 == 0 ? 0.8 : 1.2;
  const auto disturbed = fit_rates(samples, 1, {8, 48});
  EXPECT_GE(std::ranges::min(disturbed.slices), 0);
  EXPECT_GE(std::ranges::min(disturbed.exact), 0);
  EXPECT_GE(std::ranges::min(*disturbed.native), 0);
}

TEST(Calibration, ProductsAreNeverFree) {
  auto rates = some_rates(1);
  rates.slices[3] = rates.native->at(4) = rates.residues->at(3) = 0;
  const auto samples = timed_by(rates, {8, 48});
  const auto fitted = fit_rates(samples, 1, {8, 48});
  const CalibratedCosts costs({"", "", "", {8, 48}, {fitted}}, 1, {});
  EXPECT_GT(fitted.slices[3], 0);
  EXPECT_GT(fitted.native->at(4), 0);
  EXPECT_GT(fitted.residues->at(3), 0);
  for (const auto& sample : samples) {
    if (sample.method == Method::native) {
      EXPECT_LE(fitted.native->at(4) * native_counts(sample.m, sample.n, sample.k)[4], sample.seconds);
    }
    if (sample.method != Method::one_plan) continue;
    const double most = sample.plan->visit(
        [&](const SplitPlan& plan) { return fitted.slices[3] * slice_counts(plan, sample.m, sample.n, sample.k, {8, 48})[3]; },
        [&](const ResiduePlan& plan) {
          return fitted.residues->at(3) * residue_counts(plan, sample.m, sample.n, sample.k, {8, 48})[3];
        });
    EXPECT_LE(most, sample.seconds);
  }
  EXPECT_LT(costs.planned(SplitPlan::balanced(7, 7, 8), 900, 900, 900),
            costs.planned(SplitPlan::balanced(7, 7, 9), 900, 900, 900));
}

TEST(Calibration, AFewDisturbedTimesHaveLittleSay) {
  const auto rates = some_rates(1);
  auto samples = timed_by(rates, {8, 48});
  for (std::size_t i = 0; i < samples.size(); i += 13) samples[i].seconds *= 2;
  const auto fitted = fit_rates(samples, 1, {8, 48});
  const CalibratedCosts costs({"", "", "", {8, 48}, {fitted}}, 1, {});
  const auto plan = SplitPlan::balanced(7, 7, 8);
  const CalibratedCosts undisturbed({"", "", "", {8, 48}, {rates}}, 1, {});
  for (const Index n : {100, 300, 900}) {
    EXPECT_NEAR(costs.planned(plan, n, n, n) / undisturbed.planned(plan, n, n, n), 1, 0.005) << n;
    EXPECT_NEAR(costs.native(n, n, n) / undisturbed.native(n, n, n), 1, 0.005) << n;
  }
}

TEST(Calibration, AFitNeedsTimesAndTakesNoNative) {
  EXPECT_THROW((void)fit_rates(calibration_samples(), 1, {}), std::invalid_argument);
  auto samples = timed_by(some_rates(1), {});
  for (auto& sample : samples)
    if (sample.method == Method::native) sample.seconds = 0;
  const auto fitted = fit_rates(samples, 1, {});
  EXPECT_FALSE(fitted.native);
  EXPECT_EQ(CalibratedCosts({"", "", "", {}, {fitted}}, 1, {}).native(4, 4, 4), std::numeric_limits<double>::infinity());
}

TEST(Calibration, TheEngineIsMeasured) {
  const CpuEngine engine({.threads = 1});
  std::vector<double> told;
  const auto rates = measure_rates(engine, nullptr, {0.05, [&told](double done) { told.push_back(done); }});
  EXPECT_EQ(rates.threads, 1);
  EXPECT_FALSE(rates.native);
  EXPECT_GT(std::ranges::max(rates.slices), 0);
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_GT(told.back(), told.front());
  EXPECT_LE(told.back(), 1);
}

TEST(Calibration, CountsAreThoseOfTheProduct) {
  const auto plan = SplitPlan::balanced(2, 3, 4);  // (1,1), (1,2) (2,1), (1,3) (2,2): three groups
  EXPECT_EQ(slice_counts(plan, 5, 7, 10, {1, 1}),
            (TermSeconds<slice_terms>{1, 50 + 70, 2 * 50 + 3 * 70, 35 * 10 * 5, 35 * 3, 35, 350}));
  EXPECT_EQ(slice_counts(plan, 5, 7, 10, {4, 16}),
            (TermSeconds<slice_terms>{1, 50 + 70, 2 * 50 + 3 * 70, 8 * 16 * 10 * 5, 8 * 16 * 3, 35, 350}));
  EXPECT_EQ(native_counts(5, 7, 10), (TermSeconds<native_terms>{1, 50, 70, 35, 350}));
  EXPECT_EQ(exact_counts(5, 7, 10), (TermSeconds<exact_terms>{1, 120, 35, 350}));
}

TEST(Calibration, SumsAreThoseOfBlocksAndGroups) {
  const auto sums = [](const SplitPlan& plan, Index k) { return slice_counts(plan, 1, 1, k, {})[4]; };
  const Index block = PanelLayout{}.block;
  const auto one = SplitPlan::balanced(1, 1, 2);
  EXPECT_EQ(sums(one, 0), 1);
  EXPECT_EQ(sums(one, block), 1);
  EXPECT_EQ(sums(one, block + 1), 2);
  auto triangle = SplitPlan::balanced(3, 3, 4);  // 1, 2 and 3 pairs
  EXPECT_EQ(sums(triangle, block), 3);
  EXPECT_EQ(sums(triangle, 5 * block), 15);
  triangle.accumulation = Accumulation::per_product;
  EXPECT_EQ(sums(triangle, block), 6);
}

TEST(Calibration, ThreadsBetweenFollowAmdahl) {
  auto calibration = some();
  auto& one = calibration.rates[0];
  auto& four = calibration.rates[1];
  one.slices[3] = 4, four.slices[3] = 1;  // a + b / t with a = 0, b = 4
  one.slices[0] = four.slices[0] = 8;
  one.exact[0] = 7, four.exact[0] = 4;  // 3 + 4 / t
  EXPECT_EQ(calibration.with_threads(2).slices[3], 2);
  EXPECT_EQ(calibration.with_threads(2).slices[0], 8);
  EXPECT_EQ(calibration.with_threads(2).exact[0], 5);
  EXPECT_EQ(calibration.with_threads(1), one);
  EXPECT_EQ(calibration.with_threads(4), four);
  EXPECT_EQ(calibration.with_threads(64), four);
  four.native.reset();
  EXPECT_FALSE(calibration.with_threads(2).native);
  calibration.rates.erase(calibration.rates.begin());
  EXPECT_EQ(calibration.with_threads(1), calibration.rates.front());
}

TEST(Calibration, CostsNeedThreadsAndRates) {
  EXPECT_THROW(CalibratedCosts(some(), 0, {}), std::invalid_argument);
  EXPECT_THROW(CalibratedCosts(Calibration{}, 1, {}), std::invalid_argument);
}

// Files.

std::string refusal(const json& bad) {
  try {
    (void)calibrations_from_json(bad);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused: " << bad.dump();
  return "";
}

TEST(Calibration, JsonReadsBack) {
  auto other = some("other");
  other.rates.pop_back();
  other.rates[0].native.reset();
  other.rates[0].slices[2] = 1.0 / 3;
  const std::vector<Calibration> list{some(), other};
  EXPECT_EQ(calibrations_from_json(json::parse(to_json(list).dump())), list);
  EXPECT_EQ(calibrations_from_json(to_json(std::vector<Calibration>{})), std::vector<Calibration>{});
}

TEST(Calibration, WhatIsWrongWithJsonIsNamed) {
  const auto good = to_json(std::vector{some()});
  auto numbered = good;
  numbered["calibrations"][0]["engine"] = 1;
  EXPECT_THAT(refusal(numbered), HasSubstr("engine"));
  for (const char* name : {"processor", "kernel", "version", "blas", "tile", "rates"})
    for (const auto& value : {json(), json(1), json(json::object()), json(true)}) {
      auto bad = good;
      bad["calibrations"][0][name] = value;
      EXPECT_THAT(refusal(bad), HasSubstr(name)) << value;
      bad["calibrations"][0].erase(name);
      EXPECT_THAT(refusal(bad), HasSubstr(name));
    }
  const auto rates = json::json_pointer("/calibrations/0/rates/0");
  for (const char* name : {"threads", "slices", "exact", "native"})
    for (const auto& value : {json("1"), json(-1), json(0.5), json::array(), json(true)}) {
      auto bad = good;
      bad[rates][name] = value;
      EXPECT_FALSE(refusal(bad).empty()) << name << " = " << value;
      bad[rates].erase(name);
      EXPECT_THAT(refusal(bad), HasSubstr(name));
    }
  for (const auto& value : {json(-1e-300), json("inf"), json(), json(true), json(std::numeric_limits<double>::infinity())}) {
    auto bad = good;
    bad[rates]["slices"]["digit"] = value;
    EXPECT_THAT(refusal(bad), HasSubstr("digit")) << value;
  }
  auto nothing = good;
  for (auto& seconds : nothing[rates]["exact"]) seconds = 0;
  EXPECT_THAT(refusal(nothing), HasSubstr("exact"));
  auto free = good;
  free[rates]["slices"]["product"] = 0;
  EXPECT_THAT(refusal(free), HasSubstr("product"));
  auto twice = good;
  twice["calibrations"][0]["rates"][1]["threads"] = 1;
  EXPECT_THAT(refusal(twice), HasSubstr("rates"));
  for (const auto& other : {json(), json(1), json::array(), json::object(), json{{"schema", "ozbound-calibration-3"}}, [] {
                              auto older = to_json(std::vector{some()});
                              older["schema"] = "ozbound-calibration-1";
                              return older;
                            }()})
    EXPECT_FALSE(refusal(other).empty());
}

TEST(Calibration, ItsOwnPlaceIsTaken) {
  auto file = with_calibration(to_json(std::vector<Calibration>{}), some());
  file = with_calibration(file, some("other"));
  auto better = some();
  better.rates[0].slices[0] = 1, better.rates[1].slices[0] = 2;
  file = with_calibration(file, better);
  EXPECT_EQ(calibrations_from_json(file), (std::vector{some("other"), better}));
  auto newer = some();
  newer.version = "2";
  EXPECT_EQ(calibrations_from_json(with_calibration(file, newer)), (std::vector{some("other"), better, newer}));
  for (const auto* blas : {"a BLAS 0.4", ""}) {
    auto another = some();
    another.blas = blas;
    EXPECT_EQ(calibrations_from_json(with_calibration(file, another)), (std::vector{some("other"), better, another}));
  }
}

TEST(Calibration, OtherNumbersOfThreadsAreKept) {
  auto two = some();
  two.rates = {some_rates(2), some_rates(4)};
  two.rates[1].slices[0] = 1;
  auto both = some();
  both.rates = {some_rates(1), two.rates[0], two.rates[1]};
  const auto file = to_json(std::vector{some()});
  EXPECT_EQ(calibrations_from_json(with_calibration(file, two)), std::vector{both});
  two.tile = {4, 16};
  EXPECT_EQ(calibrations_from_json(with_calibration(file, two)), std::vector{two});
}

TEST(Calibration, WrongEntriesStayUnlessReplaced) {
  auto file = to_json(std::vector{some("other"), some()});
  file["calibrations"][0]["rates"] = "none";
  file["calibrations"].insert(file["calibrations"].begin(), json{1});
  auto expected = file;
  file["calibrations"][2].erase("tile");
  EXPECT_EQ(with_calibration(file, some()), expected);
}

class CalibrationFile : public testing::Test {
 protected:
  static const CpuEngine& engine() {
    static const CpuEngine two({.threads = 2, .kernel = &find_kernel("portable")});  // a kernel with a shipped calibration
    return two;
  }
  [[nodiscard]] std::string path() const { return folder_ / "calibration.json"; }
  void write(const std::string& bytes) const { test::write_bytes(path(), bytes); }
  static Calibration mine() {
    auto calibration = this_machine(engine());
    calibration.rates = some().rates;
    return calibration;
  }
  [[nodiscard]] CostOrigin origin(const NativeGemm* native = nullptr) const {
    return machine_costs(engine(), native, path()).origin();
  }

 private:
  test::TemporaryDirectory folder_;
};

TEST_F(CalibrationFile, OfThisMachineIsUsed) {
  write(to_json(std::vector{some(), mine()}).dump());
  const auto costs = machine_costs(engine(), nullptr, path());
  EXPECT_EQ(costs.origin(), (CostOrigin{"calibrated", "seconds", mine().processor, mine().kernel, 2, ""}));
  EXPECT_EQ(costs.calibration().rates, std::vector{mine().with_threads(2)});
}

TEST_F(CalibrationFile, NoneIsNoFault) {
  EXPECT_EQ(origin().model, "shipped");
  EXPECT_EQ(origin().note, "");
  EXPECT_EQ(machine_costs(engine(), nullptr, "").origin().note, "");
}

TEST_F(CalibrationFile, OfAnotherMachineIsNotUsed) {
  for (const auto& change : std::vector<std::function<void(Calibration&)>>{[](Calibration& c) { c.processor += "x"; },
                                                                           [](Calibration& c) { c.kernel += "x"; },
                                                                           [](Calibration& c) { c.version += ".1"; }}) {
    auto other = mine();
    change(other);
    write(to_json(std::vector{other}).dump());
    EXPECT_EQ(origin().model, "shipped");
    EXPECT_THAT(origin().note, HasSubstr("none of this"));
  }
}

/// A processor whose kernel has no shipped calibration (one with AMX, for example) gets the calibration of the first kernel,
/// and the note says so.
TEST_F(CalibrationFile, OfAnotherKernelIsShippedForOneWithout) {
  const Kernel unmeasured{"unmeasured", find_kernel("portable").functions};
  const CpuEngine without({.threads = 2, .kernel = &unmeasured});
  const auto& first = shipped_calibrations().front();
  const auto costs = machine_costs(without, nullptr, "");
  EXPECT_EQ(costs.origin(), (CostOrigin{"shipped", "seconds", first.processor, first.kernel, 2,
                                        "calibration: none came with Ozbound for the kernel unmeasured"}));
  EXPECT_EQ(costs.calibration().rates, std::vector{first.with_threads(2)});
  EXPECT_EQ(costs.calibration().tile, first.tile);
  EXPECT_EQ(first.kernel, "avx512vnni") << "whose rates are those of a fast one";
  write("{");
  EXPECT_EQ(machine_costs(without, nullptr, path()).origin().note,
            "calibration: the file is no JSON; none came with Ozbound for the kernel unmeasured");
}

class Named final : public NativeGemm {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string name() const override { return name_; }
  void dgemm(const RealProduct&) const override {}

 private:
  std::string name_;
};

TEST_F(CalibrationFile, OfAnotherBlasIsNotUsed) {
  const Named first("OpenBLAS 0.3.21 USE_OPENMP"), second("OpenBLAS 0.3.21");
  auto of_first = mine(), of_none = mine();
  of_first.blas = first.name(), of_first.rates[0].slices[0] = 5;
  write(to_json(std::vector{of_first}).dump());
  EXPECT_EQ(origin(&first).model, "calibrated");
  EXPECT_EQ(origin().model, "calibrated") << "whose native DGEMM is not asked for";
  EXPECT_EQ(origin(&second).model, "shipped");
  EXPECT_THAT(origin(&second).note, HasSubstr("measured with OpenBLAS 0.3.21 USE_OPENMP, and here is OpenBLAS 0.3.21"));
  write(to_json(std::vector{of_none, of_first}).dump());
  EXPECT_EQ(machine_costs(engine(), &first, path()).calibration().blas, first.name());
  EXPECT_EQ(origin(&second).model, "shipped") << "one without native DGEMM says nothing of it";
}

/// A version-2 calibration has no residue rates, so plans by residues cost infinity.
TEST_F(CalibrationFile, OfVersion2HasNoResidues) {
  auto older = to_json(std::vector{mine()});
  older["schema"] = "ozbound-calibration-2";
  for (auto& rates : older["calibrations"][0]["rates"]) rates.erase("residues");
  write(older.dump());
  const auto costs = machine_costs(engine(), nullptr, path());
  EXPECT_EQ(costs.origin().model, "calibrated");
  EXPECT_EQ(costs.planned(ResiduePlan{13, 46, 47}, 9, 9, 9), std::numeric_limits<double>::infinity());
  EXPECT_LT(costs.planned(SplitPlan::balanced(9, 9, 18), 9, 9, 9), std::numeric_limits<double>::infinity());
  const auto newer = with_calibration(older, mine());
  EXPECT_EQ(newer["schema"], "ozbound-calibration-3");
  EXPECT_TRUE(calibrations_from_json(newer).front().rates.front().residues);
}

/// A version-1 calibration, which names no BLAS, is refused.
TEST_F(CalibrationFile, OfVersion1IsNotUsed) {
  auto older = to_json(std::vector{mine()});
  older["schema"] = "ozbound-calibration-1";
  older["calibrations"][0].erase("blas");
  write(older.dump());
  EXPECT_EQ(origin().model, "shipped");
  EXPECT_EQ(origin().note, "calibration: schema must be ozbound-calibration-3");
}

TEST(Calibration, WhatIsShippedNamesItsBlas) {
  for (const auto& shipped : shipped_calibrations())
    EXPECT_THAT(shipped.blas, HasSubstr(shipped.engine == "cpu" ? "OpenBLAS 0.3.21" : "cublas"));
}

TEST_F(CalibrationFile, ThatIsCorruptIsNotUsed) {
  const auto good = to_json(std::vector{mine()}).dump();
  auto wrong = json::parse(good);
  wrong["calibrations"][0]["rates"][1]["exact"]["call"] = "soon";
  for (const auto& bytes : {std::string(), std::string("{"), good.substr(0, good.size() / 2), good + "x",
                            std::string(5000, '['), std::string("\0\xff\xfe", 3), std::string("null"), std::string("1e999"),
                            wrong.dump(), good + std::string(1 << 20, ' ')}) {
    write(bytes);
    EXPECT_EQ(origin().model, "shipped") << bytes.substr(0, 40);
    EXPECT_THAT(origin().note, HasSubstr("calibration: ")) << bytes.substr(0, 40);
  }
}

TEST_F(CalibrationFile, WrongEntriesHideNoOther) {
  auto file = to_json(std::vector{some(), mine()});
  file["calibrations"][0]["rates"] = 1;
  file["calibrations"].push_back("nothing");
  write(file.dump());
  EXPECT_EQ(origin().model, "calibrated");
  file["calibrations"].insert(file["calibrations"].begin(), to_json(std::vector{mine()})["calibrations"][0]);
  file["calibrations"][0]["rates"] = 1;
  write(file.dump());
  EXPECT_EQ(origin().model, "calibrated") << "a wrong one of the same machine comes first";
}

TEST_F(CalibrationFile, OfAnotherEngineIsNotTheCpus) {
  auto device = mine();
  device.engine = "cuda";
  write(to_json(std::vector{device}).dump());
  EXPECT_EQ(origin().model, "shipped");
  auto file = to_json(std::vector{device, mine()});
  write(file.dump());
  EXPECT_EQ(origin().model, "calibrated");
  file["calibrations"][1].erase("engine");  // as in older files
  write(file.dump());
  EXPECT_EQ(origin().model, "calibrated");
  EXPECT_EQ(calibrations_from_json(file), (std::vector{device, mine()}));
}

TEST_F(CalibrationFile, OfADeviceIsKnownWhereItIsTheSame) {
  auto device = mine();
  device.engine = "cuda", device.processor = "a device";
  const auto known = [&](const Calibration& here) { return known_costs(here, 4, path()); };
  EXPECT_FALSE(known(device)) << "no file";
  write(to_json(std::vector{mine(), device}).dump());
  ASSERT_TRUE(known(device));
  EXPECT_EQ(known(device)->origin(), (CostOrigin{"calibrated", "seconds", "a device", device.kernel, 4, ""}));
  EXPECT_EQ(known(device)->calibration().engine, "cuda");
  EXPECT_THROW(static_cast<void>(known_costs(device, 0, path())), std::invalid_argument);
  for (const auto& change : std::vector<std::function<void(Calibration&)>>{
           [](Calibration& c) { c.processor += "x"; }, [](Calibration& c) { c.kernel += "x"; },
           [](Calibration& c) { c.version += ".1"; }, [](Calibration& c) { c.engine = "cpu"; }}) {
    auto other = device;
    change(other);
    EXPECT_FALSE(known(other));
  }
}

TEST_F(CalibrationFile, OfADeviceIsShippedForThatDevice) {
  const Calibration h200{"NVIDIA H200, compute capability 9.0", "automatic", "any", {}, {}, "cuda"};
  const auto shipped = known_costs(h200, 16, path());
  ASSERT_TRUE(shipped);
  EXPECT_EQ(shipped->origin(), (CostOrigin{"shipped", "seconds", h200.processor, h200.kernel, 16, ""}));
  write("{");
  EXPECT_EQ(known_costs(h200, 16, path())->origin().note, "calibration: the file is no JSON");
}

TEST_F(CalibrationFile, WhatIsOfNoKnownEngineHidesNothing) {
  auto file = to_json(std::vector{mine()});
  const json unknown{{"engine", "abacus"},
                     {"processor", mine().processor},
                     {"kernel", mine().kernel},
                     {"version", mine().version},
                     {"beads", 7}};
  file["calibrations"].insert(file["calibrations"].begin(), unknown);
  write(file.dump());
  EXPECT_EQ(origin().model, "calibrated");
  EXPECT_EQ(with_calibration(file, mine())["calibrations"][0], unknown);
}

TEST_F(CalibrationFile, ThatIsNoneIsNotUsed) {
  std::filesystem::create_directory(path());
  EXPECT_THAT(origin().note, HasSubstr("there is no such file"));
}

TEST(Calibration, TheShippedOneIsComplete) {
  ASSERT_FALSE(shipped_calibrations().empty());
  for (const auto& calibration : shipped_calibrations())
    for (const auto& rates : calibration.rates) {
      EXPECT_TRUE(rates.native) << calibration.kernel;
      EXPECT_TRUE(rates.residues) << calibration.kernel;
      EXPECT_GT(rates.slices[3], 0) << "products must not be free: " << calibration.kernel;
      EXPECT_GT(rates.native->at(4), 0) << calibration.kernel;
    }
}

TEST(Calibration, ThePathFollowsTheEnvironment) {
  const auto with = [](const char* cache, const char* home) {
    cache == nullptr ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", cache, 1);
    home == nullptr ? unsetenv("HOME") : setenv("HOME", home, 1);
    return calibration_path();
  };
  const std::string home = getenv("HOME") == nullptr ? "" : getenv("HOME");
  EXPECT_EQ(with("/cache", "/home"), "/cache/ozbound/calibration.json");
  EXPECT_EQ(with(nullptr, "/home"), "/home/.cache/ozbound/calibration.json");
  EXPECT_EQ(with("relative", "/home"), "/home/.cache/ozbound/calibration.json");
  EXPECT_EQ(with("", nullptr), "");
  EXPECT_EQ(with(nullptr, "relative"), "");
  if (!home.empty()) setenv("HOME", home.c_str(), 1);
}

// How decide uses a calibration.

/// A DGEMM that is never called: decide only asks for its cost.
class Uncalled final : public NativeGemm {
 public:
  [[nodiscard]] std::string name() const override { return "uncalled"; }
  void dgemm(const RealProduct&) const override { ADD_FAILURE() << "called"; }
};

/// Costs of a second per product of slices, and of the given seconds for native DGEMM and for the superaccumulator.
CalibratedCosts priced(double native, double exact) {
  Rates rates{1, {}, {exact, 0, 0, 0}, {{native, 0, 0, 0, 0}}};
  rates.slices[3] = 1;
  return {{"p", "k", "v", {}, {rates}}, 1, {"calibrated", "seconds", "p", "k", 1, ""}};
}

TEST(Calibration, NativeIsChosenExactlyWhereItIsPredictedToBeFaster) {
  const CpuEngine engine({.threads = 1});
  const Uncalled native;
  const auto problem = generate({Family::uniform, 5, 5, 100, 0, 14});
  const auto decide_with = [&](const CostModel& costs) {
    return decide({problem.a, problem.b}, Target::dgemm(), {engine, &native, &costs});
  };
  const auto alone = decide_with(priced(1e9, 1e9));
  ASSERT_EQ(alone.method, Method::one_plan);
  const double seconds = 5 * 5 * 100 * alone.plan->products();
  EXPECT_EQ(alone.cost, seconds);
  EXPECT_EQ(decide_with(priced(seconds, 1e9)).method, Method::one_plan) << "a tie: nothing is assumed of summation";
  const auto faster = decide_with(priced(std::nextafter(seconds, 0), 1e9));
  EXPECT_EQ(faster.method, Method::native);
  EXPECT_EQ(faster.costs, (CostOrigin{"calibrated", "seconds", "p", "k", 1, ""}));
  EXPECT_EQ(decide_with(priced(1e9, seconds)).method, Method::one_plan);
  EXPECT_EQ(decide_with(priced(1e9, 1)).method, Method::exact) << "less than one product";
}

TEST(Calibration, ARecordHasTheBestOfAsManyProducts) {
  const CpuEngine engine({.threads = 1});
  const auto problem = generate({Family::wide_exponents, 6, 5, 40, 2, 3});
  auto rates = some_rates(1);
  rates.exact[0] = 1;
  const CalibratedCosts costs({"p", "k", "v", {8, 48}, {rates}}, 1, {});  // few plans cost the same
  const auto decision = decide({problem.a, problem.b}, Target::dgemm(), engine, {.residues = false, .costs = &costs});
  ASSERT_EQ(decision.method, Method::one_plan);
  std::vector<int> products;
  double last = 0;
  for (const auto& candidate : decision.candidates) {
    if (candidate.method != Method::one_plan) continue;
    products.push_back(candidate.plan->products());
    EXPECT_GE(candidate.cost, last);
    last = candidate.cost;
  }
  std::ranges::sort(products);
  EXPECT_EQ(std::ranges::adjacent_find(products), products.end());
  EXPECT_GT(products.size(), 3u);
}

}  // namespace
}  // namespace ozbound::calibration_test
