#include "engines.hpp"

namespace ozbound::bench {

std::vector<std::string> kernel_names() { return {"portable"}; }

CpuEngine make_engine(int threads, const std::string&) { return CpuEngine({.threads = threads}); }

}  // namespace ozbound::bench
