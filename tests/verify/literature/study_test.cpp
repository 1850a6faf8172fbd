// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "ozbound/bounds/published/named_bound.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/measurement.hpp"

namespace ozbound::study_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr StudyOptions tiny{.scale = 0x1p-6, .seed = 3};

/// AB summed in the order of the loops, with `error` added to every entry.
struct SomeNative final : NativeGemm {
  double error = 0;

  explicit SomeNative(double e = 0) : error(e) {}
  [[nodiscard]] std::string name() const override { return "some"; }
  void dgemm(const RealProduct& call) const override {
    for (Index i = 0; i < call.m(); ++i)
      for (Index j = 0; j < call.n(); ++j) {
        double sum = 0;
        for (Index l = 0; l < call.k(); ++l) sum += double_from_bits(call.a.bits(i, l)) * double_from_bits(call.b.bits(l, j));
        call.c.set_bits(i, j, bits_of(sum + error));
      }
  }
};

/// The portable engine with every product doubled.
struct WrongEngine final : Engine {
  CpuEngine engine{{.threads = 1}};

  [[nodiscard]] SlicedMatrix slice(InputView operand, Side side, Slicing slicing) const override {
    return engine.slice(operand, side, slicing);
  }
  [[nodiscard]] bool takes(const IntegerOperand& operand) const override { return engine.takes(operand); }
  [[nodiscard]] const Matrices& matrices() const override { return engine.matrices(); }
  [[nodiscard]] SliceFacts measure(InputView operand, Side side, Slicing slicing) const override {
    return engine.measure(operand, side, slicing);
  }
  std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan, const Epilogue& epilogue,
                              OutputView c) const override {
    auto wrong = epilogue;
    wrong.alpha *= 2;
    return engine.multiply(a, b, plan, wrong, c);
  }
  [[nodiscard]] std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                             const SplitPlan& plan) const override {
    return engine.group_sums(a, b, plan);
  }
  [[nodiscard]] const CostModel& costs() const override { return engine.costs(); }
  [[nodiscard]] double workspace(const Plan& plan, Index m, Index n, Index k) const override {
    return engine.workspace(plan, m, n, k);
  }
  [[nodiscard]] int threads() const override { return 1; }
};

Study run(const std::string& name, const StudyOptions& options = tiny, const NativeGemm* native = nullptr) {
  const CpuEngine engine({.threads = 1});
  return find_study(name).run(options, {.engine = engine, .native = native});
}

/// The small study with native DGEMM, shared by several tests.
const Study& tiny_study(std::string_view name) {
  static std::map<std::string_view, Study> studies;
  const SomeNative native;
  const auto found = studies.find(name);
  return found != studies.end() ? found->second : studies[name] = run(std::string(name), tiny, &native);
}

std::vector<double> heights(const Study& study, const std::string& plot, const std::string& label) {
  std::vector<double> values;
  for (const auto& one : study.series)
    if (one.plot == plot && one.label == label)
      for (const auto& point : one.points) values.push_back(point.second);
  return values;
}

/// Theory agrees with Ootomo, Ozaki, Yokota, Fig. 4, for inner dimensions from 2^8 to 2^20.
TEST(Study, TheoryOfUnits) {
  const auto& study = tiny_study("ootomo-fig4");
  const auto bits = [&](const char* unit) { return heights(study, "Bits of a slice", unit); };
  EXPECT_THAT(bits("FP16-FP32"), ElementsAre(8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2));
  EXPECT_THAT(bits("INT4-INT32"), ElementsAre(3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3));
  EXPECT_THAT(bits("INT8-INT32"), ElementsAre(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 6, 5));
  EXPECT_THAT(bits("INT12-INT32"), ElementsAre(11, 11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5));
  EXPECT_THAT(heights(study, "Slices for a mantissa space of 70 bits", "FP16-FP32"),
              ElementsAre(9, 10, 10, 12, 12, 14, 14, 18, 18, 24, 24, 35, 35));
  EXPECT_THAT(heights(study, "Working memory", "INT12-INT32"),
              ElementsAre(10.5, 10.5, 10.5, 10.5, 12, 12, 13.5, 13.5, 15, 15, 18, 18, 21));
  EXPECT_THAT(heights(study, "Products of slices", "INT8-INT32"),
              ElementsAre(55, 55, 55, 55, 55, 55, 55, 55, 55, 55, 78, 78, 105));
  EXPECT_EQ(study.series.size(), 16U);
  EXPECT_EQ(study.series.front().points.front().first, 256);
}

