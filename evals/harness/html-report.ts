// The HTML report: one self-contained file with all tables and plots, readable in light and dark.
import type { Chapter } from "./chapters.ts"
import { escapeHtml, markdownToHtml } from "./markup.ts"
import { drawPlot } from "./plot.ts"
import type { Section, Table } from "./suite.ts"
import { isNumeric, rowTexts } from "./tables.ts"

export function htmlReport(chapters: readonly Chapter[]): string {
  const links = chapters.map(({ id, title }) => `<a href="#${id}">${escapeHtml(title)}</a>`).join("")
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Karst: evidence</title>
<style>${css}</style>
</head>
<body>
<header><h1>Karst: evidence</h1><nav>${links}</nav></header>
<main>
${chapters.map(chapterHtml).join("\n")}
</main>
</body>
</html>
`
}

function chapterHtml({ id, title, text, checks, sections, facts }: Chapter): string {
  return [
    `<section id="${id}">`,
    `<h2>${escapeHtml(title)}</h2>`,
    markdownToHtml(text),
    checks.rows.length > 0 ? tableHtml(checks, "checks") : "",
    ...sections.map(sectionHtml),
    facts ? `<p class="facts">${escapeHtml(facts)}</p>` : "",
    "</section>",
  ]
    .filter(Boolean)
    .join("\n")
}

function sectionHtml({ title, text, table, plot }: Section): string {
  return [
    `<h3>${escapeHtml(title)}</h3>`,
    text ? markdownToHtml(text) : "",
    table ? tableHtml(table) : "",
    plot ? drawPlot(plot) : "",
  ]
    .filter(Boolean)
    .join("\n")
}

function tableHtml({ columns, rows }: Table, kind = ""): string {
  const cell = (tag: string) => (text: string, index: number) =>
    `<${tag}${isNumeric(columns[index]) ? ' class="number"' : ""}>${escapeHtml(text)}</${tag}>`
  const head = columns.map(({ name }) => name).map(cell("th"))
  const body = rows.map((row) => `<tr>${rowTexts(row, columns).map(cell("td")).join("")}</tr>`)
  return `<div class="table ${kind}"><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>`
}

const css = `
:root { color-scheme: light dark; --text: #1d2329; --quiet: #5c6670; --back: #fdfdfb; --box: #f1f2ee; --line: #d9dcd6;
  --series-1: #7a828a; --series-2: #b08a3c; --series-3: #2f74b5; --series-4: #1f8a5b; --series-5: #a2457f; --series-6: #c2512f; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e6e3; --quiet: #9aa39f; --back: #16191b; --box: #1f2426; --line: #363c3f;
  --series-1: #9aa2aa; --series-2: #d3ae62; --series-3: #63a5e2; --series-4: #4fbf8b; --series-5: #d682b6; --series-6: #e58263; } }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
header, main { max-width: 76rem; margin: 0 auto; padding: 1.2rem; }
h1 { margin: .5rem 0; font-size: 1.8rem; } h2 { margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 2px solid var(--line); }
h3 { margin: 1.8rem 0 .4rem; } p, ul { max-width: 46rem; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; } a { color: var(--series-3); }
code { background: var(--box); padding: .1em .3em; border-radius: 4px; font-size: .9em; }
.table { overflow-x: auto; margin: .8rem 0; } table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .5rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; vertical-align: top; }
th { color: var(--quiet); font-weight: 600; white-space: normal; vertical-align: bottom; min-width: 3.5rem; } .number { text-align: right; }
.checks td:first-child { white-space: normal; } .facts, small { color: var(--quiet); font-size: .85rem; }
figure { margin: 1rem 0; padding: 1rem; overflow-x: auto; background: var(--box); border-radius: 8px; } figcaption { font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: .3rem 0 .5rem; font-size: .88rem; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: 2px; }
svg { display: block; width: 100%; min-width: 36rem; height: auto; } svg text { fill: var(--quiet); font-size: 11px; font-family: inherit; }
.label, .value { text-anchor: middle; } .mark { text-anchor: end; } .grid { stroke: var(--line); } .zero { stroke: var(--quiet); }
`
