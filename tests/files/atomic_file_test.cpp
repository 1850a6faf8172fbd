// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/atomic_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <system_error>
#include <thread>

#include "files/support.hpp"

namespace ozbound::files::test::atomic_file_test {
namespace {

using Names = std::set<std::string>;

class AtomicFiles : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "c.npy";
};

TEST_F(AtomicFiles, AppearsAtCommit) {
  AtomicFile file(path_);
  file.write("one ");
  file.write(std::string(3 << 20, 'x'));
  file.flush();
  EXPECT_FALSE(std::filesystem::exists(path_));
  file.write(" two");
  file.commit();
  EXPECT_EQ(read_bytes(path_), "one " + std::string(3 << 20, 'x') + " two");
  EXPECT_EQ(directory_.names(), Names{"c.npy"});
}

TEST_F(AtomicFiles, LeavesNothingWithoutCommit) {
  write_bytes(path_, "old");
  {
    AtomicFile file(path_);
    file.write("new");
    file.flush();
    EXPECT_EQ(directory_.names().size(), 2U) << "the temporary file is in the same directory";
  }
  EXPECT_EQ(read_bytes(path_), "old");
  EXPECT_EQ(directory_.names(), Names{"c.npy"});
}

TEST_F(AtomicFiles, NeedsADirectoryToWriteTo) {
  EXPECT_EQ(error_of<std::system_error>([&] { AtomicFile(directory_ / "missing" / "c.npy"); }),
            (directory_ / "missing" / "c.npy").string() + ": cannot be created: No such file or directory");
}

TEST_F(AtomicFiles, ReplacesOnlyRegularFiles) {
  EXPECT_EQ(error_of<std::invalid_argument>([&] { AtomicFile{directory_.path()}; }),
            directory_.path().string() + ": is a directory");
}

TEST_F(AtomicFiles, DevicesAreWrittenToAtCommit) {
  AtomicFile file("/dev/null");
  file.write("anything");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  AtomicFile full("/dev/full");
  full.write("anything");
  full.flush();
  EXPECT_EQ(error_of<std::system_error>([&] { full.commit(); }), "/dev/full: cannot be written: No space left on device");
}

TEST_F(AtomicFiles, PipesGetAllOrNothing) {
  const auto pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string text(3 << 20, 'x');
  for (const bool commits : {true, false}) {
    std::string came;
    std::thread reader([&] { came = read_bytes(pipe); });
    {
      AtomicFile file(pipe);
      file.write(text);
      if (commits) file.commit();
    }
    reader.join();
    EXPECT_TRUE(came == (commits ? text : "")) << came.size();
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(AtomicFiles, RespectsReadOnlyFiles) {
  write_bytes(path_, "old");
  std::filesystem::permissions(path_, std::filesystem::perms::owner_read);
  const Unprivileged unprivileged;
  EXPECT_EQ(error_of<std::system_error>([&] { AtomicFile{path_}; }), path_.string() + ": cannot be written: Permission denied");
}

TEST_F(AtomicFiles, KeepsPermissionsAndLinks) {
  write_bytes(path_, "old");
  const auto mode =
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_write | std::filesystem::perms::group_read;
  std::filesystem::permissions(path_, mode);
  std::filesystem::create_symlink("c.npy", directory_ / "link.npy");
  AtomicFile file(directory_ / "link.npy");
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "link.npy"));
  EXPECT_EQ(read_bytes(path_), "new");
  EXPECT_EQ(std::filesystem::status(path_).permissions(), mode);
}

TEST_F(AtomicFiles, MakesWhereLinksLeadTo) {
  std::filesystem::create_directory(directory_ / "there");
  std::filesystem::create_symlink("there/second.npy", directory_ / "first.npy");
  std::filesystem::create_symlink("made.npy", directory_ / "there" / "second.npy");
  AtomicFile file(directory_ / "first.npy");
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "first.npy"));
  EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "there" / "second.npy"));
  EXPECT_EQ(read_bytes(directory_ / "there" / "made.npy"), "new");
  std::filesystem::create_symlink("circle.npy", directory_ / "circle.npy");
  EXPECT_THAT([&] { AtomicFile file_of_circle(directory_ / "circle.npy"); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("is a link that leads back to itself")));
}

TEST_F(AtomicFiles, NewFilesHaveThePermissionsThatOthersGet) {
  AtomicFile file(path_);
  file.commit();
  write_bytes(directory_ / "other", "");
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::status(directory_ / "other").permissions());
}

/// While an object lives, files of this process cannot grow beyond `bytes`, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(AtomicFiles, AFullDiskLeavesTheOldFile) {
  write_bytes(path_, "old");
  const auto wrong = error_of<std::system_error>([&] {
    const FileSizeLimit limit(10000);
    write_matrix(path_, Matrix<double>(100, 100).view());
  });
  EXPECT_EQ(wrong, path_.string() + ": cannot be written: File too large");
  EXPECT_EQ(read_bytes(path_), "old");
  EXPECT_EQ(directory_.names(), Names{"c.npy"});
}

using AtomicFilesDeathTest = AtomicFiles;

[[noreturn]] void write_two_files_and_raise(int signal, const TemporaryDirectory& directory) {
  remove_temporaries_on_signals();
  AtomicFile first(directory / "a.npy");
  AtomicFile second(directory / "b.npy");
  first.flush();
  raise(signal);
  std::_Exit(0);
}

TEST_F(AtomicFilesDeathTest, SignalsRemoveTemporaries) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    EXPECT_EXIT(write_two_files_and_raise(signal, directory_), testing::KilledBySignal(signal), "");
  EXPECT_EQ(directory_.names(), Names());
}

[[noreturn]] void commit_in_spite_of_a_hangup(const std::filesystem::path& path) {
  std::signal(SIGHUP, SIG_IGN);
  remove_temporaries_on_signals();
  AtomicFile file(path);
  raise(SIGHUP);
  file.commit();
  std::_Exit(0);
}

TEST_F(AtomicFilesDeathTest, IgnoredSignalsStayIgnored) {
  EXPECT_EXIT(commit_in_spite_of_a_hangup(path_), testing::ExitedWithCode(0), "");
  EXPECT_EQ(directory_.names(), Names{"c.npy"});
}

TEST(SameFile, IsSeenByWhateverName) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(same_file("absent", "./absent"));
  EXPECT_TRUE(same_file("absent", std::filesystem::current_path() / "absent"));
  EXPECT_TRUE(same_file(directory / "x", directory / "y/../x"));
  EXPECT_FALSE(same_file("absent", "other"));
  EXPECT_FALSE(same_file("", ""));
  EXPECT_FALSE(same_file("absent", directory / "absent"));
  EXPECT_TRUE(same_file("-", "-"));
  EXPECT_FALSE(same_file("-", "./-"));
  EXPECT_FALSE(same_file("/dev/null", "/dev/null")) << "nothing is written over";
  std::ofstream(directory / "x") << "there";
  std::filesystem::create_symlink(directory / "x", directory / "link");
  EXPECT_TRUE(same_file(directory / "x", directory / "link"));
}

}  // namespace
}  // namespace ozbound::files::test::atomic_file_test