/// The least number of bounds that a product of a study must have.
std::size_t least_claims(const std::string& study, const StudyMeasurement& one) {
  if (study == "mukunoki-fig3" || study == "mukunoki-fig8")
    return one.method == "DGEMM-TC, CR-mode" || one.method == "SGEMM" ? 1 : 2;
  if (study == "circuit") return 2;
  if (study == "m3xu") return one.method == "binary32" ? 1 : 2;
  if (study == "multiword") return one.slices == 0 ? 1 : 2;
  return one.plan.empty() ? 2 : 3;
}

/// In a small version of every study, each product has bounds, no bound is below the error, and plots show the judged values.
TEST(Study, NoBoundIsBelowAnError) {
  for (const auto& kind : all_studies()) {
    const auto& study = tiny_study(kind.name);
    EXPECT_TRUE(study.holds()) << explain_failures(study);
    EXPECT_EQ(explain_failures(study), "");
    EXPECT_EQ(study.measurements.empty(), kind.name == "ootomo-fig4");
    for (const auto& one : study.measurements) {
      EXPECT_GE(one.claims.size(), least_claims(kind.name, one)) << kind.name << " " << one.method;
      for (const auto& claim : one.claims) {
        if (!claim.rigorous) continue;
        EXPECT_LE(claim.worst_ratio, 1) << claim.name;
        EXPECT_GE(claim.average_relative, one.average_relative) << claim.name;
        EXPECT_GE(claim.max_relative, one.max_relative) << claim.name;
      }
    }
    EXPECT_FALSE(svg(study.series).empty());
  }
}

/// In a plot with bounds, exactly one curve is measured.
TEST(Study, BoundsAreDrawnOverWhatTheyBound) {
  for (const auto* name :
       {"ootomo-fig6", "ootomo-fig7", "uchino-fig1", "uchino-fig5", "multiword", "mukunoki-fig3", "mukunoki-fig8"}) {
    int plots = 0;
    for (const auto& plot : group_by_plot(tiny_study(name).series)) {
      if (std::none_of(plot.begin(), plot.end(), [](const auto& one) { return one.bound; })) continue;
      ++plots;
      EXPECT_EQ(plot.front().label, "measured");
      for (const auto& one : plot) {
        EXPECT_EQ(one.bound, one.label != "measured");
        ASSERT_EQ(one.points.size(), plot.front().points.size()) << one.label;
        for (std::size_t t = 0; t < one.points.size(); ++t) EXPECT_GE(one.points[t].second, plot.front().points[t].second);
      }
    }
    EXPECT_GE(plots, 3) << name;
  }
}

/// Every bound of the registry that covers the plan is drawn.
TEST(Study, DrawsEveryBoundThatCoversThePlan) {
  std::set<std::string> drawn;
  for (const auto* name : {"uchino-fig5", "kappa"})
    for (const auto& one : tiny_study(name).measurements)
      for (const auto& claim : one.claims) drawn.insert(claim.name);
  for (const auto& bound : all_bounds())
    EXPECT_TRUE(std::any_of(drawn.begin(), drawn.end(), [&](const auto& name) {
      return name == bound.name || name.starts_with(bound.name + " + ") || name.ends_with(" + " + bound.name);
    })) << bound.name;
}

/// Measurements agree with a second computation: the data from their recipe, the error by `measure`.
TEST(Study, MeasuresWhatItSays) {
  const auto& study = tiny_study("ootomo-fig6");
  const auto& one = study.measurements.front();
  EXPECT_EQ(one.method, "INT8x9");
  EXPECT_EQ(one.slices, 9);
  const auto problem = generate({.family = Family::wide_exponents, .m = 2, .n = 2, .k = one.k, .phi = one.phi, .seed = 3});
  EXPECT_EQ(one.data, generate_command(problem.recipe));
  Matrix<double> c(2, 2);
  multiply_unproven(RealProduct{problem.a, problem.b, c}, parse_plan(one.plan), CpuEngine());
  const ExactOracle oracle(problem);
  EXPECT_EQ(one.max_relative, measure(c, oracle).relative_upper);
  double sum = 0;
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 2; ++j) {
      const auto entry = oracle.evaluate(i, j, c(i, j));
      sum += to_double_upper(divide_upper(entry.error_upper, entry.value_lower));
    }
  EXPECT_EQ(one.average_relative, sum / 4);
}

