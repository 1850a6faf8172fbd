// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace ozbound {

/// Uninitialised bytes, on huge pages if the system provides them. Faulting in and clearing small pages takes a third of the
/// time that slicing into them takes.
class PageBuffer {
 public:
  PageBuffer() = default;
  /// @throws std::bad_alloc.
  explicit PageBuffer(std::size_t bytes);

  [[nodiscard]] std::int8_t* data() { return bytes_.get(); }
  [[nodiscard]] const std::int8_t* data() const { return bytes_.get(); }

 private:
  struct Delete {
    std::align_val_t alignment;
    void operator()(std::int8_t* bytes) const { ::operator delete(bytes, alignment); }
  };
  std::unique_ptr<std::int8_t, Delete> bytes_;
};

}  // namespace ozbound
