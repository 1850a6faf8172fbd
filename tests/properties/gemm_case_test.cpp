// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/gemm_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/verify/property.hpp"
#include "properties/regressions.hpp"
#include "support/temporary_directory.hpp"

namespace ozbound::gemm_case_test {
namespace {

using nlohmann::json;
using test::TemporaryDirectory;
using test::write_bytes;

TEST(GemmCase, IsLosslessInJson) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    StoredCase stored{
        {"sign", "transposition"}, "why \"not\"", sample_case({.specials = true, .targets = seed % 2 == 0}, seed)};
    stored.gemm_case.inner_repeat = 1 + static_cast<Index>(seed);
    stored.gemm_case.alpha = double_from_bits(0xfff0000000000000 | seed);
    const auto read = case_from_json(json::parse(to_text(stored)));
    ASSERT_TRUE(read.gemm_case == stored.gemm_case) << seed;
    EXPECT_EQ(read.properties, stored.properties);
    EXPECT_EQ(read.note, stored.note);
  }
}

TEST(GemmCase, RepeatsItsInnerIndex) {
  GemmCase one;
  one.a.values = Matrix<double>(1, 2), one.b.values = Matrix<double>(2, 1), one.c0.values = Matrix<double>(1, 1);
  one.a.values(0, 0) = 1, one.a.values(0, 1) = 2, one.b.values(1, 0) = 3;
  one.inner_repeat = 3;
  EXPECT_EQ(one.k(), 6);
  const auto a = one.full_a(), b = one.full_b();
  for (Index l = 0; l < 6; ++l) {
    EXPECT_EQ(a(0, l), l % 2 + 1);
    EXPECT_EQ(b(l, 0), l % 2 * 3);
  }
}

/// The complaint about a sampled case with one member changed.
std::string complaint(const std::function<void(json&)>& change) {
  auto object = json::parse(to_text({{}, "", sample_case({.largest = 2, .targets = true}, 3)}));
  change(object);
  try {
    (void)case_from_json(object);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "taken";
}

TEST(GemmCase, ComplaintsNameTheMember) {
  using testing::StartsWith;
  EXPECT_EQ(complaint([](json&) {}), "taken");
  for (const std::string member :
       {"schema", "properties", "note", "plan", "alpha", "beta", "inner_repeat", "a", "b", "c0", "c", "working", "seed"}) {
    EXPECT_EQ(complaint([&](json& o) { o.erase(member); }), member + ": is missing");
    EXPECT_THAT(complaint([&](json& o) { o[member] = nullptr; }), StartsWith(member)) << member;
  }
  for (const std::string member : {"type", "order", "padding", "rows", "columns", "elements"}) {
    EXPECT_EQ(complaint([&](json& o) { o["a"].erase(member); }), "a." + member + ": is missing");
    EXPECT_THAT(complaint([&](json& o) { o["b"][member] = -1; }), StartsWith("b." + member));
  }
  for (const std::string member : {"threads", "inner_block", "row_tile", "column_tile"}) {
    EXPECT_EQ(complaint([&](json& o) { o["working"].erase(member); }), "working." + member + ": is missing");
    EXPECT_THAT(complaint([&](json& o) { o["working"][member] = -1; }), StartsWith("working." + member));
    EXPECT_THAT(complaint([&](json& o) { o["working"][member] = 1.5; }), StartsWith("working." + member));
  }
  EXPECT_EQ(complaint([](json& o) { o["colour"] = 1; }), "colour: is unknown");
  EXPECT_EQ(complaint([](json& o) { o["c"]["colour"] = 1; }), "c.colour: is unknown");
  EXPECT_THAT(complaint([](json& o) { o["schema"] = "ozbound-case-2"; }), StartsWith("schema: "));
  EXPECT_THAT(complaint([](json& o) { o["properties"] = {1}; }), StartsWith("properties: 1"));
  EXPECT_THAT(complaint([](json& o) { o["plan"] = "balanced:7x7"; }), StartsWith("plan: "));
  EXPECT_THAT(complaint([](json& o) { o["target"] = "good"; }), StartsWith("target: "));
  EXPECT_THAT(complaint([](json& o) { o["c"]["type"] = "f16"; }), StartsWith("c.type: 'f16'"));
  EXPECT_THAT(complaint([](json& o) { o["c"]["order"] = "any"; }), StartsWith("c.order: 'any'"));
  EXPECT_THAT(complaint([](json& o) { o["seed"] = -1; }), StartsWith("seed: -1"));
  EXPECT_THAT(complaint([](json& o) { o["inner_repeat"] = 0; }), StartsWith("inner_repeat: 0"));
  EXPECT_THAT(complaint([](json& o) {
                o["inner_repeat"] = 1 << 28;
                o["a"]["columns"] = 1 << 13;
              }),
              StartsWith("a.elements"));
  EXPECT_THAT(complaint([](json& o) { o["a"]["elements"].push_back(json::array()); }), StartsWith("a.elements: "));
  EXPECT_THAT(complaint([](json& o) { o["a"]["elements"][0].push_back("0x1p+0"); }), StartsWith("a.elements[0]: "));
  EXPECT_THAT(complaint([](json& o) { o["a"]["elements"][0][0] = 1; }), StartsWith("a.elements[0][0]: 1 "));
}

TEST(GemmCase, NumbersAreHexadecimal) {
  for (const char* text : {"", "1.5", "0x", "0x-1p0", "--0x1p0", "0x1p0 ", "0xinf", "0x1p99999", "NAN", "nan:0x1",
                           "nan:", "nan:0x7ff0000000000000"})
    EXPECT_THAT(complaint([&](json& o) { o["alpha"] = text; }), testing::StartsWith("alpha: ")) << text;
  for (const char* text :
       {"0x1p+0", "-0x1.8p-3", "inf", "-inf", "nan", "nan:0xfff8000000000001", "-0x0p+0", "0x0.0000000000001p-1022"})
    EXPECT_EQ(complaint([&](json& o) { o["alpha"] = text; }), "taken") << text;
}

TEST(GemmCase, WhatDoesNotFitIsRefused) {
  const auto refused = [](const std::function<void(GemmCase&)>& change, const std::string& what) {
    auto one = sample_case({.largest = 3, .floats = false}, 8);
    ASSERT_NO_THROW(one.validate());
    change(one);
    EXPECT_THAT([&] { one.validate(); }, testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(what))) << what;
  };
  refused([](GemmCase& one) { one.b.values = Matrix<double>(one.k() + 1, one.n()); }, "b");
  refused([](GemmCase& one) { one.c0.values = Matrix<double>(one.m() + 1, one.n()); }, "c0");
  refused([](GemmCase& one) { one.a.values(0, 0) = 0x1.0000001p0, one.a.storage.single = true; }, "a.elements");
  refused([](GemmCase& one) { one.c.padding = -1; }, "c.padding");
  refused([](GemmCase& one) { one.plan = SplitPlan::balanced(2, 2, 1); }, "cut");
  refused([](GemmCase& one) { one.plan = ResiduePlan{1, 10, 10}; }, "moduli");
  refused([](GemmCase& one) { one.target = Target{Target::Kind::componentwise, -1}; }, "");
  refused([](GemmCase& one) { one.working.row_tile = -1; }, "row_tile");
  refused([](GemmCase& one) { one.inner_repeat = std::numeric_limits<Index>::max(); }, "inner_repeat");
  refused([](GemmCase& one) { one.c.padding = 1 << 28; }, "c: has more than 2^28 elements");
  refused([](GemmCase& one) { one.a.storage = {false, true, 1 << 10}, one.inner_repeat = 1 << 18; }, "a: has more than 2^28");
}

