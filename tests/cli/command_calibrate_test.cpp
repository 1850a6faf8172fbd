// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/gemm_files.hpp"

namespace ozbound::cli::test::command_calibrate_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

/// A private cache for every command that runs while an object lives.
class Cache {
 public:
  Cache() { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  ~Cache() { counted_products.use(); }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  [[nodiscard]] std::filesystem::path file() const { return folder_ / "ozbound/calibration.json"; }
  [[nodiscard]] const TemporaryDirectory& folder() const { return folder_; }

  /// Writes a calibration with the given seconds for every native DGEMM and one second for every product by the
  /// superaccumulator.
  void price_native(double seconds) const {
    auto here = this_machine(CpuEngine(), ::ozbound::native_gemm());
    here.rates = {{1, {1e-4, 0, 0, 1e-12, 0, 0, 0}, {1, 0, 0, 0}, {{seconds, 0, 0, 0, 0}}}};
    std::filesystem::create_directories(file().parent_path());
    write_bytes(file(), to_json(std::vector{here}).dump());
  }

 private:
  TemporaryDirectory folder_;
};

GemmFiles uniform() { return GemmFiles({.family = Family::uniform, .m = 12, .n = 9, .k = 20, .seed = 5}); }

TEST(CommandCalibrate, DecidesWhatIsChosen) {
  const Cache cache;
  const auto measured = ozbound({"calibrate", "--quick", "--threads", "1"});
  ASSERT_EQ(measured.code, 0) << measured.err;
  EXPECT_EQ(measured.err, "");
  EXPECT_THAT(measured.out, HasSubstr(cache.file().string()));
  EXPECT_THAT(measured.out, ContainsRegex("\nthreads +INT8 GOP/s"));
  const auto record = json::parse(read_bytes(cache.file()));
  EXPECT_EQ(record["schema"], "ozbound-calibration-3");
  EXPECT_TRUE(record["calibrations"][0]["rates"][0]["residues"].is_object());
  EXPECT_EQ(record["calibrations"][0]["rates"].size(), 1u);

  const auto files = uniform();
  const auto plan = [&files] { return json::parse(ozbound(files.plan({"--json", "--threads", "1"})).out)["decision"]; };
  const auto decision = plan();
  EXPECT_EQ(decision["costs"]["model"], "calibrated");
  EXPECT_EQ(decision["costs"]["unit"], "seconds");
  EXPECT_EQ(decision["costs"]["processor"], record["calibrations"][0]["processor"]);
  cache.price_native(1e-30);
  EXPECT_EQ(plan()["method"], "native");
  EXPECT_EQ(files.report({"--threads", "1"})["decision"], plan());
  cache.price_native(1e30);
  EXPECT_EQ(plan()["method"], "slices");
}

TEST(CommandCalibrate, SaysWithWhichBlasAnUnusedCalibrationWasMade) {
  if (::ozbound::native_gemm() == nullptr) GTEST_SKIP() << "without a BLAS";
  const Cache cache;
  cache.price_native(1);
  auto file = json::parse(read_bytes(cache.file()));
  file["calibrations"][0]["blas"] = "OpenBLAS 0.3.21 SkylakeX";
  write_bytes(cache.file(), file.dump());
  const auto decision = uniform().report({})["decision"];
  EXPECT_EQ(decision["costs"]["model"], "shipped");
  EXPECT_THAT(
      decision["costs"]["note"].get<std::string>(),
      StartsWith("calibration: measured with OpenBLAS 0.3.21 SkylakeX, and here is " + ::ozbound::native_gemm()->name()));
}

TEST(CommandCalibrate, MeasuresWithTheKernelsThatAreAskedFor) {
  if (::ozbound::native_gemm() == nullptr) GTEST_SKIP() << "without a BLAS";
  const Cache cache;
  const auto measured = ozbound({"calibrate", "--quick", "--threads", "1", "--openblas-core", "Prescott"});
  ASSERT_EQ(measured.code, 0) << measured.err;
  EXPECT_THAT(measured.out, ContainsRegex("\nfastest kernels +OpenBLAS.*times as fast as these\n"));
  const auto record = json::parse(read_bytes(cache.file()));
  EXPECT_THAT(record["calibrations"][0]["blas"].get<std::string>(), testing::AnyOf(HasSubstr("Prescott"), HasSubstr("Core2")));
}

TEST(CommandCalibrate, APlanIsReplayedWhateverTheCalibration) {
  const Cache cache;
  const auto files = uniform();
  const auto saved = files.path("decision.json");
  cache.price_native(1e30);
  ASSERT_EQ(ozbound(files.plan({"--save", saved})).code, 0);
  cache.price_native(1e-30);
  EXPECT_EQ(files.report({"--decision", saved})["decision"]["method"], "slices");
}

TEST(CommandCalibrate, ShowsWhatIsInForce) {
  const Cache cache;
  const auto shipped = ozbound({"calibrate", "--show"});
  EXPECT_EQ(shipped.code, 0);
  EXPECT_THAT(shipped.out, ContainsRegex("costs +shipped\n"));
  EXPECT_FALSE(std::filesystem::exists(cache.file()));
  std::filesystem::create_directory(cache.file().parent_path());
  write_bytes(cache.file(), "{");
  EXPECT_THAT(ozbound({"calibrate", "--show"}).out,
              ContainsRegex("costs +shipped\nbecause +calibration: the file is no JSON"));  // then more text
  const auto record = json::parse(ozbound({"calibrate", "--show", "--json", "--threads", "3"}).out);
  EXPECT_EQ(record["model"], "shipped");
  EXPECT_EQ(record["calibrations"][0]["rates"].size(), 1u);
}

TEST(CommandCalibrate, ACorruptFileFailsNoProduct) {
  const Cache cache;
  std::filesystem::create_directory(cache.file().parent_path());
  write_bytes(cache.file(), "[1, 2");
  const auto decision = uniform().report({})["decision"];
  EXPECT_EQ(decision["costs"]["model"], "shipped");
  EXPECT_THAT(decision["costs"]["note"].get<std::string>(), StartsWith("calibration: the file is no JSON"));
}

TEST(CommandCalibrate, WritesWholeFilesThatKeepOthers) {
  const TemporaryDirectory folder;
  const std::string path = folder / "c.json";
  auto other = json::parse(ozbound({"calibrate", "--show", "--json"}).out);
  other["calibrations"][0]["processor"] = "another";
  write_bytes(path, other.dump());
  std::vector<std::thread> writers;
  for (int t = 0; t < 3; ++t)
    writers.emplace_back([&path] { EXPECT_EQ(ozbound({"calibrate", "--quick", "--threads", "1", "-o", path}).code, 0); });
  std::atomic<bool> done = false;
  std::thread reader([&] {  // the file is never incomplete
    while (!done) EXPECT_FALSE(json::parse(read_bytes(path), nullptr, false).is_discarded());
  });
  for (auto& writer : writers) writer.join();
  done = true;
  reader.join();
  const auto record = json::parse(read_bytes(path));
  ASSERT_EQ(record["calibrations"].size(), 2u);
  EXPECT_EQ(record["calibrations"][0], other["calibrations"][0]);
  EXPECT_EQ(folder.names(), (std::set<std::string>{"c.json"}));
}

TEST(CommandCalibrate, WhatCannotBeWrittenIsSaidBeforeMeasuring) {
  const TemporaryDirectory folder;
  const std::string none = folder / "none/c.json";
  expect_refusal({"calibrate", "-o", none}, none + ": cannot be created: No such file or directory");
  expect_refusal({"calibrate", "-o", folder.path()}, folder.path().string() + ": is a directory");
  const Cache cache;
  write_bytes(cache.folder() / "ozbound", "in the way");
  expect_refusal({"calibrate"}, (cache.folder() / "ozbound").string() + ": cannot be created: Not a directory");
  expect_usage_error({"calibrate", "--show", "--quick"}, "--quick excludes --show");
  expect_usage_error({"calibrate", "--engine", "auto"}, "--engine: 'auto' is not one of cpu, cuda");
  expect_usage_error({"calibrate", "--threads", "0"}, "--threads: '0' is not between 1 and 1024");
}

TEST(CommandCalibrate, PlanMeasuresWhatCertifies) {
  const Cache cache;
  cache.price_native(1e-30);  // chosen; the methods it was preferred to are measured too
  const auto files = uniform();
  const auto record = json::parse(ozbound(files.plan({"--measure", "--json"})).out);
  std::vector<std::string> methods;
  for (const auto& one : record["measured"]) {
    methods.push_back(one["method"]);
    EXPECT_GT(one["seconds"], 0);
    EXPECT_GT(one["cost"], 0);
  }
  EXPECT_THAT(methods, testing::UnorderedElementsAre("slices", "native", "exact"));
  EXPECT_GT(record["seconds"]["measure"], 0);
  const auto shown = ozbound(files.plan({"--measure"}));
  EXPECT_THAT(shown.out, ContainsRegex("products +bound/target +predicted +certifies\n"));
  EXPECT_THAT(shown.out, ContainsRegex("products +bound/target +predicted +measured\n"));
  EXPECT_THAT(shown.out, ContainsRegex("\ncosts +calibrated, "));
  cache.price_native(11);
  for (const auto& one : json::parse(ozbound(files.plan({"--measure", "--json"})).out)["measured"])
    EXPECT_EQ(one["seconds"].is_null(), one["method"] == "native") << "too long to be tried";
}

}  // namespace
}  // namespace ozbound::cli::test::command_calibrate_test
