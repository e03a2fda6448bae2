// Keeps snippets of pages equal to regions of tested files. In a page, a comment `<!-- region examples/03-session.ts#send
// -->` before a code block names the file and the region; without a name it is the whole file. In the file, a region is
// the lines between `// #region send` and `// #endregion`.
import { readFileSync } from "node:fs"
import { extname, join } from "node:path"

export interface Region {
  /** The line of the comment in the page. */
  line: number
  path: string
  name?: string | undefined
  /** What the block of the page contains now. */
  written: string
}

const marked = /^<!-- region ([^\s#]+)(?:#([\w-]+))? -->\n+(```+)(\w*)\n([\s\S]*?)^\3$/gm

/** The regions that a page names. Throws for a comment that no code block follows. */
export function regionsOf(page: string): Region[] {
  const found = [...page.matchAll(marked)].map(({ index, 1: path = "", 2: name, 5: written = "" }) => ({
    line: lineAt(page, index),
    path,
    name,
    written,
  }))
  const comments = [...page.matchAll(/^<!-- region .*$/gm)].map(({ index }) => lineAt(page, index))
  const lost = comments.find((line) => !found.some((region) => region.line === line))
  if (lost !== undefined)
    throw new Error(`Line ${lost} names a region, but no code block follows. Add an empty one: \`\`\`ts, then \`\`\`.`)
  return found
}

/** The page with every block filled from its file. */
export function fillRegions(page: string, root: string): string {
  regionsOf(page)
  return page.replaceAll(marked, (_, path: string, name: string | undefined, fence: string, tag: string) => {
    const label = `${path}${name === undefined ? "" : `#${name}`}`
    const code = readRegion(root, path, name)
    return `<!-- region ${label} -->\n${fence}${tag || extname(path).slice(1)}\n${code}${fence}`
  })
}

/** The lines of a region, with common indentation removed and without the comments that mark regions. */
export function readRegion(root: string, path: string, name?: string): string {
  const lines = readFileSync(join(root, path), "utf8").trimEnd().split("\n")
  const chosen = name === undefined ? lines : linesOf(lines, name, path)
  const kept = chosen.filter((line) => !/^\s*\/\/ #(?:end)?region\b/.test(line))
  const indents = kept.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
  const indent = Math.min(...indents)
  return kept.map((line) => `${line.slice(indent)}\n`).join("")
}

function linesOf(lines: string[], name: string, path: string): string[] {
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`)
  if (start === -1) throw new Error(`${path} has no region "${name}". Mark it: // #region ${name} … // #endregion`)
  const length = lines.slice(start + 1).findIndex((line) => line.trim() === "// #endregion")
  if (length === -1) throw new Error(`The region "${name}" of ${path} has no end. Add the line: // #endregion`)
  return lines.slice(start + 1, start + 1 + length)
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length
}
