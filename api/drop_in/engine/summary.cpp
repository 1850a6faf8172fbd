// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "state.hpp"

namespace ozbound::drop_in {
namespace {

/// printf into a string.
template <class... Arguments>
std::string text(const char* format, const Arguments&... arguments) {
  char line[512];
  const int length = std::snprintf(line, sizeof line, format, arguments...);
  return {line, static_cast<std::size_t>(std::clamp<int>(length, 0, sizeof line - 1))};
}

bool was_examined(const std::string& way) { return way != way_not_examined && way != way_overlap; }

}  // namespace

std::string summary_text(const Settings& settings, const Tally& tally, const SiteCounts& counts,
                         const std::vector<std::string>& libraries) {
  std::map<std::string, Count> by_way;
  Count examined, others;
  for (const auto& [of, count] : tally.classes()) {
    by_way[of.way].add(count);
    (was_examined(of.way) ? examined : others).add(count);
  }
  std::string out = text("ozbound: %ld products of process %d in shadow, target %s\n", counts.calls, static_cast<int>(getpid()),
                         to_string(settings.target).c_str());
  for (const auto& library : libraries) out += "  by " + library + "\n";  // one line each; paths may make it long
  out += text("  examined %ld; below OZBOUND_MIN_WORK %ld, empty %ld, beyond OZBOUND_SHARE %ld,\n", examined.calls,
              counts.small, counts.empty, by_way[way_not_examined].calls);
  out +=
      text("  overlapping %ld, with arguments that the library refuses %ld\n", by_way[way_overlap].calls, counts.bad_arguments);
  for (const auto& [way, count] : by_way)
    if (count.calls > 0 && was_examined(way))
      out += text("  at the target %-16s %8ld calls, native %10.3f s%s\n", way.c_str(), count.calls, count.native_seconds,
                  count.other_seconds < count.native_seconds ? text(", predicted %.3f s", count.other_seconds).c_str() : "");
  if (counts.unknown_width > 0)
    out += text("  not examined, since its integers may have 32 or 64 bits: %ld\n", counts.unknown_width);
  if (counts.other_mode > 0)
    out += text("  in another floating-point mode than the default, native unproven: %ld\n", counts.other_mode);
  if (examined.worst) out += text("  worst sampled error of native: %.3g of what the target allows\n", *examined.worst);
  out += text("  native took %.3f s, examining %.3f s\n", tally.native_seconds(), tally.own_seconds());
  out += "  Not seen: products that the library makes inside itself, as OpenBLAS's LAPACK.\n";
  return out;
}

std::string unseen_text(const std::string& program, const std::vector<OwnBlas>& files) {
  std::string out = text("ozbound: no product was seen, process %d\n", static_cast<int>(getpid())) + "  of " + program + "\n";
  for (const auto& [file, routine] : files)
    out += "  " + routine + " is in " + file +
           ": calls that stay inside it, or\n  are bound to it by RTLD_DEEPBIND, are not seen\n";
  if (files.empty()) out += "  None of its files has a BLAS.\n";
  return out;
}

}  // namespace ozbound::drop_in
