import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, test } from "node:test"
import { compatibleServices } from "../src/models/compatible-services.ts"

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

describe("a page", () => {
  for (const page of pages) {
    test(`imports the functions of Karst that its programs call, in the same or an earlier program: ${page}`, async () => {
      assert.deepEqual(missingImports(readFileSync(join(root, page), "utf8"), await publicFunctions()), [])
    })
  }

  test("has a missing import if a program calls a public function that was not imported above it", () => {
    const functions = new Map([["display", "karst/display"]])
    const missing = ['display from "karst/display"']
    assert.deepEqual(missingImports("```ts\nf(...display(run))\n```\n", functions), missing)
    assert.deepEqual(missingImports("```ts\nawait display(run)\n```\n", functions), missing)
    const late = '```ts\ndisplay(run)\n```\n```ts\nimport { display } from "karst/display"\n```\n'
    assert.deepEqual(missingImports(late, functions), missing)
    const early = '```ts\nimport { display, type Paint } from "karst/display"\n```\n```ts\ndisplay(run)\n```\n'
    assert.deepEqual(missingImports(early, functions), [])
    assert.deepEqual(missingImports("```ts\nrun.display()\nfunction display() {}\n```\n", functions), [])
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

test("docs/models.md names every service that needs no package", () => {
  const page = readFileSync(join(root, "docs/models.md"), "utf8")
  const services = Object.keys(compatibleServices)
  assert.deepEqual(
    services.filter((name) => !page.includes(`\`${name}\``) && !page.includes(`\`${name}/…\``)),
    [],
  )
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

/** Every function that a public module exports, with the first module that has it. */
async function publicFunctions(): Promise<Map<string, string>> {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { exports: object }
  const functions = new Map<string, string>()
  for (const path of Object.keys(exports).filter((path) => path !== "./package.json")) {
    const name = `karst${path.slice(1)}`
    const values: Record<string, unknown> = await import(name)
    for (const [key, value] of Object.entries(values))
      if (typeof value === "function" && !functions.has(key)) functions.set(key, name)
  }
  return functions
}

/** The public functions that a program of the page calls, and that neither it nor a program above it imports. */
function missingImports(page: string, functions: Map<string, string>): string[] {
  const missing = new Set<string>()
  const imported = new Set<string>()
  for (const [, mark = "", program = ""] of page.matchAll(/(?:^(<!-- .*)\n)?^```tsx?\n([\s\S]*?)^```$/gm)) {
    if (mark.startsWith("<!-- not run: ")) continue
    for (const [, names = ""] of program.matchAll(/^import (?:type )?\{([^}]*)\}/gm))
      for (const name of names.split(",")) imported.add(name.replace(/^\s*(?:type )?/, "").trim())
    for (const [name, path] of functions) {
      const called = new RegExp(`(?<![\\w$\`"'/]|(?<!\\.\\.)\\.|function )${name}\\(`).test(program)
      if (called && !imported.has(name)) missing.add(`${name} from "${path}"`)
    }
  }
  return [...missing]
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
