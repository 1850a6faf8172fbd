// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/matrix_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <complex>
#include <fstream>
#include <thread>

#include "files/support.hpp"

namespace ozbound::files::test::matrix_file_test {
namespace {

class MatrixFiles : public testing::Test {
 protected:
  void expect_error(const std::filesystem::path& path, const std::string& wrong) {
    EXPECT_EQ(error_of([&] { read_matrix(path); }), path.string() + ": " + wrong);
  }

  TemporaryDirectory directory_;
};

TEST_F(MatrixFiles, TheContentDecidesNotTheName) {
  write_bytes(directory_ / "a.npy", "%%MatrixMarket matrix array real general\n1 1\n3\n");
  EXPECT_EQ(std::get<Matrix<double>>(read_matrix(directory_ / "a.npy").values)(0, 0), 3);
  write_bytes(directory_ / "a", npy_file(npy_header("<f4", "False", "(1, 1)"), bytes_of<float>({4})));
  EXPECT_EQ(std::get<Matrix<float>>(read_matrix(directory_ / "a").values)(0, 0), 4);
}

TEST_F(MatrixFiles, OtherContentIsRefused) {
  write_bytes(directory_ / "empty", "");
  expect_error(directory_ / "empty", "the file is empty");
  write_bytes(directory_ / "text", "1 2 3\n4 5 6\n");
  expect_error(directory_ / "text", "neither a NumPy .npy nor a Matrix Market file: it begins with '1 2 3\\x0a4 5 6\\x0a'");
  write_bytes(directory_ / "short", "%%Mat");
  expect_error(directory_ / "short", "neither a NumPy .npy nor a Matrix Market file: it begins with '%%Mat'");
  write_bytes(directory_ / "long", "a text that is longer than a signature");
  expect_error(directory_ / "long", "neither a NumPy .npy nor a Matrix Market file: it begins with 'a text that is'");
  write_bytes(directory_ / "zip", "PK\x03\x04\x14");
  expect_error(directory_ / "zip", "a zip archive, as .npz files are: save the array that you mean as .npy, or unzip it");
  write_bytes(directory_ / "gz", "\x1f\x8b\x08");
  expect_error(directory_ / "gz", "compressed by gzip: gunzip it");
}

TEST_F(MatrixFiles, WhatIsNoFileIsRefused) {
  expect_error(directory_ / "missing.npy", "cannot be opened: No such file or directory");
  expect_error(directory_.path(), "is a directory");
  expect_error("/dev/null", "is neither a regular file nor a pipe");
}

/// Writes to a pipe in a separate thread.
class Writer {
 public:
  Writer(const std::filesystem::path& pipe, std::string bytes)
      : thread_([pipe, bytes = std::move(bytes)] { std::ofstream(pipe, std::ios::binary) << bytes; }) {}
  ~Writer() { thread_.join(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

 private:
  std::thread thread_;
};

TEST_F(MatrixFiles, PipesAreReadAsFilesAre) {
  const auto pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::vector<double> many(60000);
  for (std::size_t t = 0; t < many.size(); ++t) many[t] = static_cast<double>(t);
  for (const auto* order : {"False", "True"}) {
    const auto bytes = npy_file(npy_header("<f8", order, "(200, 300)"), bytes_of(many));
    write_bytes(directory_ / "file", bytes);
    const Writer writer(pipe, bytes);
    EXPECT_EQ(all_bits(std::get<Matrix<double>>(read_matrix(pipe).values).view()),
              all_bits(std::get<Matrix<double>>(read_matrix(directory_ / "file").values).view()));
  }
  const Writer writer(pipe, "%%MatrixMarket matrix array real general\n2 1\n3\n4\n");
  EXPECT_EQ(std::get<Matrix<double>>(read_matrix(pipe).values)(1, 0), 4);
}

TEST_F(MatrixFiles, PipesThatBringTooLittleAreRefused) {
  const auto pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto expect_pipe_error = [&](const std::string& bytes, const std::string& wrong) {
    const Writer writer(pipe, bytes);
    expect_error(pipe, wrong);
  };
  expect_pipe_error("", "the file is empty");
  expect_pipe_error("text", "neither a NumPy .npy nor a Matrix Market file: it begins with 'text'");
  expect_pipe_error(npy_file(npy_header("<f8", "False", "(1, 2)"), "12345678"),
                    "the file ends too soon: 1 x 2 elements take 16 bytes, and 8 follow the header");
}

TEST_F(MatrixFiles, UnreadableFilesAreRefused) {
  write_bytes(directory_ / "a.npy", "x");
  std::filesystem::permissions(directory_ / "a.npy", std::filesystem::perms::none);
  const Unprivileged unprivileged;
  expect_error(directory_ / "a.npy", "cannot be opened: Permission denied");
}

TEST_F(MatrixFiles, FloatsBecomeTheDoublesTheyEqual) {
  const auto floats = matrix_of<float>(1, 3, {0.1F, -0.0F, 1e-45F});
  const auto doubles = MatrixFile{floats}.to_double();
  EXPECT_EQ(all_bits(doubles.view()), (std::vector{bits(double{0.1F}), bits(-0.0), bits(0x1p-149)}));
  EXPECT_EQ(MatrixFile{matrix_of<double>(1, 1, {2})}.to_double()(0, 0), 2);
}

TEST_F(MatrixFiles, RealMatricesBecomeComplexOnes) {
  using Number = std::complex<double>;
  EXPECT_EQ(MatrixFile{matrix_of<double>(1, 1, {2})}.type(), "f8");
  EXPECT_EQ(MatrixFile{matrix_of<float>(1, 1, {2})}.type(), "f4");
  const auto doubles = MatrixFile{matrix_of<double>(1, 2, {-0.0, 2})}.to_complex();
  EXPECT_EQ(doubles.type(), "c16");
  EXPECT_EQ(all_bits(std::get<Matrix<Number>>(doubles.values).view()),
            all_bits(matrix_of<Number>(1, 2, {{-0.0, 0}, {2, 0}}).view()));
  const auto floats = MatrixFile{matrix_of<float>(2, 1, {0.1F, 2})}.to_complex();
  EXPECT_EQ(floats.type(), "c8");
  EXPECT_EQ(std::get<Matrix<std::complex<float>>>(floats.values)(0, 0), std::complex<float>(0.1F));
  EXPECT_EQ(std::get<Matrix<Number>>(MatrixFile{matrix_of<Number>(1, 1, {{1, 2}})}.to_complex().values)(0, 0), Number(1, 2));
}

TEST_F(MatrixFiles, TheExtensionDecidesTheOutput) {
  EXPECT_EQ(output_format("a/b.npy"), MatrixFormat::npy);
  EXPECT_EQ(output_format("b.x.mtx"), MatrixFormat::matrix_market);
  EXPECT_EQ(output_format("/dev/null"), MatrixFormat::npy);
  for (const auto* name : {"c", "c.npz", "c.NPY", ".npy", "npy", "c.npy/"})
    EXPECT_EQ(error_of<std::invalid_argument>([&] { write_matrix(directory_ / name, Matrix<double>(1, 1).view()); }),
              (directory_ / name).string() + ": a matrix is written to a file that ends in .npy or .mtx");
  EXPECT_EQ(directory_.names(), std::set<std::string>());
}

}  // namespace
}  // namespace ozbound::files::test::matrix_file_test
