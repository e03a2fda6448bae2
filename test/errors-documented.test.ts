import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, test } from "node:test"

const root = dirname(import.meta.dirname)
const read = (file: string) => readFileSync(join(root, file), "utf8")
const page = read("docs/errors.md")
const sources = globSync("src/**/*.ts", { cwd: root }).sort()

describe("docs/errors.md", () => {
  test("lists every kind of error that the model can mend", () => {
    const kinds = unionsOf(read("src/core/event.ts"), "ActionErrorKind")
    assert.ok(kinds.length > 10)
    const documented = [...page.matchAll(/^\| `([a-z]+)` \| [^|]+\|$/gm)].map(([, kind]) => kind)
    assert.deepEqual(documented.toSorted(), kinds.toSorted())
  })

  test("lists every code of an AgentError, and none that is not there", () => {
    const found = new Map<string, string>()
    for (const file of sources) for (const code of codesIn(read(file))) found.set(code, file)
    assert.ok(found.size > 30)
    const rows = page.split("\n").filter((line) => /^\| `\w*Error` \|/.test(line))
    const documented = rows.flatMap((row) =>
      [...(row.split("|")[2] ?? "").matchAll(/`([a-z-]+)`/g)].map(([, code]) => code),
    )
    const missing = [...found].filter(([code]) => !documented.includes(code)).map(([code, file]) => `${code} (${file})`)
    assert.deepEqual(missing, [], "say in docs/errors.md what they mean and what helps")
    assert.deepEqual(
      documented.filter((code) => code && !found.has(code)),
      [],
      "documented, but nowhere in the source",
    )
  })
})

/** The members of unions of texts whose names fit. */
function unionsOf(source: string, name: string): string[] {
  const unions = source.matchAll(new RegExp(`type ${name} =((?:\\s*\\|?\\s*"[a-z-]+")+)`, "g"))
  return [...unions].flatMap(([, members = ""]) => textsIn(members))
}

/** The codes that a source gives to errors: where one is made, where its class is, or where they are a type. */
function codesIn(source: string): string[] {
  const made = [...source.matchAll(/\b(?:new \w*Error|super)\(/g)].flatMap(({ index, 0: head }) => {
    const [, code] = /\bcode: "([a-z-]+)"/.exec(untilClosed(source, index + head.length)) ?? []
    return code ?? []
  })
  return [...made, ...unionsOf(source, "\\w*ErrorCode")]
}

/** What stands between here and the end of the call. */
function untilClosed(source: string, start: number): string {
  let depth = 1
  let at = start
  for (; depth > 0 && at < source.length; at++) depth += source[at] === "(" ? 1 : source[at] === ")" ? -1 : 0
  return source.slice(start, at)
}

function textsIn(source: string): string[] {
  return [...source.matchAll(/"([a-z-]+)"/g)].map(([, text = ""]) => text)
}
