# SPDX-License-Identifier: BSD-3-Clause
# Compares the shown output (first file) with the printed output (second file); exits with 1 if they differ. A line `…` of the
# page stands for any number of lines, and `…` within a line for any characters, possibly none. Sequences of blanks count as
# one.

function plain(line) {
  gsub(/[ \t]+/, " ", line)
  sub(/ $/, "", line)
  return line
}

# True if a line matches `pattern`: the texts between its elisions occur in order, the first at its start and the last at its
# end.
function same(pattern, line,    count, parts, i, at) {
  count = split(pattern, parts, any)
  if (count < 2) return pattern == line
  if (substr(line, 1, length(parts[1])) != parts[1]) return 0
  line = substr(line, length(parts[1]) + 1)
  for (i = 2; i < count; ++i) {
    at = index(line, parts[i])
    if (parts[i] != "" && !at) return 0
    if (at) line = substr(line, at + length(parts[i]))
  }
  return length(line) >= length(parts[count]) && substr(line, length(line) - length(parts[count]) + 1) == parts[count]
}

BEGIN { any = "…" }
FNR == 1 { ++files }
files == 1 && FILENAME == ARGV[1] { shown[++last_shown] = plain($0); next }
{ printed[++last_printed] = plain($0) }

# meets[j] is true if the first i lines shown match the first j lines printed.
END {
  meets[0] = 1
  for (i = 1; i <= last_shown; ++i) {
    before = meets[0]
    meets[0] = before && shown[i] == any
    for (j = 1; j <= last_printed; ++j) {
      above = meets[j] + 0
      meets[j] = shown[i] == any ? meets[j - 1] || above : before && same(shown[i], printed[j])
      before = above
    }
  }
  exit !meets[last_printed + 0]
}
