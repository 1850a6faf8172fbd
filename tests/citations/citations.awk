# SPDX-License-Identifier: BSD-3-Clause
# Reads the names of all files; then, with pass=2, the pages that define labels and headings; then, with pass=3, the citing
# files.

function folder_of(path) { return sub(/\/[^\/]*$/, "", path) ? path : "" }

# Removes `.` and `..` from a path.
function normal(path,    parts, count, i, result, depth, kept) {
  count = split(path, parts, "/")
  depth = 0
  for (i = 1; i <= count; ++i) {
    if (parts[i] == "" || parts[i] == ".") continue
    if (parts[i] == "..") { if (depth > 0) --depth; continue }
    kept[++depth] = parts[i]
  }
  result = ""
  for (i = 1; i <= depth; ++i) result = result (i > 1 ? "/" : "") kept[i]
  return result
}

# The page that a name denotes in a file: beside the file, from the root, or the only page whose path ends with the name.
function page_of(name, file,    path) {
  path = normal(folder_of(file) "/" name)
  if (path in files) return path
  path = normal(name)
  if (path in files) return path
  return path in ending ? ending[path] : ""
}

function anchor(heading) {
  heading = tolower(heading)
  gsub(/[^a-z0-9 _\200-\377-]/, "", heading)
  gsub(/ /, "-", heading)
  return heading
}

function wrong(citation, why) {
  if ((FILENAME_OF_TEXT, citation) in told) return
  told[FILENAME_OF_TEXT, citation] = 1
  print FILENAME_OF_TEXT ": " citation ": " why
  failed = 1
}

function need_label(page, name, label) {
  if (!((page, label) in labels)) wrong(name " (" label ")", "no such label")
}

# Checks the labels at the start of a text that follows a name.
function labels_after(text, page, name,    first) {
  sub(/^#[A-Za-z0-9_-]*/, "", text)
  sub(/^[`"')\]]*/, "", text)
  if (name ~ /errata\.md$/ && match(text, /^,? [0-9]+([^0-9]|$)/)) {
    sub(/^,? /, "", text)
    while (match(text, /^[0-9]+/)) {
      if (!((page, substr(text, 1, RLENGTH)) in anchors)) wrong(name ", " substr(text, 1, RLENGTH), "no such number")
      text = substr(text, RLENGTH + 1)
      if (!sub(/^(, | and | to )/, "", text)) return
    }
    return
  }
  if (!sub(/^(, | \(|, \()/, "", text)) return
  while (match(text, /^[A-Z][A-Z]?[0-9]+[a-z]?([^A-Za-z0-9]|$)/)) {
    first = substr(text, 1, RLENGTH)
    sub(/[^A-Za-z0-9]$/, "", first)
    need_label(page, name, first)
    text = substr(text, length(first) + 1)
    if (!sub(/^(\), \(|\)-\(|, | to | and )/, "", text)) return
  }
}

# Checks the label just before a name.
function label_before(text, page, name) {
  if (match(text, /\[[A-Z][A-Z]?[0-9]+[a-z]?\]\([^( ]*$/)) need_label(page, name, first_label(substr(text, RSTART)))
  else if (match(text, /\([A-Z][A-Z]?[0-9]+[a-z]?\) of [^ ]*$/)) need_label(page, name, first_label(substr(text, RSTART)))
}
function first_label(text) {
  match(text, /[A-Z][A-Z]?[0-9]+[a-z]?/)
  return substr(text, RSTART, RLENGTH)
}

function judge_names(text,    at, size, name, page, fragment, before, rest) {
  before = ""
  while (match(text, /[A-Za-z0-9_.\/-]*[A-Za-z0-9_-]\.md/)) {
    at = RSTART
    size = RLENGTH
    name = substr(text, at, size)
    before = substr(before substr(text, 1, at - 1), 1 + (length(before) + at > 200 ? length(before) + at - 200 : 0))
    text = substr(text, at + size)
    rest = substr(text, 1, 200)
    page = page_of(name, FILENAME_OF_TEXT)
    if (page == "") wrong(name, "no such file")
    else {
      if (match(rest, /^#[A-Za-z0-9_-]+/)) {
        fragment = substr(rest, 2, RLENGTH - 1)
        if (!((page, fragment) in anchors)) wrong(name "#" fragment, "no such heading")
      }
      labels_after(rest, page, name)
      label_before(before, page, name)
    }
    before = before name
  }
}

function judge_records(text,    number) {
  while (match(text, /adr\/[0-9][0-9][0-9][0-9]/)) {
    number = substr(text, RSTART + 4, 4)
    if (!(number in records)) wrong("adr/" number, "no such decision record")
    text = substr(text, RSTART + RLENGTH)
  }
}

function judge_links(text,    target) {
  while (match(text, /\]\([^) ]+\)/)) {
    target = substr(text, RSTART + 2, RLENGTH - 3)
    text = substr(text, RSTART + RLENGTH)
    if (target ~ /^[a-z]+:/) continue
    if (target ~ /^#/) {
      if (!((FILENAME_OF_TEXT, substr(target, 2)) in anchors)) wrong(target, "no such heading")
      continue
    }
    sub(/#.*/, "", target)
    target = normal(folder_of(FILENAME_OF_TEXT) "/" target)
    if (!(target in files) && !(target in folders)) wrong(target, "no such file to link to")
  }
}

function judge(text) {
  gsub(/[ \t]+/, " ", text)
  judge_names(text)
  judge_records(text)
  if (FILENAME_OF_TEXT ~ /\.md$/) judge_links(text)
}

!pass {
  files[$0] = 1
  for (path = $0; (path = folder_of(path)) != "";) folders[path] = 1
  if ($0 ~ /\.md$/) for (path = $0; sub(/^[^\/]*\//, "", path);) ending[path] = $0
  if ($0 ~ /adr\/[0-9][0-9][0-9][0-9]-[^\/]*\.md$/) { sub(/.*adr\//, ""); records[substr($0, 1, 4)] = 1 }
  next
}

pass == 2 {
  if ($0 ~ /^#+ /) { heading = $0; sub(/^#+ /, "", heading); anchors[FILENAME, anchor(heading)] = 1 }
  for (rest = $0; match(rest, /\*\*\([A-Z][A-Z]?[0-9]+[a-z]?\)/); rest = substr(rest, RSTART + RLENGTH))
    labels[FILENAME, substr(rest, RSTART + 3, RLENGTH - 4)] = 1
  next
}

# A comment of several lines is one text.
FNR == 1 {
  if (FILENAME_OF_TEXT != "") judge(text)
  FILENAME_OF_TEXT = FILENAME
  text = ""
}
{
  sub(/^[ \t]*(\/\/[\/<!]*|\*|#|!) ?/, "")
  text = text " " $0
}
END {
  if (FILENAME_OF_TEXT != "") judge(text)
  exit failed
}
