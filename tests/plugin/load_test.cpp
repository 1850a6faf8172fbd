// SPDX-License-Identifier: BSD-3-Clause
// Finding the plug-in, and the message if no plug-in can be used.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ozbound/core/gemm.hpp"
#include "ozbound/machine.hpp"
#include "plugin/counterfeit.hpp"
#include "support/forked.hpp"

namespace ozbound::test::load_test {
namespace {

using plugin::load;

std::string refusal(const std::string& file) {
  const auto loaded = load(file);
  EXPECT_EQ(loaded.plugin, nullptr);
  EXPECT_EQ(loaded.obstacle.find('\n'), std::string::npos) << loaded.obstacle;
  return loaded.obstacle;
}

std::string odd(const std::string& name) { return test_plugin("ozbound_odd_" + name); }

TEST(Load, RefusesAnotherVersionReleaseOrSize) {
  const auto version = [](unsigned v) {
    return " has version " + std::to_string(v) + " of the interface, where this library has version " +
           std::to_string(OZBOUND_PLUGIN_VERSION);
  };
  EXPECT_EQ(refusal(odd("other_version")), odd("other_version") + version(OZBOUND_PLUGIN_VERSION + 1));
  EXPECT_EQ(refusal(odd("other_size")), odd("other_size") + version(OZBOUND_PLUGIN_VERSION));
  EXPECT_EQ(refusal(odd("other_release")),
            odd("other_release") + " is of Ozbound 7.8.9, where this library is " OZBOUND_VERSION);
}

TEST(Load, RefusesWhatIsNoPlugin) {
  for (const auto* const name : {"other_magic", "no_table", "no_function"})
    EXPECT_EQ(refusal(odd(name)), odd(name) + " is no plug-in of Ozbound");
}

TEST(Load, SaysWhyNothingIsLoaded) {
  EXPECT_EQ(refusal("/nowhere/lib.so"),
            "/nowhere/lib.so cannot be loaded: cannot open shared object file: No such file or directory");
  EXPECT_EQ(refusal(odd("needs_absent")),
            odd("needs_absent") +
                " cannot be loaded: libozbound_absent.so: cannot open shared object file: No such "
                "file or directory");
  const auto text = testing::TempDir() + "/no_library.so";
  std::ofstream(text) << "I am a text, and longer than any header that an object file has: no. It takes sixty-four bytes.\n";
  EXPECT_EQ(refusal(text), text + " cannot be loaded: invalid ELF header");
}

TEST(Load, TellsWhatTheDevicesSay) { EXPECT_EQ(refusal(odd("no_device")), "there is no device here"); }

TEST(Load, LooksWhereItIsDocumented) {
  using List = std::vector<std::string>;
  EXPECT_EQ(plugin::search_order("none", "/opt/oz/bin/ozbound"), List());
  EXPECT_EQ(plugin::search_order("/a/b.so", "/opt/oz/bin/ozbound"), List{"/a/b.so"});
  EXPECT_EQ(plugin::search_order("b.so", "/opt/oz/bin/ozbound"), List{std::filesystem::current_path() / "b.so"});
  const auto order = plugin::search_order(nullptr, "/opt/oz/bin/ozbound");
  ASSERT_GE(order.size(), 4u);
  EXPECT_EQ(order[0], "/opt/oz/bin/libozbound_cuda.so");
  EXPECT_EQ(order[1], "/opt/oz/lib/ozbound/libozbound_cuda.so");
  EXPECT_EQ(order[2], "/opt/oz/lib/libozbound_cuda.so");
  EXPECT_EQ(order.back(), "libozbound_cuda.so");
  EXPECT_EQ(plugin::search_order(nullptr, ""), List{"libozbound_cuda.so"});
}

// Each of these tests ends a process that has asked for the plug-in, as a process can ask only once.

[[noreturn]] void tell(const char* variable) {
  if (variable == nullptr)
    unsetenv("OZBOUND_CUDA_PLUGIN");
  else
    setenv("OZBOUND_CUDA_PLUGIN", variable, 1);
  std::vector<std::thread> threads;
  std::vector<const plugin::Plugin*> found(4);
  for (auto& one : found) threads.emplace_back([&one] { one = plugin::cuda_plugin(); });
  for (auto& thread : threads) thread.join();
  const bool same = std::count(found.begin(), found.end(), found[0]) == 4;
  const auto text = found[0] != nullptr ? "found " + found[0]->device(plain_device).name : plugin::plugin_obstacle();
  std::fputs((text + (same ? "." : ", not by all")).c_str(), stderr);
  std::_Exit((found[0] == nullptr) == !plugin::plugin_obstacle().empty() ? 0 : 1);
}

class LoadDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LoadDeathTest, TakesTheVariablesWord) {
  EXPECT_EXIT(tell(test_plugin("ozbound_counterfeit").c_str()), testing::ExitedWithCode(0), "^found Counterfeit 0\\.$");
}

TEST_F(LoadDeathTest, IsSwitchedOff) {
  EXPECT_EXIT(tell("none"), testing::ExitedWithCode(0), "^OZBOUND_CUDA_PLUGIN=none switches CUDA off\\.$");
}

TEST_F(LoadDeathTest, DoesNotLookElsewhere) {
  EXPECT_EXIT(tell("/nowhere/lib.so"), testing::ExitedWithCode(0),
              "^/nowhere/lib\\.so cannot be loaded: cannot open shared object");
}

// A program without a plug-in beside it or in the other places searched reports what is missing.
TEST_F(LoadDeathTest, SaysWhatIsMissing) {
  const bool driver = dlopen("libcuda.so.1", RTLD_LAZY) != nullptr;
#ifdef OZBOUND_HAVE_CUDA_PLUGIN
  if (driver) GTEST_SKIP() << "this build has one, and there is a driver";
#endif
  const char* const missing =
      driver ? "^this installation has no CUDA plug-in: libozbound_cuda\\.so\\.$" : "^there is no CUDA driver here\\.$";
  for (const auto* const variable : {static_cast<const char*>(nullptr), ""})
    EXPECT_EXIT(tell(variable), testing::ExitedWithCode(0), missing);
}

// Children of fork(). Each of these tests runs in its own process, since it matters what was loaded before a fork.

std::vector<double> product_on(const Engine& engine) {
  Matrix<double> a(200, 50), b(50, 200), c(200, 200);
  for (Index t = 0; t < 50 * 200; ++t) a.data()[t] = 1.0 / static_cast<double>(t + 1), b.data()[t] = static_cast<double>(t);
  multiply_unproven({a, b, c}, SplitPlan::balanced(3, 3, 6), engine);
  return {c.data(), c.data() + 200 * 200};
}

[[noreturn]] void load_in_child() {
  setenv("OZBOUND_CUDA_PLUGIN", test_plugin("ozbound_counterfeit").c_str(), 1);
  const auto expected = product_on(CpuEngine({.threads = 4}));
  const bool holds = holds_in_child([&] {
    if (plugin::cuda_plugin() == nullptr) return false;
    const plugin::PluginBackend backend(*plugin::cuda_plugin(), plain_device, 4);
    return backend.engine().threads() == 1 && product_on(backend.engine()) == expected;
  });
  std::_Exit(holds ? 0 : 1);
}

// A child that loads the plug-in works without the parent's OpenMP workers, about which the plug-in cannot know.
TEST_F(LoadDeathTest, WorksInAChildOfForkThatLoadsIt) { EXPECT_EXIT(load_in_child(), testing::ExitedWithCode(0), ""); }

/// Prints the text that work throws as a line of stderr; false if it does not throw.
template <class Exception, class Work>
bool tells(const Work& work) {
  try {
    work();
  } catch (const Exception& error) {
    std::fprintf(stderr, "%s.\n", error.what());
    return true;
  }
  return false;
}

/// A parent gets a device and may compute on it. Its child asks for a device, uses the parent's, and continues without one.
[[noreturn]] void load_before_fork(bool compute) {
  setenv("OZBOUND_CUDA_PLUGIN", test_plugin("ozbound_counterfeit").c_str(), 1);
  auto machine = std::make_unique<Machine>(Machine::cuda(1));
  const auto& engine = machine->backends().front().engine();
  const auto& table = counterfeit().table();
  if (compute) product_on(engine);
  const bool refused = holds_in_child([&] {
    const bool by_machine = tells<std::invalid_argument>([] { (void)Machine::cuda(); });
    const bool by_engine = tells<plugin::DeviceError>([&] { (void)product_on(engine); });
    const auto alive = table.alive();
    machine.reset();  // its device objects belong to the parent
    const auto here = Machine::detect();
    return by_machine && by_engine && table.alive() == alive && plugin::cuda_plugin() == nullptr &&
           here.backends().size() == 1 && !product_on(here.backends().front().engine()).empty();
  });
  std::_Exit(refused && !product_on(engine).empty() ? 0 : 1);
}

TEST_F(LoadDeathTest, IsRefusedInAChildOfForkWhoseParentLoadedIt) {
  const char* const line = "CUDA cannot be used in a child of fork\\(\\): it was loaded before the fork\\.\n";
  for (const bool compute : {false, true})
    EXPECT_EXIT(load_before_fork(compute), testing::ExitedWithCode(0), std::string("^") + line + line + "$") << compute;
}

}  // namespace
}  // namespace ozbound::test::load_test
