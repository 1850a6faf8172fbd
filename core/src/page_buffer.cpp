#include "ozbound/core/page_buffer.hpp"

#include <limits>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace ozbound {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21, cache_line = 64;

}  // namespace

PageBuffer::PageBuffer(std::size_t bytes) {
  const std::size_t unit = bytes < huge_page ? cache_line : huge_page;
  if (bytes > std::numeric_limits<std::size_t>::max() - unit) throw std::bad_alloc();
  const std::size_t size = (bytes + unit - 1) / unit * unit;
  const std::align_val_t alignment{unit};
  bytes_ = {static_cast<std::int8_t*>(::operator new(size, alignment)), {alignment}};
#ifdef __linux__
  if (unit == huge_page) madvise(bytes_.get(), size, MADV_HUGEPAGE);  // a wish: small pages do as well
#endif
}

}  // namespace ozbound
