// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/gemm_files.hpp"
#include "cuda.hpp"

// The choice by --engine on the test machine, with or without a CUDA device.

namespace ozbound::cli::test::engine_test {
namespace {

using testing::HasSubstr;

GemmFiles wide() { return GemmFiles({.family = Family::wide_exponents, .m = 12, .n = 9, .k = 20, .phi = 1, .seed = 5}); }

bool has_device() { return cuda_obstacle().empty(); }

TEST(Engine, InfoListsTheDevices) {
  const auto devices = json::parse(ozbound({"info", "--json"}).out)["devices"];
  EXPECT_EQ(devices, json(cuda_devices()));
  EXPECT_EQ(devices.empty(), !has_device());
  EXPECT_THAT(ozbound({"info"}).out,
              HasSubstr(has_device() ? devices[0]["name"].get<std::string>() : "none: " + cuda_obstacle()));
}

TEST(Engine, CudaWithoutADeviceIsRefusedByEveryCommand) {
  if (has_device()) GTEST_SKIP() << "there is a CUDA device";
  const auto wrong = "--engine: " + cuda_obstacle();
  const auto files = wide();
  files.expect_refused(files.gemm({"--engine", "cuda"}), wrong);
  files.expect_refused(files.gemm({"--engine", "cuda", "--plan", "balanced:7x7:cut=8:exact"}), wrong);
  files.expect_refused(files.plan({"--engine", "cuda"}), wrong);
  for (const auto* command : {"check", "demo", "survey", "calibrate"}) expect_refusal({command, "--engine", "cuda"}, wrong);
}

TEST(Engine, RecordsSayWhichOneRan) {
  const auto files = wide();
  for (const auto& more : std::vector<std::vector<std::string>>{{"--engine", "cpu"},
                                                                {"--engine", "cpu", "--plan", "balanced:7x7:cut=8:exact"},
                                                                {"--engine", "cpu", "--target", "cr"}}) {
    const auto report = files.report(more);
    EXPECT_EQ(report["engine"], "cpu");
    EXPECT_EQ(report["decision"]["engine"], "cpu");
  }
  EXPECT_THAT(ozbound(files.plan({"--engine", "cpu"})).out, testing::ContainsRegex("\nengine +cpu\n"));
  EXPECT_THAT(ozbound(files.gemm({"--engine", "cpu"})).out, testing::ContainsRegex("\nengine +cpu\n"));
}

TEST(Engine, ADecisionForADeviceIsNotReplayedWithoutOne) {
  const auto files = wide();
  const auto saved = files.path("d.json");
  auto decision = files.report({"--engine", "cpu"})["decision"];
  const auto bytes = files.c_bytes();
  const auto replay = [&](const json& engine) {
    decision["engine"] = engine;
    write_bytes(saved, decision.dump());
    return files.gemm({"--decision", saved});
  };
  if (!has_device())
    files.expect_refused(replay("cuda: NVIDIA H200"),
                         saved + ": the decision is for cuda: NVIDIA H200, and " + cuda_obstacle());
  files.expect_refused(replay("abacus"), saved + ": decision: engine must be cpu or cuda: DEVICE: 'abacus'");
  files.expect_refused(replay(7), saved + ": decision: member 'engine' is missing or of the wrong type");
  EXPECT_EQ(ozbound(replay("cpu")).code, 0);
  EXPECT_EQ(files.c_bytes(), bytes);
  decision.erase("engine");  // as in records before engines existed
  write_bytes(saved, decision.dump());
  EXPECT_EQ(files.product({"--decision", saved}), bytes);
}

/// The automatic choice uses only engines of this machine: one calibration makes this CPU extremely slow, one is of a device
/// that is absent.
TEST(Engine, AutomaticChoosesAmongWhatIsHere) {
  const TemporaryDirectory cache;
  setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  auto here = this_machine(CpuEngine(), ::ozbound::native_gemm());
  here.rates = {{1, {100, 0, 0, 1e-12, 0, 0, 0}, {1000, 0, 0, 0}, {{500, 0, 0, 0, 0}}}};
  auto device = here;
  device.engine = "cuda", device.processor = "no such device", device.kernel = "automatic";
  device.rates = {{1, {0, 0, 0, 1e-20, 0, 0, 0}, {1e-20, 0, 0, 0}, {{1e-20, 0, 0, 0, 0}}}};
  std::filesystem::create_directory(cache / "ozbound");
  write_bytes(cache / "ozbound/calibration.json", to_json(std::vector{device, here}).dump());
  const auto decision = wide().report({})["decision"];
  counted_products.use();
  if (has_device()) GTEST_SKIP() << "there is a CUDA device, which may be chosen";
  EXPECT_EQ(decision["engine"], "cpu");
  EXPECT_EQ(decision["costs"]["model"], "calibrated");
  EXPECT_EQ(decision["costs"]["processor"], here.processor);
}

}  // namespace
}  // namespace ozbound::cli::test::engine_test
