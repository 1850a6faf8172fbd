// SPDX-License-Identifier: BSD-3-Clause
// Runs the code shared by host and device on both, over the same cases, and compares every bit.
//
// Usage: shared_headers. Prints one line per section; exits with 0 if all bits agree, 1 if some do not, 77 without a device.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "shared_headers.hpp"

namespace ozbound::mirror {
namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

/// A copy of a vector in device memory.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) {
    const auto size = values.size() * sizeof(T);
    if (size == 0) return;
    check(cudaMalloc(&data_, size), "cudaMalloc");
    check(cudaMemcpy(data_, values.data(), size, cudaMemcpyHostToDevice), "copy to the device");
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* data() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
};

template <class Section>
__global__ void evaluate(const typename Section::Input* inputs, std::int64_t count, Tables tables, Words* results) {
  const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) results[i] = Section::evaluate(inputs[i], tables);
}

template <class Section>
std::vector<Words> evaluate_on_device(const Cases<typename Section::Input>& cases) {
  const OnDevice inputs(cases.inputs);
  const OnDevice layouts(cases.layouts);
  const OnDevice sums(cases.sums);
  Words untouched;
  for (auto& word : untouched.word) word = 0xa5a5a5a5a5a5a5a5;
  std::vector<Words> results(cases.inputs.size(), untouched);
  const OnDevice device_results(results);
  constexpr int threads = 128;
  const auto blocks = static_cast<unsigned>((cases.inputs.size() + threads - 1) / threads);
  evaluate<Section><<<blocks, threads>>>(inputs.data(), static_cast<std::int64_t>(cases.inputs.size()),
                                         Tables{layouts.data(), sums.data()}, device_results.data());
  check(cudaGetLastError(), "kernel launch");
  check(cudaDeviceSynchronize(), "kernel");
  check(cudaMemcpy(results.data(), device_results.data(), results.size() * sizeof(Words), cudaMemcpyDeviceToHost),
        "copy from the device");
  return results;
}

void print_words(const char* title, const std::uint64_t* words, std::size_t count) {
  std::printf("    %s", title);
  for (std::size_t i = 0; i < count; ++i) std::printf(" %016llx", static_cast<unsigned long long>(words[i]));
  std::printf("\n");
}

template <class Section>
void print_mismatch(std::size_t i, const typename Section::Input& input, const Words& host, const Words& device) {
  std::uint64_t words[(sizeof(input) + 7) / 8] = {};
  std::memcpy(words, &input, sizeof(input));
  std::printf("  case %zu\n", i);
  print_words("input ", words, sizeof(words) / sizeof(words[0]));
  print_words("host  ", host.word, most_words);
  print_words("device", device.word, most_words);
}

/// Prints one line and the first cases that differ. True if all bits agree, with each other and with the digest of the section.
template <class Section>
bool compare() {
  const auto cases = Section::cases();
  const auto host = evaluate_on_host<Section>(cases);
  const auto device = evaluate_on_device<Section>(cases);
  std::size_t differ = 0;
  std::set<std::string> distinct;
  for (std::size_t i = 0; i < host.size(); ++i) {
    distinct.emplace(reinterpret_cast<const char*>(host[i].word), sizeof(host[i].word));
    if (std::memcmp(&host[i], &device[i], sizeof(Words)) == 0) continue;
    if (++differ <= 3) print_mismatch<Section>(i, cases.inputs[i], host[i], device[i]);
  }
  const auto digest = digest_of(host);
  std::printf("%-24.*s %7zu cases, %7zu distinct results, %zu differ, digest %016llx%s\n",
              static_cast<int>(Section::name.size()), Section::name.data(), host.size(), distinct.size(), differ,
              static_cast<unsigned long long>(digest), digest == Section::digest ? "" : " is not the one on record");
  return differ == 0 && digest == Section::digest;
}

bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

}  // namespace
}  // namespace ozbound::mirror

int main() {
  using namespace ozbound::mirror;
  if (!has_device()) {
    std::printf("SKIPPED: no CUDA device\n");
    return 77;
  }
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::printf("%s, compute capability %d.%d\n", properties.name, properties.major, properties.minor);
  bool equal = true;
  for_each_section([&equal]<class Section>() { equal = compare<Section>() && equal; });
  std::printf(equal ? "host and device agree in every bit\n" : "host and device DIFFER\n");
  return equal ? 0 : 1;
}
