// SPDX-License-Identifier: BSD-3-Clause
#include "transfer.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <variant>

#include "pinned_memory.hpp"

namespace ozbound::gpu {
namespace {

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

/// A view as contiguous lines, rows or columns, which CUDA can copy directly; or as rows that must be packed.
struct Lines {
  bool by_row = true;
  bool direct = false;
  Index count, length;
  Index distance;  ///< between the starts of two lines, in elements

  template <class T>
  explicit Lines(const MatrixView<T>& view) : count(view.rows()), length(view.cols()), distance(view.row_stride()) {
    direct = view.col_stride() == 1 && copies(sizeof(T));
    if (direct || view.row_stride() != 1) return;
    count = view.cols(), length = view.rows(), distance = view.col_stride();
    direct = copies(sizeof(T));
    by_row = !direct;
    if (by_row) count = view.rows(), length = view.cols();
  }

 private:
  [[nodiscard]] bool copies(std::size_t size) {
    constexpr Index most_pitch = Index{1} << 30;  // limit in bytes for CUDA's pitch
    if (count == 1) distance = length;
    return distance >= length && distance <= most_pitch / static_cast<Index>(size);
  }
};

}  // namespace

DeviceCopy DeviceCopy::unset(const InputView& host, cudaStream_t stream) {
  DeviceCopy copy;
  std::visit(
      [&]<class T>(const MatrixView<const T>& view) {
        copy.matrix_.is_double = sizeof(T) == sizeof(double);
        if (view.empty()) return;
        const Lines lines(view);
        copy.memory_ = DeviceArray<std::uint8_t>(lines.count * lines.length * static_cast<Index>(sizeof(T)), stream);
        copy.matrix_.data = copy.memory_.data();
        (lines.by_row ? copy.matrix_.row_stride : copy.matrix_.col_stride) = lines.length;
        (lines.by_row ? copy.matrix_.col_stride : copy.matrix_.row_stride) = 1;
      },
      host.typed());
  return copy;
}

DeviceCopy::DeviceCopy(const InputView& host, cudaStream_t stream) : DeviceCopy(unset(host, stream)) {
  std::visit(
      [&]<class T>(const MatrixView<const T>& view) {
        if (view.empty()) return;
        const Lines lines(view);
        const auto bytes = at(lines.length) * sizeof(T);
        if (lines.direct) {
          check(cudaMemcpy2DAsync(memory_.data(), bytes, view.data(), at(lines.distance) * sizeof(T), bytes, at(lines.count),
                                  cudaMemcpyHostToDevice, stream),
                "cudaMemcpy2DAsync");
          return;
        }
        std::vector<T> packed;
        packed.reserve(at(view.rows() * view.cols()));
        for (Index i = 0; i < view.rows(); ++i)
          for (Index j = 0; j < view.cols(); ++j) packed.push_back(view(i, j));
        check(cudaMemcpyAsync(memory_.data(), packed.data(), packed.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      },
      host.typed());
}

void DeviceCopy::write_to(const OutputView& host, cudaStream_t stream) const {
  std::visit(
      [&]<class T>(const MatrixView<T>& view) {
        if (view.empty()) return;
        const Lines lines(view);
        const auto bytes = at(lines.length) * sizeof(T);
        if (lines.direct) {
          check(cudaMemcpy2DAsync(view.data(), at(lines.distance) * sizeof(T), memory_.data(), bytes, bytes, at(lines.count),
                                  cudaMemcpyDeviceToHost, stream),
                "cudaMemcpy2DAsync");
          return;
        }
        const auto packed = copy_to_host(static_cast<const T*>(matrix_.data), view.rows() * view.cols(), stream);
        for (Index i = 0; i < view.rows(); ++i)
          for (Index j = 0; j < view.cols(); ++j) view(i, j) = packed[at(i * view.cols() + j)];
      },
      host.typed());
}

bool on_device(const void* data, const char* name) {
  cudaPointerAttributes of{};
  check(cudaPointerGetAttributes(&of, data), "cudaPointerGetAttributes");
  if (of.type == cudaMemoryTypeManaged) return true;
  if (of.type != cudaMemoryTypeDevice) return false;
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  if (of.device != device)
    throw std::invalid_argument(std::string(name) + " must be in the memory of the host or of device " +
                                std::to_string(device) + ": it is in that of device " + std::to_string(of.device));
  return true;
}

bool on_device(const InputView& view, const char* name) {
  return !view.empty() && std::visit([name](const auto& v) { return on_device(v.data(), name); }, view.typed());
}

DeviceMatrix matrix_of(const InputView& view) {
  return std::visit(
      []<class T>(const MatrixView<const T>& v) -> DeviceMatrix {
        return {const_cast<T*>(v.data()), v.row_stride(), v.col_stride(), sizeof(T) == sizeof(double)};
      },
      view.typed());
}

DeviceOperand::DeviceOperand(const InputView& view, const char* name, cudaStream_t stream) : in_place_(on_device(view, name)) {
  if (!in_place_) copy_ = DeviceCopy(view, stream);
  matrix_ = in_place_ ? matrix_of(view) : copy_.matrix();
}

void DeviceOperand::write_to(const OutputView& view, cudaStream_t stream) const {
  if (!in_place_) copy_.write_to(view, stream);
}

namespace {

/// A view of storage that receives the elements of a device view: line by line, or as one range with the gaps.
template <class T>
InputView copy_elements(const MatrixView<const T>& view, Matrix<T>& storage, cudaStream_t stream) {
  if (view.empty()) return view;
  const Lines lines(view);
  if (lines.direct) {
    storage = Matrix<T>(lines.count, lines.length);
    const auto bytes = at(lines.length) * sizeof(T);
    check(cudaMemcpy2DAsync(storage.data(), bytes, view.data(), at(lines.distance) * sizeof(T), bytes, at(lines.count),
                            cudaMemcpyDefault, stream),
          "cudaMemcpy2DAsync");
    const InputView copied(storage);
    return lines.by_row ? copied : copied.transposed();
  }
  storage = Matrix<T>(1, (view.rows() - 1) * view.row_stride() + (view.cols() - 1) * view.col_stride() + 1);
  check(cudaMemcpyAsync(storage.data(), view.data(), at(storage.cols()) * sizeof(T), cudaMemcpyDefault, stream),
        "cudaMemcpyAsync");
  return MatrixView<const T>(storage.data(), view.rows(), view.cols(), view.row_stride(), view.col_stride());
}

}  // namespace

HostCopy::HostCopy(const InputView& device, cudaStream_t stream)
    : view_(device.is_double() ? copy_elements(std::get<0>(device.typed()), doubles_, stream)
                               : copy_elements(std::get<1>(device.typed()), floats_, stream)) {
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

HostBlock HostBlock::started(const void* begin, const void* end, cudaStream_t stream) {
  HostBlock block;
  block.origin_ = static_cast<const std::uint8_t*>(begin);
  const auto bytes = static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - block.origin_);
  const auto memory = take_pinned_memory(bytes);
  if (bytes > 0) check(cudaMemcpyAsync(memory.get(), begin, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  block.memory_ = memory;
  return block;
}

// Certificates may keep such a block for long, and pinned memory is scarce.
HostBlock::HostBlock(const void* begin, const void* end, cudaStream_t stream)
    : origin_(static_cast<const std::uint8_t*>(begin)) {
  const auto bytes = static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - origin_);
  const std::shared_ptr<std::uint8_t> memory(new std::uint8_t[bytes], std::default_delete<std::uint8_t[]>());
  if (bytes > 0) check(cudaMemcpyAsync(memory.get(), begin, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  memory_ = memory;
}

BoundCopy::BoundCopy(const EntryBound& bound, Index m, Index n, cudaStream_t stream) {
  std::vector<double> rows, columns;
  std::vector<int> ends;
  int outer_products = 0;
  for (const auto& term : bound.terms) {
    for (const auto& outer : term.alternatives) {
      rows.insert(rows.end(), outer.rows.begin(), outer.rows.end());
      columns.insert(columns.end(), outer.columns.begin(), outer.columns.end());
      ++outer_products;
    }
    ends.push_back(outer_products);
  }
  rows_ = copy_to_device(rows, stream);
  columns_ = copy_to_device(columns, stream);
  ends_ = copy_to_device(ends, stream);
  const auto terms = static_cast<int>(bound.terms.size());
  bound_ = {rows_.data(), columns_.data(), ends_.data(), terms, m, n, bound.uniform};
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

const DeviceBound* kept_on(int device, const RemoteEntryBound* bound) {
  const auto* const kept = dynamic_cast<const KeptOnDevice*>(bound);
  return kept != nullptr && kept->device() == device ? &kept->device_bound() : nullptr;
}

ZivBoundOnDevice::ZivBoundOnDevice(ZivBound bound, Index m, Index n, int device, cudaStream_t stream) {
  const auto* in_place = kept_on(device, bound.remote());
  if (in_place == nullptr) {
    copy_ = BoundCopy(*FetchedZivBound(bound).get(), m, n, stream);
    in_place = &copy_.bound();
  }
  bound_ = copy_to_device<DeviceBound>({*in_place}, stream);
}

}  // namespace ozbound::gpu
