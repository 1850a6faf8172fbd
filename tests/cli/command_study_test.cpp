// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/gemm_files.hpp"

namespace ozbound::cli::test::command_study_test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

TEST(CommandStudy, ForPeople) {
  const auto finished = ozbound({"study", "uchino-fig1", "--scale", "0.02"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, StartsWith("Uchino, Ozaki, Imamura: "));
  EXPECT_THAT(finished.out, ContainsRegex("\nozIMMU-8 +4 +4096 +[0-9.e-]+ +[0-9.e-]+ +a-posteriori .* hold\n"));
  EXPECT_THAT(finished.out, ContainsRegex("\n[0-9]+ proven bounds on [0-9]+ products: none is below an error\n$"));
}

TEST(CommandStudy, OfTheory) {
  const auto finished = ozbound({"study", "ootomo-fig4"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, HasSubstr("INT8-INT32   256:55 "));
}

TEST(CommandStudy, TheRecordAndTheFigure) {
  const TemporaryDirectory directory;
  const auto finished =
      ozbound({"study", "ootomo-fig7", "--scale", "0.02", "--seed", "5", "--json", "--svg", directory / "f.svg"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  const auto record = json::parse(finished.out);
  EXPECT_EQ(record["schema"], "ozbound-study-1");
  EXPECT_EQ(record["study"], "ootomo-fig7");
  EXPECT_EQ(record["scale"], 0.02);
  EXPECT_EQ(record["seed"], 5);
  EXPECT_EQ(record["holds"], true);
  EXPECT_EQ(record["measurements"][0]["method"], "INT8x9");
  EXPECT_LE(record["measurements"][0]["bounds"][0]["worst_ratio"], 1);
  EXPECT_EQ(directory.names(), std::set<std::string>{"f.svg"});
  const auto figure = read_bytes(directory / "f.svg");
  EXPECT_THAT(figure, StartsWith("<svg "));
  EXPECT_TRUE(figure.ends_with("</svg>\n"));
  EXPECT_THAT(figure, HasSubstr(">INT8x13</text>"));
}

/// A bound that fails is shown, with a library whose products have only entries 1.
TEST(CommandStudy, ABoundThatFailsIsShown) {
#ifndef OZBOUND_HAVE_OPENBLAS
  GTEST_SKIP() << "this build has no native DGEMM";
#endif
  const Preloaded wrong(OZBOUND_WRONG_BLAS);
  const GemmFiles files({.family = Family::uniform, .m = 2, .n = 2, .k = 2, .seed = 1});
  ASSERT_EQ(ozbound(files.gemm({"--engine", "native"})).code, 0);
  if (files.c()(0, 0) != 1) GTEST_SKIP() << "OpenBLAS is linked statically";
  const TemporaryDirectory directory;
  const auto finished = ozbound({"study", "ootomo-fig6", "--scale", "0.02", "--svg", directory / "f.svg"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, ContainsRegex("\nDGEMM .* FAIL\n"));
  EXPECT_THAT(finished.out,
              HasSubstr(" products: NOT ALL HOLD\nFAILS: jeannerod-rump of DGEMM (native)\n  data: ozbound generate"));
  EXPECT_EQ(directory.names(), std::set<std::string>{"f.svg"});  // a failing study is still drawn
}

TEST(CommandStudy, WrongArgumentsAreRefused) {
  const TemporaryDirectory directory;
  expect_refusal({"study", "ootomo-fig5"},
                 "there is no study 'ootomo-fig5'; the studies are ootomo-fig4, ootomo-fig6, ootomo-fig7, circuit, "
                 "uchino-fig1, uchino-fig5, kappa, multiword, m3xu, mukunoki-fig3, mukunoki-fig8");
  expect_refusal({"study", "kappa", "--scale", "0"}, "the scale must be from 1/64 to 64: 0");
  expect_usage_error({"study", "kappa", "--scale", "large"}, "--scale: 'large' is not a number");
  expect_usage_error({"study", "kappa", "--seed", "-1"}, "--seed: '-1' is not an integer from 0 to 2^64 - 1");
  expect_usage_error({"study", "kappa", "--svg", ""}, "--svg: a file name is missing");
  expect_refusal({"study", "kappa", "--svg", directory / "none/x.svg"},
                 std::string(directory / "none/x.svg") + ": cannot be created: No such file or directory");
  EXPECT_EQ(ozbound({"study"}).code, 2);
}

}  // namespace
}  // namespace ozbound::cli::test::command_study_test
