// The API reference: one Markdown page for each public module, with the comments of the source.
import type { PublicExport, PublicModule } from "../public-surface.ts"

/** The path of a module's page in the site, without its ending. */
export function apiPath({ name }: { name: string }): string {
  return `api/${name.replaceAll("/", "-")}`
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
    ...part("Functions and classes", values),
    ...part("Types", types),
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
