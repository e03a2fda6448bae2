// The style of the HTML page of a trajectory. Light and dark follow the browser.
export const pageStyle = `
:root {
  --back: #ffffff; --text: #1f2328; --dim: #59636e; --line: #d1d9e0; --block: #f6f8fa; --accent: #0969da;
  --red: #c4212b; --green: #116329; --yellow: #8a4600; --blue: #0550ae; --magenta: #7d3fc0; --cyan: #0b6b78;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0d1117; --text: #e6edf3; --dim: #9198a1; --line: #30363d; --block: #161b22; --accent: #58a6ff;
    --red: #ff8a80; --green: #7ee787; --yellow: #f2b35c; --blue: #79c0ff; --magenta: #d2a8ff; --cyan: #76d9e6;
  }
}
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.5rem; max-width: 62rem; background: var(--back); color: var(--text);
  font: 15px/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.3rem; margin: 0 0 .8rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0 0 .8rem }
dt, small, .note, nav, label { color: var(--dim) }
dd { margin: 0 }
a { color: var(--accent); text-decoration: none }
nav ol { padding-left: 1.5rem }
.step { border-top: 1px solid var(--line); padding: .6rem 0 .9rem }
.step:target > h2 { background: var(--block) }
h2 { font-size: .95rem; margin: 0 0 .4rem }
h3 { font-size: .85rem; margin: 0 0 .3rem; font-weight: 600 }
h2 small, h3 small { font-weight: 400; margin-left: .4rem }
.user > .prose, .user > .fold .prose { border-left: 3px solid var(--accent); padding-left: .8rem }
.karst, .end { color: var(--dim) }
.end .prose { color: var(--red) }
.prose { white-space: pre-wrap }
.prose pre { white-space: pre-wrap }
.table { overflow-x: auto; white-space: normal; overflow-wrap: normal }
table { border-collapse: collapse }
th, td { padding: .2rem .7rem .2rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
.heading { font-size: 1.05em }
code, pre { font: 13px/1.5 ui-monospace, monospace }
code { background: var(--block); padding: .1em .3em; border-radius: 4px }
pre { margin: .3rem 0; padding: .6rem .8rem; background: var(--block); border-radius: 6px; white-space: pre-wrap }
pre.output { background: none; border-left: 3px solid var(--line); border-radius: 0; color: var(--dim) }
pre.error { background: none; border-left: 3px solid var(--red); border-radius: 0; color: var(--red) }
pre i { font-style: normal }
.red { color: var(--red) } .green { color: var(--green) } .yellow { color: var(--yellow) } .blue { color: var(--blue) }
.magenta { color: var(--magenta) } .cyan { color: var(--cyan) } .dim { color: var(--dim) }
.action { margin: .6rem 0 }
.action.failed h3 small, li.failed { color: var(--red) }
.calls { margin: .3rem 0; padding-left: 1.2rem }
.fold > summary { list-style: none }
.fold[open] > summary > :not(.more) { display: none }
.fold[open] > summary > .more { font-size: 0 }
.fold[open] > summary > .more::before { content: "show less"; font-size: .85rem }
.more { color: var(--accent); font-size: .85rem }
summary { cursor: pointer; color: var(--dim) }
.nested { margin: .6rem 0 0 .4rem; padding-left: 1rem; border-left: 3px solid var(--magenta) }
.system { margin: .6rem 0 }
.note { margin: .3rem 0; font-size: .9rem }
img { display: block; max-width: 100%; margin: .4rem 0; background: #ffffff; border-radius: 6px }
body:has(#hide-actions:checked) .action { display: none }
@media (max-width: 40rem) { body { padding: .8rem } .nested { padding-left: .5rem } }
`
