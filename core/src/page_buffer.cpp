// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/page_buffer.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace ozbound {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21, cache_line = 64;

}  // namespace

PageBuffer::PageBuffer(std::size_t bytes) {
  const std::align_val_t alignment{bytes < huge_page ? cache_line : huge_page};
  bytes_ = {static_cast<std::int8_t*>(::operator new(bytes, alignment)), {alignment}};
#ifdef __linux__
  // Only completely filled pages, so that a memory cap is kept. This is a hint; small pages work too.
  if (bytes >= huge_page) madvise(bytes_.get(), bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
}

}  // namespace ozbound
