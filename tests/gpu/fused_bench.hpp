#pragma once

#include <string>
#include <vector>

/// Medians of CUDA events on random data: the fused kernel's products, slicing and multiplying apart, beside cublasDgemm of a
/// library file. `shapes` are n or m,n,k; a word that begins with `t` is a tuning, t:cluster:panel:interval:lead:alternate,
/// with which the 28 products are multiplied too. What a main returns.
int fused_bench(const char* cublas, const std::vector<std::string>& shapes);
