#include "transfer.hpp"

#include <algorithm>
#include <variant>

namespace ozbound::gpu {
namespace {

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

/// A view as lines of elements that lie side by side, rows or columns, which CUDA copies as they are; or as rows to be packed.
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
    constexpr Index most_pitch = Index{1} << 30;  // bytes, of what CUDA calls a pitch
    if (count == 1) distance = length;
    return distance >= length && distance <= most_pitch / static_cast<Index>(size);
  }
};

}  // namespace

DeviceCopy::DeviceCopy(const InputView& host, cudaStream_t stream) {
  std::visit(
      [&]<class T>(const MatrixView<const T>& view) {
        matrix_.is_double = sizeof(T) == sizeof(double);
        if (view.empty()) return;
        const Lines lines(view);
        const auto bytes = at(lines.length) * sizeof(T);
        memory_ = DeviceArray<std::uint8_t>(static_cast<Index>(bytes) * lines.count, stream);
        matrix_.data = memory_.data();
        (lines.by_row ? matrix_.row_stride : matrix_.col_stride) = lines.length;
        (lines.by_row ? matrix_.col_stride : matrix_.row_stride) = 1;
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
  bound_ = copy_to_device<DeviceBound>({{rows_.data(), columns_.data(), ends_.data(), terms, m, n, bound.uniform}}, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace ozbound::gpu