/// Native DGEMM is judged by its own bounds, k u |A||B|, without the rounding that ends a product by slices.
TEST(Study, JudgesNativeDgemmByItsOwnBounds) {
  const SomeNative native;
  const auto& study = tiny_study("ootomo-fig6");
  const auto one = *std::find_if(study.measurements.begin(), study.measurements.end(),
                                 [](const auto& other) { return other.method == "DGEMM"; });
  const auto problem = generate({.family = Family::wide_exponents, .m = 2, .n = 2, .k = one.k, .phi = one.phi, .seed = 3});
  Matrix<double> c(2, 2);
  native.dgemm(RealProduct{problem.a, problem.b, c});
  ASSERT_EQ(one.claims.size(), 2U);
  EXPECT_EQ(one.claims[0].name, "jeannerod-rump");
  EXPECT_NEAR(one.claims[0].worst_ratio, measure(c, ExactOracle(problem)).dgemm_upper, 1e-12);
  EXPECT_FALSE(one.claims[1].rigorous);
}

TEST(Study, FindsABoundThatFails) {
  const SomeNative wrong_native(1);
  const auto of_native = run("ootomo-fig6", tiny, &wrong_native);
  EXPECT_FALSE(of_native.holds());
  EXPECT_THAT(explain_failures(of_native), HasSubstr("FAILS: jeannerod-rump of DGEMM (native)\n  data: ozbound generate"));
  EXPECT_THAT(explain_failures(of_native), testing::Not(HasSubstr("higham-mary")));  // an estimate claims nothing

  const WrongEngine engine;
  for (const auto* name : {"ootomo-fig7", "uchino-fig1", "kappa", "circuit"}) {
    const auto study = find_study(name).run(tiny, {.engine = engine});
    EXPECT_FALSE(study.holds()) << name;
    EXPECT_THAT(explain_failures(study), HasSubstr("  entry (")) << name;
    EXPECT_EQ(to_json(study)["holds"], false);
  }
}

TEST(Study, IsAFunctionOfItsOptions) {
  const auto once = to_json(run("ootomo-fig6")).dump();
  EXPECT_EQ(to_json(run("ootomo-fig6")).dump(), once);
  const auto other = run("ootomo-fig6", {.scale = 0x1p-6, .seed = 4});
  EXPECT_NE(other.measurements.front().max_relative, tiny_study("ootomo-fig6").measurements.front().max_relative);
}

TEST(Study, ScalesItsProblems) {
  std::set<Index> inner;
  for (const auto& one : run("ootomo-fig6", {.scale = 0x1p-4, .seed = 0}).measurements) inner.insert(one.k);
  EXPECT_THAT(inner, ElementsAre(128, 256, 512));
}

