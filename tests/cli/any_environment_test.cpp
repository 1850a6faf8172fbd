// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "cli/gemm_files.hpp"

#include "decision_arguments.hpp"
#include "judged.hpp"
#include "ozbound/bounds/json_text.hpp"
#include "ozbound/files/claims.hpp"
#include "ozbound/files/json_file.hpp"
#include "ozbound/files/text.hpp"
#include "report.hpp"
#include "support/any_environment.hpp"

// The command runs, and files are read and written, identically in every floating-point environment.

namespace ozbound::cli::test::any_environment_test {
namespace {

using ozbound::test::expect_the_same;

const std::vector<double> doubles{0x1p-1074, -0x1.8p-1030, 0.1, -1.0 / 3, 0x1.fffffffffffffp1023, 0};
const std::vector<float> floats{0x1p-149f, -0x1.8p-130f, 0.1f, -1.0f / 3, 0x1.fffffep127f, 0};

TEST(AnyEnvironment, MatricesAreWrittenAndReadTheSame) {
  const TemporaryDirectory directory;
  const auto wide = matrix_of<double>(2, 3, doubles);
  const auto narrow = matrix_of<float>(2, 3, floats);
  const auto complex = matrix_of<std::complex<float>>(1, 1, {{0x1p-149f, -0x1p-149f}});
  for (const char* extension : {".npy", ".mtx"}) {
    const auto path = [&](const char* name) { return directory / (name + std::string(extension)); };
    expect_the_same(extension, [&] {
      files::write_matrix(path("wide"), wide.view());
      files::write_matrix(path("narrow"), narrow.view());
      files::write_matrix(path("complex"), complex.view());
      return read_bytes(path("wide")) + read_bytes(path("narrow")) + read_bytes(path("complex"));
    });
    expect_the_same(extension, [&] {
      auto all = all_bits(files::read_matrix(path("wide")).to_double().view());
      for (const auto bits_of_float : all_bits(files::read_matrix(path("narrow")).to_double().view()))
        all.push_back(bits_of_float);
      const auto as_complex = std::move(files::read_matrix(path("narrow"))).to_complex();
      if (const auto* values = std::get_if<Matrix<std::complex<float>>>(&as_complex.values))
        all.push_back(bits((*values)(0, 0).real()));
      return all;
    });
    EXPECT_EQ(all_bits(files::read_matrix(path("wide")).to_double().view()), all_bits(wide.view()));
  }
}

/// Decimal numbers between two doubles, and the zeros that a skew matrix mirrors (they stay +0), are read the same.
TEST(AnyEnvironment, TextIsReadTheSame) {
  const TemporaryDirectory directory;
  const std::string file = directory / "x.mtx";
  for (const char* text : {"%%MatrixMarket matrix array real general\n3 1\n0.1\n3e-320\n-123456789.123456789e-300\n",
                           "%%MatrixMarket matrix array real skew-symmetric\n2 2\n0\n",
                           "%%MatrixMarket matrix array integer general\n1 1\n9007199254740993\n",
                           "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 0.7 4.94e-324\n"}) {
    write_bytes(file, text);
    expect_the_same(text, [&] {
      try {
        const auto read = std::move(files::read_matrix(file)).to_complex();
        return all_bits(std::get<Matrix<std::complex<double>>>(read.values).view());
      } catch (const files::InputError&) {
        return std::vector<std::pair<std::uint64_t, std::uint64_t>>{};
      }
    });
  }
  for (const char* text : {"0.1", "1e-310", "0x1p-1074", "-3.0000000000000001e-320"})
    expect_the_same(text, [&] { return bits(files::parse_real(text, "--alpha")); });
  expect_the_same("complex", [] { return bits(files::parse_complex("0.1,1e-320", "--alpha")); });
}

TEST(AnyEnvironment, JsonIsTheSame) {
  const TemporaryDirectory directory;
  const std::string file = directory / "x.json";
  const nlohmann::ordered_json object{{"least", 0x1p-1074}, {"tenth", 0.1}, {"largest", 0x1.fffffffffffffp1023}};
  expect_the_same("written", [&] {
    write_json(std::filesystem::path(file), object);
    return read_bytes(file);
  });
  write_bytes(file, R"({"x": 3e-320, "y": 0.1, "z": 123456789.123456789e-300})");
  expect_the_same("read", [&] { return json_text(files::read_json(files::InputFile(file))); });
  expect_the_same("texts", [] {
    return files::format_upper(0.1) + files::format_upper(0x1p-1074) + files::format_upper(1.0005e-9) +
           files::complex_text({1, 0x1p-1074}) +
           json_text(nlohmann::json(json_number(std::complex<double>(0x1p-1074, 0x1p-1074))));
  });
}

/// Subnormal binary32 elements and a subnormal beta are judged unchanged.
TEST(AnyEnvironment, OperandsAreJudgedAsTheyAre) {
  const TemporaryDirectory directory;
  files::OperandArguments arguments;
  arguments.a = directory / "a.npy", arguments.b = directory / "b.npy", arguments.c0 = directory / "c0.npy";
  arguments.beta = 0x1p-1074;
  files::write_matrix(std::filesystem::path(arguments.a), matrix_of<float>(2, 3, floats).view());
  files::write_matrix(std::filesystem::path(arguments.b), matrix_of<float>(3, 2, floats).view());
  files::write_matrix(std::filesystem::path(arguments.c0), matrix_of<double>(2, 2, {1, 2, 3, 4}).view());
  expect_the_same("operands", [&] {
    const files::OperandFiles files(arguments);
    const JudgedOperands judged(files);
    const auto operands = judged.operands();
    auto all = all_bits(operands.a);
    for (const auto& more : {all_bits(operands.b), all_bits(operands.c0), {bits(operands.beta)}})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  });
}

/// The files and messages of a command, without seconds.
struct Told {
  int code;
  std::string out, err, file;
  json report;
  bool operator==(const Told&) const = default;
};

json without_seconds(json report) {
  report.erase("seconds");
  return report;
}

/// Replaces the seconds in a table for people: `decided in  0.001 s`.
std::string without_seconds(const std::string& text) { return std::regex_replace(text, std::regex("[0-9.]+ s\n"), "? s\n"); }

/// The command writes the same bytes whatever floating-point environment a library loaded before it leaves behind.
TEST(AnyEnvironment, TheCommandIsTheSame) {
  auto a = ozbound::generate({Family::wide_exponents, 6, 5, 8, 2, 5}).a,
       b = ozbound::generate({Family::uniform, 6, 5, 8, 0, 6}).b;
  a(0, 0) = 0x1p-1074;
  const GemmFiles files(a, b);
  Matrix<float> narrow(6, 8);
  std::fill_n(narrow.data(), 48, 0x1p-149f);
  const auto narrow_path = files.path("narrow.npy"), c0_path = files.path("C0.npy"), problem = files.path("p_a.npy");
  files::write_matrix(std::filesystem::path(narrow_path), std::as_const(narrow).view());
  Matrix<double> c0(6, 5);
  std::fill_n(c0.data(), 30, 0x1p1000);
  files::write_matrix(std::filesystem::path(c0_path), std::as_const(c0).view());
  const std::vector<std::string> scalars{"--alpha", "4.9406564584124654e-324", "--beta", "3e-320", "--c", c0_path};
  const auto with_scalars = [&](std::vector<std::string> all) {
    all.insert(all.end(), scalars.begin(), scalars.end());
    return all;
  };
  const auto told = [&] {
    std::vector<Told> all;
    const auto tell = [&](const std::vector<std::string>& arguments, const std::string& file, bool report) {
      std::filesystem::remove(file);
      auto finished = ozbound(arguments);
      EXPECT_EQ(finished.err, "");
      all.push_back({finished.code, report ? "" : without_seconds(finished.out), finished.err,
                     file.empty() ? "" : read_bytes(file),
                     report && finished.code == 0 ? without_seconds(json::parse(finished.out)) : json()});
    };
    for (const char* target : {"dgemm", "cr", "componentwise:3e-9"}) {
      const auto report = files.path("R.json");
      tell(with_scalars(files.gemm({"--target", target, "--threads", "1", "--verify", "exact", "--report", report, "--json"})),
           files.c_path(), true);
      all.back().report["written"] = without_seconds(json::parse(read_bytes(report)));
      tell(with_scalars({"verify", files.a_path(), files.b_path(), files.c_path(), "--certificate", report}), "", false);
      tell(with_scalars(files.plan({"--target", target, "--threads", "1", "--save", files.path("D.json")})),
           files.path("D.json"), false);
    }
    tell({"gemm", narrow_path, files.b_path(), "-o", files.c_path(), "--threads", "1", "--verify", "exact", "--json"},
         files.c_path(), true);
    tell({"verify", narrow_path, files.b_path(), files.c_path(), "--target", "cr"}, "", false);
    tell({"generate", "fem", "--m", "6", "--n", "5", "--k", "8", "--phi", "0.1", "--seed", "1", "-o", problem,
          files.path("p_b.npy")},
         problem, false);
    return all;
  };
  const auto expected = told();
  for (const auto& one : expected) EXPECT_EQ(one.code, 0) << one.out;
  std::vector<Told> disturbed;
  {
    const Preloaded library(OZBOUND_HOSTILE_LIBRARY);
    disturbed = told();
  }
  ASSERT_EQ(disturbed.size(), expected.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    EXPECT_EQ(disturbed[t].code, expected[t].code) << t;
    EXPECT_EQ(disturbed[t].out, expected[t].out) << t;
    EXPECT_EQ(disturbed[t].report.dump(1), expected[t].report.dump(1)) << t;
    EXPECT_TRUE(disturbed[t].file == expected[t].file) << t;
  }
}

}  // namespace
}  // namespace ozbound::cli::test::any_environment_test
