// `npm run docs` writes the documentation as a static site into site/, and fails for a link that leads nowhere, a
// snippet that differs from its file or a list of examples that is not up to date. `npm run docs -- --write` first fills
// the snippets of the pages from their files and writes the list.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { examplesPage, listOfExamples } from "./docs/examples-list.ts"
import { brokenLinks } from "./docs/links.ts"
import { fillRegions } from "./docs/regions.ts"
import { renderSite } from "./docs/site.ts"
import { readPublicSurface } from "./public-surface.ts"
import { root } from "./tools.ts"

const write = process.argv.includes("--write")
const problems = [...snippets(write), ...exampleList(write)]
const surface = readPublicSurface()
if (!surface) process.exit(1)
const files = renderSite(root, surface)
problems.push(...brokenLinks(files))
if (problems.length > 0) {
  console.error(problems.join("\n"))
  process.exit(1)
}
const folder = join(root, "site")
rmSync(folder, { recursive: true, force: true })
for (const [path, text] of files) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
const pages = [...files.keys()].filter((path) => path.endsWith(".html")).length
console.log(`site/ has ${pages} pages. Open site/index.html.`)

function snippets(write: boolean): string[] {
  return ["README.md", ...globSync("docs/*.md", { cwd: root })].flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8")
    const filled = fillRegions(text, root)
    if (filled === text) return []
    if (!write) return [`${page}: a snippet differs from its file. Run: npm run docs -- --write`]
    writeFileSync(join(root, page), filled)
    return []
  })
}

function exampleList(write: boolean): string[] {
  const file = join(root, examplesPage)
  const list = listOfExamples(root)
  if (existsSync(file) && readFileSync(file, "utf8") === list) return []
  if (!write) return [`${examplesPage} is not up to date. Run: npm run docs -- --write`]
  writeFileSync(file, list)
  return []
}