TEST(Study, TellsHowFarItIs) {
  std::vector<double> told;
  const CpuEngine engine({.threads = 1});
  find_study("kappa").run(tiny, {.engine = engine, .progress = [&told](double done) { told.push_back(done); }});
  EXPECT_GE(told.size(), 5U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_DOUBLE_EQ(told.back(), 1);
}

/// Where exponents of A and B are wide, kappa and its bound over the error grow, and Uchino's and Ozbound's bounds do not.
TEST(Study, KappaLosesWhereExponentsAreWide) {
  const auto study = run("kappa", {.scale = 0.25, .seed = 0});
  const auto of_kappa = heights(study, "9 slices", "κ (Abdelfattah), every pair");
  const auto of_ours = heights(study, "9 slices", "ours, every pair");
  ASSERT_EQ(of_kappa.size(), 17U);
  EXPECT_GT(of_kappa.back(), 1e3 * of_kappa.front());
  EXPECT_LT(of_ours.back(), 1e-2 * of_kappa.back());
}

/// Average errors of a curve of the multiword study, divided by those of binary32.
double over_binary32(const Study& study, const std::string& plot, const std::string& label) {
  const auto ours = heights(study, plot, label), binary32 = heights(study, plot, "binary32");
  return ours.back() / binary32.back();
}

/// Words of 16 bits miss the accuracy of binary32 only if the unit truncates and the elements are in (0, 1]: not if it rounds
/// to nearest, and not if signs differ.
TEST(Study, WordsMissBinary32WhereSumsAreTruncated) {
  const auto study = run("multiword", {.scale = 0.25, .seed = 0});
  EXPECT_TRUE(study.holds()) << explain_failures(study);
  for (const std::string words : {"binary16x2", "bfloat16x3"}) {
    EXPECT_GT(over_binary32(study, "(0, 1]", words + ", truncating"), 20) << words;
    EXPECT_LT(over_binary32(study, "(0, 1]", words + ", to nearest"), 1) << words;
    EXPECT_LT(over_binary32(study, "(-1, 1)", words + ", truncating"), 4) << words;
    EXPECT_LT(over_binary32(study, "(-1, 1)", words + ", to nearest"), 4) << words;
  }
  // With extra bits, sums instead of products are cut off, always towards zero.
  EXPECT_GT(over_binary32(study, "(-1, 1)", "binary16x2, truncating, 2 extra bits"), 5);
  EXPECT_EQ(study.measurements.back().k, 2048);
}

/// DP-mode is about as accurate as DGEMM on the paper's data, and CR-mode gives the oracle's rounding in every entry.
TEST(Study, Fp16SlicesAreAsAccurateAsDgemm) {
  const SomeNative native;
  const auto study = run("mukunoki-fig3", {.scale = 0.0625, .seed = 0}, &native);
  EXPECT_TRUE(study.holds()) << explain_failures(study);
  int correctly_rounded = 0;
  for (const auto& one : study.measurements) {
    if (one.method != "DGEMM-TC, CR-mode") continue;
    ++correctly_rounded;
    EXPECT_LE(one.max_relative, 0x1p-53) << one.data;
  }
  EXPECT_EQ(correctly_rounded, 4 * 3);
  for (const auto* phi : {"φ = 0.1", "φ = 1", "φ = 2"}) {
    const auto dgemm = heights(study, phi, "DGEMM"), slices = heights(study, phi, "DGEMM-TC, DP-mode");
    ASSERT_EQ(slices.size(), 3U);
    for (std::size_t t = 0; t < slices.size(); ++t) EXPECT_LT(slices[t], 30 * dgemm[t]) << phi << " " << t;
  }
}

/// Registers from 48 bits on (45 and 3 of headroom), with terms aligned by their leading bits, are not worse than binary32;
/// registers of 30 bits are.
TEST(Study, WideRegistersAreAsGoodAsBinary32) {
  const auto study = run("m3xu", {.scale = 0.25, .seed = 0});
  EXPECT_TRUE(study.holds()) << explain_failures(study);
  for (const auto* plot : {"φ = 0, inner dimension 64", "φ = 4, inner dimension 64"}) {
    const auto leading = heights(study, plot, "aligned by leading bits"), binary32 = heights(study, plot, "binary32");
    ASSERT_EQ(leading.size(), 13U);
    EXPECT_GT(leading[1], 2 * binary32[1]) << plot;
    for (std::size_t t = 8; t < leading.size(); ++t) EXPECT_LE(leading[t], binary32[t]) << plot;
    EXPECT_GE(heights(study, plot, "m3xu-(M1)").size(), 5U);
  }
}

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Series> drawn(const nlohmann::json& record) {
  std::vector<Series> all;
  for (const auto& one : record.at("series")) {
    all.push_back({.plot = one.at("plot"),
                   .label = one.at("label"),
                   .x_axis = one.at("x_axis"),
                   .y_axis = one.at("y_axis"),
                   .log_x = one.at("log_x"),
                   .log_y = one.at("log_y"),
                   .points = {},
                   .bound = one.at("bound")});
    for (const auto& point : one.at("points")) all.back().points.emplace_back(point.at(0), point.at(1));
  }
  return all;
}

/// docs/figures: every study has a figure whose file equals the drawing of its record by the current code.
TEST(Study, FiguresAreDrawnFromTheirRecords) {
  const std::filesystem::path figures = OZBOUND_DOCS "/figures";
  for (const auto& kind : all_studies()) {
    EXPECT_TRUE(std::filesystem::exists(figures / (kind.name + ".json"))) << kind.name;
    EXPECT_THAT(content(OZBOUND_DOCS "/../dev"), HasSubstr(" " + kind.name)) << "./dev study";
  }
  for (const auto& file : std::filesystem::directory_iterator(figures)) {
    if (file.path().extension() != ".json") continue;
    const auto record = nlohmann::json::parse(content(file.path()));
    EXPECT_TRUE(record.at("holds")) << file;
    EXPECT_TRUE(svg(drawn(record)) == content(std::filesystem::path(file).replace_extension(".svg")))
        << file << ": ./dev study";
  }
}

TEST(Study, RefusesWhatIsNone) {
  EXPECT_THROW(find_study("ootomo-fig5"), std::invalid_argument);
  for (const double scale : {0.0, 0x1p-7, 65.0, std::numeric_limits<double>::quiet_NaN()})
    for (const auto& kind : all_studies())
      EXPECT_THROW(run(kind.name, {.scale = scale, .seed = 0}), std::invalid_argument) << kind.name;
}

}  // namespace
}  // namespace ozbound::study_test
