// SPDX-License-Identifier: BSD-3-Clause
#include "conditional_work.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "cuda_check.hpp"

namespace ozbound::gpu {

#if CUDART_VERSION >= 13000
namespace {

__global__ void set_condition(cudaGraphConditionalHandle condition, const std::int32_t* flag) {
  cudaGraphSetConditional(condition, *flag != 0 ? 1 : 0);
}

/// Lets the thread make calls that its own captures would refuse, such as those that load a library's kernels.
class RelaxedCapture {
 public:
  RelaxedCapture() { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  void exchange() { cudaThreadExchangeStreamCaptureMode(&mode_); }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// A capture, which ends with this object at the latest.
class Capture {
 public:
  /// @param into null: a new graph
  Capture(cudaStream_t stream, cudaGraph_t into) : stream_(stream), owns_(into == nullptr) {
    if (into == nullptr)
      check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    else
      check(cudaStreamBeginCaptureToGraph(stream, into, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed),
            "cudaStreamBeginCaptureToGraph");
  }
  ~Capture() {
    cudaGraph_t dropped = nullptr;
    if (stream_ == nullptr) return;
    cudaStreamEndCapture(stream_, &dropped);
    if (owns_ && dropped != nullptr) cudaGraphDestroy(dropped);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  cudaGraph_t end() {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph), "cudaStreamEndCapture");
    return graph;
  }

 private:
  cudaStream_t stream_;
  bool owns_;
};

/// The graph into which a stream is captured, null if it is not; and the nodes on which its next one depends.
struct CapturedUntilNow {
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;

  explicit CapturedUntilNow(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &nodes, &edges, &count), "cudaStreamGetCaptureInfo");
    if (status == cudaStreamCaptureStatusNone) graph = nullptr;
  }
};

void add_to_capture(const std::int32_t* flag, const std::function<void(cudaStream_t)>& launch, cudaStream_t captured,
                    cudaStream_t body) {
  cudaGraphConditionalHandle condition{};
  check(cudaGraphConditionalHandleCreate(&condition, CapturedUntilNow(captured).graph, 0, cudaGraphCondAssignDefault),
        "cudaGraphConditionalHandleCreate");
  set_condition<<<1, 1, 0, captured>>>(condition, flag);
  check_launch("set_condition");
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = condition;
  parameters.conditional.type = cudaGraphCondTypeIf;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  const CapturedUntilNow now(captured);
  check(cudaGraphAddNode(&node, now.graph, now.nodes, now.edges, now.count, &parameters), "cudaGraphAddNode");
  Capture of_body(body, parameters.conditional.phGraph_out[0]);
  launch(body);
  of_body.end();
  check(cudaStreamUpdateCaptureDependencies(captured, &node, nullptr, 1, cudaStreamSetCaptureDependencies),
        "cudaStreamUpdateCaptureDependencies");
}

}  // namespace

class ConditionalWork::OwnGraph {
 public:
  /// Takes the graph.
  explicit OwnGraph(cudaGraph_t graph) : graph_(graph, &cudaGraphDestroy), run_(nullptr, &cudaGraphExecDestroy) {
    cudaGraphExec_t run = nullptr;
    check(cudaGraphInstantiate(&run, graph, 0), "cudaGraphInstantiate");
    run_.reset(run);
  }
  /// Runs after earlier launches of this graph, too.
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(run_.get(), stream), "cudaGraphLaunch"); }

 private:
  std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)> graph_;
  std::unique_ptr<CUgraphExec_st, decltype(&cudaGraphExecDestroy)> run_;
};

bool ConditionalWork::available() {
  int driver = 0;
  return cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 13000;
}

void ConditionalWork::operator()(const std::int32_t* flag, const Key& key, const std::function<void(cudaStream_t)>& launch,
                                 cudaStream_t stream) const {
  const std::scoped_lock lock(mutex_);
  const RelaxedCapture relaxed;
  if (CapturedUntilNow(stream).graph != nullptr) return add_to_capture(flag, launch, stream, body_.stream());
  const auto found = std::ranges::find_if(kept_, [&](const auto& one) { return one.first == key; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
  } else {
    Capture capture(whole_.stream(), nullptr);
    add_to_capture(flag, launch, whole_.stream(), body_.stream());
    kept_.emplace_front(key, std::make_unique<const OwnGraph>(capture.end()));
    if (kept_.size() > most_kept) kept_.pop_back();
  }
  kept_.front().second->launch(stream);
}

#else

class ConditionalWork::OwnGraph {};

bool ConditionalWork::available() { return false; }

void ConditionalWork::operator()(const std::int32_t*, const Key&, const std::function<void(cudaStream_t)>&,
                                 cudaStream_t) const {
  throw_error("conditional graphs", "need CUDA 13.0", false);
}

#endif

ConditionalWork::ConditionalWork() = default;
ConditionalWork::~ConditionalWork() = default;

}  // namespace ozbound::gpu
