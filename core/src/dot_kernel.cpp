#include "dot_kernel.hpp"

// GCC compiles the loop once for each of these and picks one when the program starts. Sanitized builds run before their
// runtime is ready then, and clang needs no help to stay portable: both take the plain loop.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define OZB_MULTIVERSION __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define OZB_MULTIVERSION
#endif

namespace ozbound {

OZB_MULTIVERSION
void dot_kernel(const std::int16_t* a, const std::int16_t* b, Index ld, Index length, std::int32_t* out) {
  const std::int16_t *a0 = a, *a1 = a + ld;
  const std::int16_t *b0 = b, *b1 = b + ld, *b2 = b + 2 * ld, *b3 = b + 3 * ld;
  std::int32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
  for (Index l = 0; l < length; ++l) {
    s00 += a0[l] * b0[l];
    s01 += a0[l] * b1[l];
    s02 += a0[l] * b2[l];
    s03 += a0[l] * b3[l];
    s10 += a1[l] * b0[l];
    s11 += a1[l] * b1[l];
    s12 += a1[l] * b2[l];
    s13 += a1[l] * b3[l];
  }
  out[0] = s00, out[1] = s01, out[2] = s02, out[3] = s03;
  out[4] = s10, out[5] = s11, out[6] = s12, out[7] = s13;
}

}  // namespace ozbound
