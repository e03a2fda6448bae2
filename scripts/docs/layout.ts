// The HTML around the content of a page: header with search, navigation, the headings of the page.
import { escapeHtml, type Heading } from "./markdown-page.ts"

export interface NavigationSection {
  title: string
  links: { title: string; path: string }[]
}

export interface LayoutOptions {
  title: string
  /** The path of the page in the site. */
  path: string
  html: string
  headings: Heading[]
  navigation: NavigationSection[]
}

export function layout({ title, path, html, headings, navigation }: LayoutOptions): string {
  const up = "../".repeat(path.split("/").length - 1)
  const name = title === "Karst" ? "Karst" : `${escapeHtml(title)} · Karst`
  // The policy makes the browser refuse scripts, styles and images of other servers.
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'">
<title>${name}</title>
<link rel="stylesheet" href="${up}site.css">
</head>
<body data-up="${up}">
<header>
<a class="name" href="${up}index.html">Karst</a>
<div class="search"><input type="search" id="search" placeholder="Search" aria-label="Search the documentation" hidden><ul id="results" hidden></ul></div>
</header>
<div class="columns">
<nav aria-label="Pages"><details class="menu"><summary>Pages</summary>${navigationHtml(navigation, path, up)}</details></nav>
<main>
${html}</main>
${outline(headings)}
</div>
<script src="${up}minisearch.js"></script>
<script src="${up}search-index.js"></script>
<script src="${up}search.js"></script>
</body>
</html>
`
}

function navigationHtml(navigation: NavigationSection[], current: string, up: string): string {
  return navigation
    .map(({ title, links }) => {
      const items = links.map(({ title, path }) => {
        const mark = path === current ? ' aria-current="page"' : ""
        return `<li><a href="${up}${path}"${mark}>${escapeHtml(title)}</a></li>`
      })
      return `<h2>${escapeHtml(title)}</h2><ul>${items.join("")}</ul>`
    })
    .join("\n")
}

function outline(headings: Heading[]): string {
  const sections = headings.filter(({ depth }) => depth === 2)
  // A page of the API reference has two sections with many entries.
  const shown = sections.length > 2 ? sections : headings.filter(({ depth }) => depth === 2 || depth === 3)
  if (shown.length < 2) return ""
  const items = shown.map(({ anchor, text }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`)
  return `<aside aria-label="On this page"><ul>${items.join("")}</ul></aside>`
}
