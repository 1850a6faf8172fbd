#include "fused_bench.hpp"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>

#include "fast_slicing.hpp"
#include "fused.hpp"

namespace {

using namespace ozbound;

void must(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

__device__ std::uint64_t mixed(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// (U - 1/2) e^(N / 2).
__global__ void fill(double* x, std::int64_t count, std::uint64_t seed) {
  const auto uniform = [](std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; };
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const auto at = (seed << 40) + 3 * static_cast<std::uint64_t>(i);
    const double normal = sqrt(-2 * log(uniform(mixed(at)))) * cospi(2 * uniform(mixed(at + 1)));
    x[i] = (uniform(mixed(at + 2)) - 0.5) * exp(0.5 * normal);
  }
}

/// cublasDgemm of a library opened at run time.
class Dgemm {
 public:
  explicit Dgemm(const char* library) {
    void* const file = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (file == nullptr) throw std::runtime_error(dlerror());
    const auto create = reinterpret_cast<int (*)(void**)>(dlsym(file, "cublasCreate_v2"));
    set_stream_ = reinterpret_cast<decltype(set_stream_)>(dlsym(file, "cublasSetStream_v2"));
    dgemm_ = reinterpret_cast<decltype(dgemm_)>(dlsym(file, "cublasDgemm_v2"));
    if (create(&handle_) != 0) throw std::runtime_error("cublasCreate failed");
  }
  void operator()(const double* a, const double* b, double* c, int m, int n, int k, cudaStream_t stream) const {
    const double one = 1, zero = 0;
    set_stream_(handle_, stream);
    if (dgemm_(handle_, 0, 0, m, n, k, &one, a, m, b, k, &zero, c, m) != 0) throw std::runtime_error("cublasDgemm failed");
  }

 private:
  void* handle_ = nullptr;
  int (*set_stream_)(void*, cudaStream_t) = nullptr;
  int (*dgemm_)(void*, int, int, int, int, int, const double*, const double*, int, const double*, int, const double*, double*,
                int) = nullptr;
};

template <class T>
T* allocated(std::int64_t count) {
  T* data = nullptr;
  must(cudaMalloc(&data, static_cast<std::size_t>(count) * sizeof(T)), "cudaMalloc");
  must(cudaMemset(data, 0, static_cast<std::size_t>(count) * sizeof(T)), "cudaMemset");
  return data;
}

gpu::DeviceSlices room(bool reversed, int slices, Index count, Index inner) {
  gpu::DeviceSlices result;
  result.padded = std::max<Index>(128, (inner + 127) / 128 * 128);
  result.slices = slices;
  result.count = count;
  result.inner = inner;
  result.reversed = reversed;
  result.digits = allocated<std::int8_t>((count + 127) / 128 * 128 * result.pitch());
  result.exponents = allocated<std::int32_t>(count);
  result.special = allocated<std::uint8_t>(count);
  result.any_special = allocated<std::uint32_t>(1);
  return result;
}

void release(const gpu::DeviceSlices& slices) {
  cudaFree(slices.digits);
  cudaFree(slices.exponents);
  cudaFree(slices.special);
  cudaFree(slices.any_special);
}

struct Contender {
  std::string name;
  double products;  ///< 0: not counted
  std::function<void(cudaStream_t)> run;
  bool as_graph = true;
  cudaGraphExec_t graph = nullptr;
  std::vector<float> times = {};
};

void capture(Contender& c, cudaStream_t stream) {
  c.run(stream);
  must(cudaStreamSynchronize(stream), c.name.c_str());
  if (!c.as_graph) return;
  cudaGraph_t graph;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
  c.run(stream);
  must(cudaStreamEndCapture(stream, &graph), "capture");
  must(cudaGraphInstantiate(&c.graph, graph, 0), "cudaGraphInstantiate");
}

void measure(Contender& c, cudaStream_t stream, double milliseconds) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  double total = -milliseconds;  // the clocks settle first
  for (int i = 0; i < 800 && (c.times.empty() || total < milliseconds); ++i) {
    cudaEventRecord(begin, stream);
    c.graph != nullptr ? void(cudaGraphLaunch(c.graph, stream)) : c.run(stream);
    cudaEventRecord(end, stream);
    must(cudaEventSynchronize(end), c.name.c_str());
    float time = 0;
    cudaEventElapsedTime(&time, begin, end);
    if (i > 0 && total >= 0) c.times.push_back(time);
    total += time;
  }
  cudaEventDestroy(begin), cudaEventDestroy(end);
}

double median(std::vector<float> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

gpu::FusedProduct::Tuning tuning(const std::string& text) {
  gpu::FusedProduct::Tuning t;
  std::sscanf(text.c_str(), "t:%d:%d:%d:%d:%d", &t.cluster, &t.panel, &t.interval, &t.lead, &t.alternate);
  return t;
}

void bench(const Dgemm& dgemm, Index m, Index n, Index k, const std::vector<std::string>& tunings) {
  const gpu::FusedProduct fused(0);
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  double *a = allocated<double>(m * k), *b = allocated<double>(k * n), *c = allocated<double>(m * n);
  fill<<<2048, 256>>>(a, m * k, 1);
  fill<<<2048, 256>>>(b, k * n, 2);
  std::vector<Contender> all;
  all.push_back({"dgemm", 0, [=, &dgemm](cudaStream_t s) { dgemm(a, b, c, int(m), int(n), int(k), s); }, false});
  gpu::DeviceEpilogue epilogue;
  epilogue.c = {c, 1, m, true};
  std::vector<gpu::DeviceSlices> rooms;
  std::vector<void*> workspaces;
  for (const auto* text : {"balanced:7x7:cut=8:exact", "balanced:6x6:cut=7:exact", "balanced:8x8:cut=9:exact"}) {
    const auto plan = parse_plan(text);
    const auto sa = room(false, plan.a.slices, m, k), sb = room(true, plan.b.slices, n, k);
    rooms.push_back(sa), rooms.push_back(sb);
    void* const workspace = allocated<std::uint8_t>(static_cast<std::int64_t>(fused.workspace(plan)));
    workspaces.push_back(workspace);
    const auto slicing = [=](cudaStream_t s) { gpu::launch_fast_slicing({{a, 1, m, true}, sa}, {{b, k, 1, true}, sb}, s); };
    const auto product = [=](cudaStream_t s) { fused.launch(sa, sb, plan, epilogue, workspace, s); };
    const double products = plan.products();
    all.push_back({std::string(text) + " whole", 0, [=](cudaStream_t s) { slicing(s), product(s); }});
    all.push_back({"  slicing", 0, slicing});
    all.push_back({"  multiplying", products, product});
    if (plan.a.slices == 7) {
      gpu::DeviceSlices none = sb;
      none.count = 0;
      all.push_back({"  whole, no graph", 0, [=](cudaStream_t s) { slicing(s), product(s); }, false});
      all.push_back({"  slicing A", 0, [=](cudaStream_t s) {
                       gpu::launch_fast_slicing({{a, 1, m, true}, sa}, {{b, k, 1, true}, none}, s);
                     }});
      all.push_back({"  slicing B", 0, [=](cudaStream_t s) {
                       gpu::launch_fast_slicing({{b, k, 1, true}, sb}, {{b, k, 1, true}, none}, s);
                     }});
      for (const auto& t : tunings)
        all.push_back(
            {"  " + t, products, [=](cudaStream_t s) { fused.launch(sa, sb, plan, epilogue, workspace, s, tuning(t)); }});
    }
  }
  for (auto& one : all) capture(one, stream);
  const double large = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  for (int round = 0; round < 3; ++round)
    for (auto& one : all) measure(one, stream, large > 1e12 ? 500 : 60);
  const double base = median(all[0].times);
  for (auto& one : all) {
    const double t = median(one.times);
    std::printf("%ldx%ldx%ld %-32s %10.4f ms %7.2f TFLOP/s %6.3f of dgemm", m, n, k, one.name.c_str(), t, 2e-9 * large / t,
                base / t);
    if (one.products > 0) std::printf(" %6.0f TOPS", one.products * 2e-9 * large / t);
    std::printf("\n");
    if (one.graph != nullptr) cudaGraphExecDestroy(one.graph);
  }
  std::fflush(stdout);
  for (const auto& r : rooms) release(r);
  for (void* w : workspaces) cudaFree(w);
  cudaFree(a), cudaFree(b), cudaFree(c);
  cudaStreamDestroy(stream);
}

}  // namespace

int fused_bench(const char* cublas, const std::vector<std::string>& words) {
  try {
    const Dgemm dgemm(cublas);
    std::vector<std::string> tunings;
    for (const auto& word : words)
      if (word[0] == 't') tunings.push_back(word);
    for (const auto& word : words) {
      long m = 0, n = 0, k = 0;
      if (word[0] == 't') continue;
      if (std::sscanf(word.c_str(), "%ld,%ld,%ld", &m, &n, &k) < 3) n = k = m;
      bench(dgemm, m, n, k, tunings);
    }
    return 0;
  } catch (const std::exception& e) {
    std::printf("FAIL %s\n", e.what());
    return 1;
  }
}
