// Renders the site: the README, the pages of docs/, the examples, the changelog and the API reference as HTML, with a
// search index and llms.txt.
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { basename, join, posix } from "node:path"
import MiniSearch from "minisearch"
import type { PublicModule } from "../public-surface.ts"
import { apiIndex, apiPage, apiPath, linkNames } from "./api-reference.ts"
import { examplesPage, readExample } from "./examples-list.ts"
import { layout, type NavigationSection } from "./layout.ts"
import { type Page, renderMarkdown } from "./markdown-page.ts"
import { tableOfContents } from "./table-of-contents.ts"

interface SourcePage {
  /** The path in the site. */
  path: string
  /** The path in the repository; links are relative to it. A generated page has none, and links as in the site. */
  source?: string
  markdown: string
}

type RenderedPage = SourcePage & Page

const searchOptions = { fields: ["title", "page", "text"], storeFields: ["title", "page", "start"] }

/** All files of the site by their paths. */
export function renderSite(root: string, surface: PublicModule[]): Map<string, string> {
  const repository = repositoryAddress(root)
  const docs = tableOfContents(root).map(({ title, pages }) => ({
    title,
    pages: pages.map((name) => readPage(root, `docs/${name}.md`, `${name}.html`)),
  }))
  const home = readPage(root, "README.md", "index.html")
  const changelog = readPage(root, "CHANGELOG.md", "changelog.html")
  const examples = globSync("examples/*.ts", { cwd: root })
    .sort()
    .map((path) => examplePage(root, path))
  const api = surface.map((module) => ({ path: `${apiPath(module)}.html`, markdown: apiPage(module) }))
  const apiHome = { path: "api.html", markdown: apiIndex(surface) }
  const exampleList = readPage(root, examplesPage, "examples.html")
  const sources: SourcePage[] = [
    home,
    ...docs.flatMap(({ pages }) => pages),
    exampleList,
    apiHome,
    changelog,
    ...examples,
    ...api,
  ]
  const addresses = new Map(sources.flatMap(({ source, path }) => (source ? [[source, path] as const] : [])))
  addresses.set("examples", exampleList.path)
  const toSite = (page: SourcePage) => (href: string) => siteAddress(href, page, { root, addresses, repository })
  const pages: RenderedPage[] = sources.map((page) => ({ ...renderMarkdown(page.markdown, toSite(page)), ...page }))

  const titles = new Map(pages.map(({ path, title }) => [path, title]))
  const entry = ({ path }: SourcePage) => ({ path, title: (titles.get(path) ?? path).replace(/: .*$/, "") })
  const navigation: NavigationSection[] = [
    ...docs.map(({ title, pages }) => ({ title, links: pages.map(entry) })),
    { title: "Lists", links: [exampleList, apiHome, changelog].map(entry) },
  ]
  const files = new Map<string, string>()
  for (const { path, title, html, headings } of pages)
    files.set(path, layout({ title, path, html, headings, navigation }))
  for (const module of surface) {
    const path = `${apiPath(module)}.html`
    files.set(path, linkNames(files.get(path) ?? "", module, surface))
  }
  for (const { source, path, markdown } of pages)
    if (source?.endsWith(".md")) files.set(path.replace(/html$/, "md"), markdown)
  for (const image of globSync("docs/images/*", { cwd: root }))
    files.set(`images/${basename(image)}`, readFileSync(join(root, image), "utf8"))
  files.set("site.css", readFileSync(join(import.meta.dirname, "assets/site.css"), "utf8"))
  files.set("search.js", readFileSync(join(import.meta.dirname, "assets/search.js"), "utf8"))
  files.set(
    "minisearch.js",
    readFileSync(join(root, "node_modules/minisearch/dist/umd/index.js"), "utf8").replace(
      /\n\/\/# sourceMappingURL.*\n?$/,
      "\n",
    ),
  )
  files.set("search-index.js", searchIndex(pages.filter(({ path }) => path !== changelog.path)))
  files.set("llms.txt", llmsText(pages, navigation))
  return files
}

function readPage(root: string, source: string, path: string): SourcePage {
  return { source, path, markdown: readFileSync(join(root, source), "utf8") }
}

/** An example as a page: its first comment as text, then the whole file. */
function examplePage(root: string, source: string): SourcePage {
  const { about, code } = readExample(root, source)
  const name = basename(source, ".ts")
  const run = `Run it with \`npm run example -- ${name.slice(0, 2)}\` in a clone of the repository.`
  const markdown = `# Example ${name.replace("-", ": ").replaceAll("-", " ")}\n\n${about}\n\n${run}\n\n\`\`\`ts\n${code}\`\`\`\n`
  return { source, path: `examples/${name}.html`, markdown }
}

interface Places {
  root: string
  /** Paths in the site by paths in the repository. */
  addresses: Map<string, string>
  repository: string
}

/** The address in the site for a link of a page: another page, an image, or a file of the repository. */
function siteAddress(href: string, { source, path }: SourcePage, { root, addresses, repository }: Places): string {
  if (/^[a-z]+:/.test(href) || href.startsWith("#") || source === undefined) return href
  const [file = "", anchor] = href.split("#")
  const target = posix.join(posix.dirname(source), file).replace(/\/$/, "")
  const end = anchor === undefined ? "" : `#${anchor}`
  const page = addresses.get(target) ?? (target.startsWith("docs/images/") ? target.slice("docs/".length) : undefined)
  if (page !== undefined) return `${posix.relative(posix.dirname(path), page)}${end}`
  // It stays as it is, and the check of links reports it.
  if (!existsSync(join(root, target))) return href
  const kind = statSync(join(root, target)).isDirectory() ? "tree" : "blob"
  return `${repository}/${kind}/main/${target}${end}`
}

function repositoryAddress(root: string): string {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { repository: { url: string } }
  return repository.url.replace(/^git\+/, "").replace(/\.git$/, "")
}

/** The index is a script and not JSON, so that the search also works for a page that is opened from a folder. */
function searchIndex(pages: RenderedPage[]): string {
  const index = new MiniSearch(searchOptions)
  for (const { path, title, parts } of pages) {
    for (const { heading, text } of parts) {
      const id = heading.depth === 1 ? path : `${path}#${heading.anchor}`
      index.add({ id, page: title, title: heading.text, text, start: text.slice(0, 120).replace(/\s\S*$/, " …") })
    }
  }
  const options = JSON.stringify(searchOptions)
  return `const searchOptions = ${options}\nconst searchIndex = ${JSON.stringify(JSON.stringify(index))}\n`
}

/** A list of the pages with one line each, for language models: https://llmstxt.org */
function llmsText(pages: RenderedPage[], navigation: NavigationSection[]): string {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const parts = navigation.map(({ title, links }) => {
    const lines = links.map(({ title, path }) => {
      const page = byPath.get(path)
      const file = page?.source?.endsWith(".md") ? path.replace(/html$/, "md") : path
      return `- [${title}](${file}): ${page?.summary ?? ""}`
    })
    return `## ${title}\n\n${lines.join("\n")}`
  })
  return `# Karst\n\n> ${byPath.get("index.html")?.summary ?? ""}\n\n${parts.join("\n\n")}\n`
}
