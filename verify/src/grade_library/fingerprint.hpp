#pragma once

#include <string>

#include "ozbound/verify/grade.hpp"

namespace ozbound {

/// A few products, small ones and such as libraries share out among threads: the CRC of each one's bits, in hexadecimal.
std::string process_fingerprint(const ForeignGemm& gemm, const GradeOptions& options);

}  // namespace ozbound
