// Compiles what host and device share, for both sides.
#include "ozbound/core/host_device.hpp"

OZB_HD constexpr int one() { return 1; }

__global__ void shared_headers(int* result) { *result = one(); }
