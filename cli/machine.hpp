#pragma once

#include <string>
#include <vector>

namespace ozbound::cli {

/// The processor's model name, or `unknown`.
std::string processor_name();

/// What the processor offers of the instructions that integer dot products are made of: `avx2`, `avx512bw`, `avx512vnni`.
std::vector<std::string> dot_product_instructions();

}  // namespace ozbound::cli
