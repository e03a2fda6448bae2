// Keeps snippets of pages equal to regions of tested files. In a page, a comment `<!-- region examples/03-session.ts#send
// -->` before a code block names the file and the region; without a name it is the whole file. In the file, a region is
// the lines between `// #region send` and `// #endregion` (`# #region` in Python). Lines can belong to several regions
// (`// #region send close`), and a region can have several parts: they are joined, with an empty line in between.
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
  const parts = name === undefined ? [lines] : partsOf(lines, name, path)
  return parts.map(dedented).join("\n")
}

function dedented(lines: string[]): string {
  const kept = lines.filter((line) => !mark.test(line))
  const indents = kept.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
  const indent = Math.min(...indents)
  return kept.map((line) => `${line.slice(indent)}\n`).join("")
}

const mark = /^\s*(?:\/\/|#) #(?:end)?region\b(.*)$/

function partsOf(lines: string[], name: string, path: string): string[][] {
  const starts = lines.flatMap((line, index) => (isStart(line, name) ? [index + 1] : []))
  if (starts.length === 0)
    throw new Error(`${path} has no region "${name}". Mark it: // #region ${name} … // #endregion`)
  return starts.map((start) => {
    const length = lines.slice(start).findIndex((line) => mark.test(line))
    if (length === -1 || !lines[start + length]?.includes("#endregion"))
      throw new Error(`The region "${name}" of ${path} has no end. Add the line: // #endregion`)
    return lines.slice(start, start + length)
  })
}

function isStart(line: string, name: string): boolean {
  const [, names = ""] = mark.exec(line) ?? []
  return line.includes("#region") && names.trim().split(/\s+/).includes(name)
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length
}