TEST(GemmCase, FilesAreNamedInComplaints) {
  const TemporaryDirectory directory;
  const auto file = directory / "case.json";
  const auto complains = [&](const std::string& what) {
    EXPECT_THAT([&] { (void)read_case(file); }, testing::ThrowsMessage<std::invalid_argument>(file.string() + ": " + what));
  };
  complains("cannot be read");
  write_bytes(file, "{");
  complains("line 1: this is not JSON");
  write_bytes(file, "[]");
  complains("case: is no object");
  write_bytes(file, "{}");
  complains("schema: is missing");
  write_bytes(file, "{\n\"a\": {\"rows\": 1,\n\"rows\": 2}}");
  complains("'rows' is there twice");
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  complains("is a directory");
}

/// Matrices of any shape are read if their total size fits.
TEST(GemmCase, LongMatricesAreRead) {
  const TemporaryDirectory directory;
  GemmCase one;
  one.a.values = Matrix<double>(1, 20000), one.b.values = Matrix<double>(20000, 1), one.c0.values = Matrix<double>(1, 1);
  EXPECT_TRUE(read_case(store_case({{}, "", one}, directory.path())).gemm_case == one);
}

TEST(GemmCase, FoldersToStoreInAreTriedWithoutMakingThem) {
  const TemporaryDirectory directory;
  const auto refused = [](const std::filesystem::path& folder, const std::string& why) {
    EXPECT_THAT([&] { require_storable(folder); },
                testing::ThrowsMessage<std::invalid_argument>(testing::StartsWith(folder.string() + ": " + why)));
  };
  write_bytes(directory / "file", "");
  std::filesystem::create_symlink("nowhere", directory / "link");
  refused(directory / "file", "is no directory");
  refused(directory / "file" / "below", "is no directory");
  refused(directory / "link", "is no directory");
  EXPECT_NO_THROW(require_storable(directory.path()));
  EXPECT_NO_THROW(require_storable(directory / "new" / "and" / "deeper"));
  EXPECT_NO_THROW(require_storable("none-here"));
  EXPECT_EQ(directory.names(), (std::set<std::string>{"file", "link"}));

  std::filesystem::create_directory(directory / "read-only");
  std::filesystem::permissions(directory / "read-only", std::filesystem::perms::owner_read);
  if (::geteuid() == 0) {  // root may write there anyway
    EXPECT_NO_THROW(require_storable(directory / "read-only"));
  } else {
    refused(directory / "read-only", "cannot be written");
    refused(directory / "read-only" / "new", "cannot be written");
  }
}

TEST(GemmCase, FilesAreNamedByPropertyAndContent) {
  const TemporaryDirectory directory;
  const StoredCase one{{"sign"}, "", sample_case({}, 1)}, other{{"sign"}, "", sample_case({}, 2)};
  const auto file = store_case(one, directory.path());
  EXPECT_EQ(store_case(one, directory.path()), file);
  EXPECT_NE(store_case(other, directory.path()), file);
  EXPECT_EQ(directory.names().size(), 2u);
  EXPECT_EQ(case_files(directory.path()).size(), 2u);
  EXPECT_TRUE(case_files(directory / "none").empty());
}

/// The case files that come with Ozbound can be read and are small.
TEST(GemmCase, RegressionsAreCases) {
  const auto files = case_files(test::regressions());
  EXPECT_GE(files.size(), 30u);
  for (const auto& file : files) {
    const auto stored = read_case(file);
    EXPECT_FALSE(stored.note.empty()) << file;
    EXPECT_LT(std::filesystem::file_size(file), 4096u) << file;
    for (const auto& property : stored.properties) EXPECT_NO_THROW(find_property(property)) << file;
  }
}

}  // namespace
}  // namespace ozbound::gemm_case_test
