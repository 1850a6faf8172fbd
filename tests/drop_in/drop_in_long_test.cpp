// SPDX-License-Identifier: BSD-3-Clause
// HPL with MPI from hpcc. Its bits differ from run to run even without Ozbound, so its own check of the residual judges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "support/temporary_directory.hpp"

namespace ozbound::drop_in {
namespace drop_in_long_test {
namespace {

using ozbound::test::read_bytes;
using ozbound::test::TemporaryDirectory;
using ::testing::HasSubstr;

TEST(DropInLong, HplPassesInShadow) {
  if (!std::filesystem::exists("/usr/bin/hpcc")) GTEST_SKIP() << "hpcc is not installed";
  const TemporaryDirectory folder;
  const auto line =
      "cd " + folder.path().string() +
      " && sed -e '6s/.*/1000 Ns/' -e '11s/.*/1 Ps/' -e '12s/.*/2 Qs/' /usr/share/doc/hpcc/examples/_hpccinf.txt "
      ">hpccinf.txt && timeout 600 " OZBOUND_COMMAND
      " run --log x.%p.jsonl -- mpirun --allow-run-as-root --oversubscribe -np 2 hpcc >said 2>&1 && " OZBOUND_COMMAND
      " audit --json x.*.jsonl >audit.json";
  ASSERT_EQ(WEXITSTATUS(std::system(line.c_str())), 0) << read_bytes(folder / "said");
  const auto result = read_bytes(folder / "hpccoutf.txt");
  EXPECT_THAT(result, HasSubstr("...... PASSED"));
  EXPECT_THAT(result, ::testing::Not(HasSubstr("...... FAILED")));
  const auto audit = nlohmann::json::parse(read_bytes(folder / "audit.json"));
  EXPECT_EQ(audit.at("processes").size(), 2);
  for (const auto& way : audit.at("ways"))  // C - A B is native's at dgemm
    EXPECT_THAT(way.at("way").get<std::string>(), ::testing::AnyOf("native", "not examined", "overlap", "special"));
  EXPECT_LE(audit.at("worst_call").at("native_ratio").get<double>(), 1);
}

}  // namespace
}  // namespace drop_in_long_test
}  // namespace ozbound::drop_in
