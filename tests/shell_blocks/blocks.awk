# SPDX-License-Identifier: BSD-3-Clause
# Extracts the shell blocks of a Markdown page into the folder `into`: block N becomes N.sh, and its shown output, a `text`
# block that is the next fenced one, becomes N.text. Prints N, line and tag of each block, tab-separated, with `-` for no tag.
# Errors of the page go to `into`/wrong.

function wrong(what) { print FILENAME ":" FNR ": " what > (into "/wrong") }

function close_block() {
  if (file != "") close(file)
  file = fence = ""
}

BEGIN {
  printf "" > (into "/wrong")
  typed = "^ *(\\$ |sudo |apt(-get)? |\\./dev( |$)|ozbound( |$)|build/[a-z]+/|cmake -|ctest( |$)|compute-sanitizer )"
}

# A block ends with a fence like its first one.
fence != "" && $0 ~ "^ *" fence "+ *$" { close_block(); next }
fence != "" {
  for (i = 0; i < indent; ++i) sub(/^ /, "")
  if (file != "") print > file
  else if ($0 ~ typed) wrong("a command in a block of `" language "`: shell blocks are `sh`")
  next
}

# A block may begin directly in an item of a list.
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
