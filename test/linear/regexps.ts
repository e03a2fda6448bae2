import { globSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { tsPlugin } from "@sveltejs/acorn-typescript"
import { type Node, Parser } from "acorn"

export interface Found {
  place: string
  source: string
  flags: string
}

/** Regular expressions that only ever see short text, by a part of their source. */
const shortText: [part: string, reason: string][] = [
  ["\\{.+\\}", "the prefix that the developer configured"],
  ["\\s(\\/\\S+\\.so[\\w.]*)$", "a line of /proc/self/maps, where a path has at most 4,096 characters"],
  ["exceeds? the (max|limit)", "the first 2,000 characters of a message and of a body"],
]

const root = dirname(dirname(import.meta.dirname))
const parser = Parser.extend(tsPlugin())

/** Every regular expression in src/ that repeats something, but for those that only see short text. */
export function regexpsOfSource(): Found[] {
  const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !file.startsWith("src/testing"))
  return files.sort().flatMap((file) => {
    const code = readFileSync(`${root}/${file}`, "utf8")
    return literalsOf(parser.parse(code, { ecmaVersion: "latest", sourceType: "module", locations: true }), file)
  })
}

function literalsOf(program: Node, file: string): Found[] {
  const found: Found[] = []
  const seen = new Set<unknown>()
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null || seen.has(node)) return
    seen.add(node)
    if ("regex" in node && "loc" in node) {
      const { regex, loc } = node as { regex: { pattern: string; flags: string }; loc: { start: { line: number } } }
      const isShort = shortText.some(([part]) => regex.pattern.includes(part))
      if (!isShort && /[*+]|\{\d+,/.test(regex.pattern)) {
        found.push({ place: `${file}:${loc.start.line}`, source: regex.pattern, flags: regex.flags })
      }
    }
    for (const [key, child] of Object.entries(node)) if (key !== "loc") visit(child)
  }
  visit(program)
  return found
}
