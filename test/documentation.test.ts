import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, test } from "node:test"

const root = dirname(import.meta.dirname)
const pages = ["README.md", ...globSync("docs/*.md", { cwd: root }).sort()]
const generated = "docs/what-the-model-sees.md" // test/what-the-model-sees.test.ts compares the whole page

describe("a program in README.md or docs/", () => {
  for (const page of pages.filter((page) => page !== generated)) {
    test(`is a part of a tested file: ${page}`, () => {
      assert.deepEqual(untestedPrograms(readFileSync(join(root, page), "utf8")), [])
    })
  }

  test("is found if it is not marked", () => {
    assert.deepEqual(untestedPrograms("a\n\n```ts\nf()\n```\n"), ["line 3: f()"])
    assert.deepEqual(untestedPrograms("- a\n\n  ```json\n  {}\n  ```\n"), ["line 3: {}"])
    assert.deepEqual(untestedPrograms("<!-- region a.ts -->\n```ts\nf()\n```\n"), [])
    assert.deepEqual(untestedPrograms("```sh\nls\n```\n```text\nf()\n```\n"), [])
  })
})

test("README.md and docs/getting-started.md show what their first program prints", () => {
  const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]
  const program = join(root, "examples/01-hello.ts")
  const { MODEL: _, ...env } = process.env
  const { stdout } = spawnSync(process.execPath, [...flags, program], { encoding: "utf8", env })
  for (const page of ["README.md", "docs/getting-started.md"]) {
    const [, printed] =
      /<!-- region examples\/01-hello\.ts#program -->[\s\S]*?^```text\n([\s\S]*?)^```$/m.exec(
        readFileSync(join(root, page), "utf8"),
      ) ?? []
    assert.equal(printed, stdout, page)
  }
})

describe("docs/events.md", () => {
  const files = globSync("src/**/*.ts", { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"))

  test("names every code of a warning, or docs/providers.md does", () => {
    const codes = new Set(files.flatMap(warningCodes))
    assert.ok(codes.size > 30, `${codes.size} codes`)
    const documented = ["docs/events.md", "docs/providers.md"]
      .map((page) => readFileSync(join(root, page), "utf8"))
      .join()
    assert.deepEqual(
      [...codes].filter((code) => !documented.includes(`\`${code}\``)),
      [],
    )
  })

  test("names every type of event", () => {
    const [, union = ""] = /export type EventBody =([\s\S]*?)\n\n/.exec(files.find(hasEvents) ?? "") ?? []
    const types = [...union.matchAll(/type: "([a-z-]+)"/g)].map(([, type]) => type)
    assert.ok(types.length > 20, `${types.length} types`)
    const page = readFileSync(join(root, "docs/events.md"), "utf8")
    assert.deepEqual(
      types.filter((type) => !page.includes(`\`${type}\``)),
      [],
    )
  })
})

function hasEvents(source: string): boolean {
  return source.includes("export type EventBody =")
}

/** Codes in objects of the type "warning-raised" or "warning", in calls of onWarning, and in constants for them. */
function warningCodes(source: string): string[] {
  const written = source.matchAll(
    /(?:(?:type: "warning(?:-raised)?",|onWarning\?\.\(\{)\s*code: |\bwarn\(\s*)(?:"([a-z-]+)"|(\w+))/g,
  )
  return [...written].flatMap(([, code, constant]) => {
    if (code !== undefined) return [code]
    const [, value] = new RegExp(`^const ${constant} = "([a-z-]+)"`, "m").exec(source) ?? []
    return value === undefined ? [] : [value]
  })
}

const languages = new Set(["ts", "js", "tsx", "jsx", "python", "json", "markdown", "dockerfile", "yaml"])

/**
 * The blocks of code that neither are a region of a file nor are marked as foreign programs. Files of regions are tests,
 * or files that tests run.
 */
function untestedPrograms(page: string): string[] {
  const lines = page.split("\n")
  const found: string[] = []
  let fence: string | undefined
  for (const [index, line] of lines.entries()) {
    const [, opened, language = ""] = /^\s*(`{3,})(\w*)/.exec(line) ?? []
    if (fence !== undefined) {
      if (line.trim() === fence) fence = undefined
    } else if (opened !== undefined) {
      fence = opened
      const marked = /^\s*<!-- (?:region |not run: )/.test(lines[index - 1] ?? "")
      if (languages.has(language) && !marked) found.push(`line ${index + 1}: ${lines[index + 1]?.trim()}`)
    }
  }
  return found
}
