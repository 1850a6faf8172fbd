// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound::markup {

/// The page's style without its plots. Readable from 20 em wide, light or dark as the reader's system.
inline constexpr const char* style = R"css(
:root { color-scheme: light dark;
  --text: #1d2125; --faint: #5b6570; --page: #ffffff; --panel: #f5f6f8; --line: #d8dce1;
  --good: #0b6b3a; --bad: #b3261e; --open: #8a5a00; --number: #24527a; }
@media (prefers-color-scheme: dark) { :root {
  --text: #e3e6e9; --faint: #9aa4ae; --page: #15181b; --panel: #1e2226; --line: #363c43;
  --good: #67c98f; --bad: #ff8a80; --open: #e6b450; --number: #8fc1ea; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 66rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; }
a { color: inherit; } code, pre { font: .86em/1.45 ui-monospace, monospace; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem;
  white-space: pre-wrap; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; margin: 1rem 0; }
dl.facts dt { color: var(--faint); } dl.facts dd { margin: 0; }
.verdict { font-size: 1.1rem; font-weight: 600; margin: .5rem 0; } .faint { color: var(--faint); }
.pass { color: var(--good); } .fail, .crashed, .hung { color: var(--bad); } .differs { color: var(--open); }
.measured { color: var(--number); } .skipped { color: var(--faint); }
.outcome { font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--faint); font-weight: 500; }
th, td { padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
table.summary { width: auto; } table.summary th, table.summary td { overflow-wrap: normal; white-space: nowrap; }
table.summary th + th, table.summary td + td { text-align: right; }
ul.findings { list-style: none; margin: 0; padding: 0; }
ul.findings > li { border-bottom: 1px solid var(--line); padding: .55rem 0; display: grid;
  grid-template-columns: 6rem 1fr; gap: 0 .5rem; }
ul.findings p { margin: .1rem 0; } ul.findings .faint { font-size: .88rem; }
ul.values { list-style: none; margin: .1rem 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0 1.2rem; }
ul.values b { font-weight: 600; font-variant-numeric: tabular-nums; color: var(--number); }
summary { cursor: pointer; font-size: .88rem; color: var(--faint); }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 29rem), 1fr)); gap: 1rem; }
figure { margin: 0; padding: .7rem .8rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; }
figcaption { font-weight: 600; margin-bottom: .4rem; } figure > svg { display: block; width: 100%; height: auto; }
ul.legend { list-style: none; margin: .3rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem 1.1rem;
  font-size: .88rem; }
ul.legend svg { vertical-align: -1px; } .left-out { margin: .3rem 0 0; font-size: .88rem; color: var(--faint); }
@media (max-width: 36rem) { ul.findings > li { grid-template-columns: 1fr; } dl.facts { grid-template-columns: 1fr; }
  dl.facts dd { margin-bottom: .4rem; } th, td { padding-right: .6rem; } }
)css";

}  // namespace ozbound::markup
