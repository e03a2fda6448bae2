import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, matchesGlob } from "node:path"
import { describe, test } from "node:test"
import { marked, type Token, type Tokens } from "marked"

const root = dirname(import.meta.dirname)
const read = (path: string) => readFileSync(join(root, path), "utf8")
const manifest: { files: string[]; exports: Record<string, unknown> } = JSON.parse(read("package.json"))
const sections = sectionsOf(read("README.md"))
const links = [...sections.values()].flatMap(linksIn).filter(({ href }) => !/^(?:https?:|#)/.test(href))

describe("README.md", () => {
  test("links to files that exist", () => {
    assert.ok(links.length > 60, `${links.length} links`)
    const lost = links.map(({ href }) => href.replace(/#.*/, "")).filter((path) => !existsSync(join(root, path)))
    assert.deepEqual(lost, [])
  })

  test("links to a test by a title that a test of the file has", () => {
    const tests = links.filter(({ href }) => href.startsWith("test/"))
    assert.ok(tests.length > 20, `${tests.length} links`)
    const wrong = tests.filter(({ href, title }) => !titlesIn(read(href)).some((pattern) => pattern.test(title ?? "")))
    assert.deepEqual(
      wrong.map(({ href, title }) => `${href} has no test "${title}"`),
      [],
    )
  })

  test("says of links to files that are not in the package that they lead to the repository", () => {
    const unsaid = [...sections].filter(
      ([, tokens]) =>
        !/in\s+the\s+repository/.test(tokens.map(({ raw }) => raw).join("")) &&
        linksIn(tokens).some(({ href }) => !/^(?:https?:|#)/.test(href) && !isPacked(href.replace(/#.*/, ""))),
    )
    assert.deepEqual(
      unsaid.map(([heading]) => heading),
      [],
    )
  })

  test("lists every public module", () => {
    const [, listed = ""] = /Everything else is in ([\s\S]*?)\.\n/.exec(textOf("Parts")) ?? []
    assert.deepEqual(
      [...listed.matchAll(/`(karst\/\w+)`/g)].map(([, name]) => name).sort(),
      Object.keys(manifest.exports)
        .filter((path) => path !== "." && path !== "./package.json")
        .map((path) => path.replace(".", "karst"))
        .sort(),
    )
  })

  test("lists every benchmark", () => {
    const [, listed = ""] = /npm run bench \[-- ([\s\S]*?)\]/.exec(textOf("Benchmarks")) ?? []
    const [, table = ""] = /const benches[^{]*\{([\s\S]*?)\n\}/.exec(read("bench/main.ts")) ?? []
    const names = [...table.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)
    assert.ok(names.length > 10)
    assert.deepEqual(listed.split(/\s+/), names)
  })
})

describe("the comparison of README.md", () => {
  const table = sections.get("Compared with others")?.find((token): token is Tokens.Table => token.type === "table")
  const rows = table?.rows ?? []

  test("has a test for each claim about Karst", () => {
    assert.ok(rows.length >= 15, `${rows.length} rows`)
    const unproven = rows.filter(([, karst]) => {
      const shown = linksIn(karst?.tokens ?? [])
      return shown.length === 0 || !shown.every(({ href, text }) => text === "✓" && href.endsWith(".test.ts"))
    })
    assert.deepEqual(
      unproven.map(([what]) => what?.text),
      [],
    )
  })

  test("has one of the three signs for each of the others", () => {
    for (const [what, , ...others] of rows) {
      assert.equal(others.length, 7)
      assert.deepEqual(
        others.map(({ text }) => text).filter((sign) => !["✓", "◐", "–"].includes(sign)),
        [],
        what?.text,
      )
    }
  })
})

describe("the figures of README.md under Evidence", () => {
  const evidence = sectionsOf(read("docs/evidence.md"))
  const text = textOf("Evidence").replaceAll(/\s+/g, " ")

  for (const [what, said, [suite, style, against, column]] of [
    ["tool calls one by one", /code needs about (\d+) % fewer tokens/, ["retail", "code-proj", "json-seq", "total"]],
    ["parallel tool calls", /about (\d+) % fewer than parallel/, ["retail", "code-proj", "json-par", "total"]],
    ["the cost of small results", /costs (\d+) to \d+ % more/, ["bfcl", "code-proj", "json-seq", "cost, cached"]],
    ["and in parallel", /costs \d+ to (\d+) % more/, ["bfcl", "code-proj", "json-par", "cost, cached"]],
    ["tables as text", /live tables need (\d+) % fewer/, ["data", "karst-ts", "json", "total"]],
    ["columns as text", /(\d+) % fewer than only the needed/, ["data", "karst-ts", "json-columns", "total"]],
    ["code that keeps nothing", /and (\d+) % fewer than code/, ["data", "karst-ts", "codeact-ts", "total"]],
  ] as const) {
    test(`are those of docs/evidence.md: ${what}`, () => {
      const figure = Math.abs(changeIn(evidence.get(suite) ?? [], style, against, column))
      const [, written] = said.exec(text) ?? []
      assert.ok(Math.abs(Number(written) - figure) <= 0.5, `${written} % is written, and the page has ${figure} %`)
    })
  }

  test("are of as many tasks as docs/evidence.md has", () => {
    const [, tasks] = /On (\d+) customer service tasks/.exec(text) ?? []
    const [, questions] = /On (\d+) questions about tables/.exec(text) ?? []
    const rowOf = (suite: string, style: string) =>
      new RegExp(`^\\| ${style} \\| \\d+ \\| (\\d+) `, "m").exec(rawOf(evidence.get(suite) ?? []))?.[1]
    assert.deepEqual([tasks, questions], [rowOf("retail", "code-proj"), rowOf("data", "karst-ts")])
  })
})

/** The tokens of a page by the headings of its sections; those before the first one are under "". */
function sectionsOf(page: string): Map<string, Token[]> {
  const found = new Map<string, Token[]>([["", []]])
  let tokens: Token[] = []
  found.set("", tokens)
  for (const token of marked.lexer(page)) {
    if (token.type === "heading" && token.depth === 2) {
      tokens = []
      found.set(token.text, tokens)
    } else tokens.push(token)
  }
  return found
}

function textOf(heading: string): string {
  return rawOf(sections.get(heading) ?? [])
}

function rawOf(tokens: Token[]): string {
  return tokens.map(({ raw }) => raw).join("")
}

function linksIn(tokens: Token[]): Tokens.Link[] {
  const found: Tokens.Link[] = []
  marked.walkTokens(tokens, (token) => {
    if (token.type === "link") found.push(token as Tokens.Link)
  })
  return found
}

/** Patterns of the titles of tests in a file. A title that is made for each case of a table has gaps. */
function titlesIn(source: string): RegExp[] {
  return [...source.matchAll(/\btest\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g)].flatMap(
    ([, double, single, template]) => {
      const parts = (double ?? single ?? template ?? "").split(/\$\{[^}]*\}/)
      // Anything would fit a title that is only a gap.
      if (parts.join("").trim() === "") return []
      return new RegExp(`^${parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join(".+")}$`)
    },
  )
}

/** Whether npm packs a file. */
function isPacked(path: string): boolean {
  const matches = (pattern: string) => path === pattern || matchesGlob(path, `${pattern}/**`)
  const { files } = manifest
  if (files.some((pattern) => pattern.startsWith("!") && matches(pattern.slice(1)))) return false
  return ["README.md", "LICENSE", "package.json", ...files].some(matches)
}

/** The change of a column in percent, from the first table of a suite that compares styles. */
function changeIn(suite: Token[], style: string, against: string, column: string): number {
  for (const table of suite.filter((token): token is Tokens.Table => token.type === "table")) {
    const index = table.header.findIndex(({ text }) => text === column)
    const row = table.rows.find(([first, second]) => first?.text === style && second?.text === against)
    if (table.header[1]?.text !== "against" || index === -1 || !row) continue
    return Number(row[index]?.text.replace("−", "-").replace(" %", ""))
  }
  throw new Error(`docs/evidence.md does not compare ${style} with ${against}.`)
}
