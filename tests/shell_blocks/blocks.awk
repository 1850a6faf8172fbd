# SPDX-License-Identifier: BSD-3-Clause
# Takes the shell blocks out of a Markdown page, into the folder `into`: block N becomes N.sh, and what the page shows as its
# output, a `text` block that is the next one fenced, N.text. Prints N, line and tag of each, `-` where it has none, tab between.
# What is wrong with the page goes to `into`/wrong.

function wrong(what) { print FILENAME ":" FNR ": " what > (into "/wrong") }

function close_block() {
  if (file != "") close(file)
  file = fence = ""
}

BEGIN {
  printf "" > (into "/wrong")
  typed = "^ *(\\$ |sudo |apt(-get)? |\\./dev( |$)|ozbound( |$)|build/[a-z]+/|cmake -|ctest( |$)|compute-sanitizer )"
}

# A block ends with a fence like the one that began it.
fence != "" && $0 ~ "^ *" fence "+ *$" { close_block(); next }
fence != "" {
  for (i = 0; i < indent; ++i) sub(/^ /, "")
  if (file != "") print > file
  else if ($0 ~ typed) wrong("a command in a block of `" language "`: shell blocks are `sh`")
  next
}

# It may be the first thing of an item of a list.
/^ *([-*+] +|[0-9]+[.)] +)*(```|~~~)/ {
  indent = match($0, /```|~~~/) - 1
  info = substr($0, indent + 1)
  fence = substr(info, 1, 3)
  sub(/^[`~]+ */, "", info)
  language = tag = info
  sub(/[ ,{].*/, "", language)
  sub(/^[^ ]* */, "", tag)
  begun = FNR
  if (language ~ /^(console|bash|shell|zsh|shell-session|terminal)$/) wrong("shell blocks are `sh`, not `" language "`")
  if (language == "sh") {
    if (tag != "" && tag !~ /^not-run: .*[a-z]/) wrong("a shell block has no tag, or `not-run: REASON`, not `" tag "`")
    file = into "/" ++count ".sh"
    printf "" > file
    print count "\t" FNR "\t" (tag == "" ? "-" : tag)
  } else if (language == "text" && previous == "sh") {
    file = into "/" count ".text"
    printf "" > file
  }
  previous = language
  next
}

/^(    |\t)/ && $0 ~ typed { wrong("an indented command: shell blocks are fenced, as `sh`") }

END { if (fence != "") { FNR = begun; wrong("a block that does not end") } }
