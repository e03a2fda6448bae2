// The API reference: one Markdown page for each public module, with the comments of the source.
import type { PublicExport, PublicModule } from "../public-surface.ts"
import { uniqueAnchor } from "./markdown-page.ts"

const titles = { values: "Functions and classes", types: "Types" }

/** The path of a module's page in the site, without its ending. */
export function apiPath({ name }: { name: string }): string {
  return `api/${name.replaceAll("/", "-")}`
}

/** The page of a module with links from the names in its code to the places where they are described: in this module, or
 *  in the first one that exports them. */
export function linkNames(html: string, module: PublicModule, modules: PublicModule[]): string {
  const places = new Map<string, string>()
  for (const other of [module, ...modules]) {
    const page = other.name === module.name ? "" : `${apiPath(other).replace("api/", "")}.html`
    for (const [name, anchor] of anchorsOf(other)) if (!places.has(name)) places.set(name, `${page}#${anchor}`)
  }
  return html.replaceAll(/<span class="(cyan|blue)">(\w+)<\/span>/g, (text, style: string, name: string) => {
    const place = places.get(name)
    return place === undefined ? text : `<a class="${style}" href="${place}">${name}</a>`
  })
}

/** The anchors of the names, which may differ only in case, in the order of the page. */
function anchorsOf({ name, exports }: PublicModule): [name: string, anchor: string][] {
  const taken = new Map<string, number>()
  for (const heading of [name, ...Object.values(titles)]) uniqueAnchor(heading, taken)
  return [...exports.filter(({ isType }) => !isType), ...exports.filter(({ isType }) => isType)].map(({ name }) => [
    name,
    uniqueAnchor(name, taken),
  ])
}

export function apiIndex(modules: PublicModule[]): string {
  const rows = modules.map((module) => `| [\`${module.name}\`](${apiPath(module)}.html) | ${summaryOf(module)} |`)
  return `# API reference\n\nEvery public module, generated from the types.\n\n| module | for |\n|---|---|\n${rows.join("\n")}\n`
}

export function apiPage(module: PublicModule): string {
  const values = module.exports.filter(({ isType }) => !isType)
  const types = module.exports.filter(({ isType }) => isType)
  const first = values[0]?.name ?? types[0]?.name ?? ""
  return [
    `# ${module.name}`,
    `${summaryOf(module)}`,
    `\`\`\`ts\nimport { ${first} } from "${module.name}"\n\`\`\``,
    ...part(titles.values, values),
    ...part(titles.types, types),
  ].join("\n\n")
}

function part(title: string, exports: PublicExport[]): string[] {
  if (exports.length === 0) return []
  return [`## ${title}`, ...exports.map(entry)]
}

function entry({ name, comment, declaration }: PublicExport): string {
  const fence = declaration.includes("```") ? "````" : "```"
  return [
    `### ${name}`,
    ...(comment === "" ? [] : [prose(comment)]),
    `${fence}ts\n${dedented(declaration)}\n${fence}`,
  ].join("\n\n")
}

/** A comment as Markdown: its tags become plain words, and text in angle brackets is not HTML. */
function prose(comment: string): string {
  return comment
    .replaceAll(/\{@link ([^}]+)\}/g, "`$1`")
    .replaceAll(/^@(\w+) /gm, "\n**$1** ")
    .replaceAll(/`[^`]*`|</g, (text) => (text === "<" ? "&lt;" : text))
}

function dedented(declaration: string): string {
  return declaration.replaceAll(/^(?: {4})+/gm, (spaces) => " ".repeat(spaces.length / 2))
}

function summaryOf({ name, summary }: PublicModule): string {
  const text = summary.startsWith(`${name}: `) ? summary.slice(name.length + 2) : summary
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
