import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, before, describe, test } from "node:test"

const root = dirname(import.meta.dirname)
const pages = ["README.md", ...globSync("docs/*.md", { cwd: root }).sort()]
const { exports }: { exports: Record<string, string | { "karst-source": string }> } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
)
const sources = Object.fromEntries(
  Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [[path.replace(".", "karst"), join(root, target["karst-source"])]],
  ),
)

// What the pages leave to the reader: things of Karst with their types, and the reader's own, of any type.
const types = {
  CodeAgent: "agent analyst journal ours poet refunds researcher reviewer writer",
  'CellAgent & { runtime: NonNullable<CellAgent["runtime"]> }': "cleaner",
  Engine: "engine",
  Model: "model bossModel strongModel",
  'RunInfo["pending"]': "pending",
  Runtime: "runtime",
  CodeSession: "session",
  "Tool[]": "tools",
  Workspace: "workspace",
  "Record<string, CodeAgent>": "agents",
  "{ of(user: string): Promise<CodeSession> }": "sessions",
  string: "_history_1 apiKey bucket code cwd id key next one three two url",
}
const readersOwn = `addTask ask askSomebody approver audit bindings cached cardNumber cart credentials db deadline deploy
  description event f file freshFolder freshName isHarmless isOffTopic isRisky light log lookUp looksStuck mail myBackend myRuntime myStore
  myWorkspace noSecrets notify object openDatabase orders parse pay rawData records reminder render reporting sales schema show tasks total value wipe`
const readersClasses = "Class Light Row Task"

describe("the snippets of README.md and docs/", () => {
  let folder: string
  let errors: string[]

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-documentation-"))
    await symlink(join(root, "node_modules"), join(folder, "node_modules"))
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }))
    await writeFile(join(folder, "names.ts"), globals())
    await writeFile(
      join(folder, "engine.ts"),
      'import type { Engine } from "karst/engine"\nexport declare const engine: Engine',
    )
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(configuration()))
    const values = await exportedValues()
    for (const page of pages) {
      for (const { line, code } of snippetsOf(page)) {
        await writeFile(join(folder, fileOf(page, line)), `${importsFor(code, values)}export {}\n${code}`)
      }
    }
    const tsc = join(root, "node_modules/typescript/bin/tsc")
    const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { cwd: folder, encoding: "utf8" })
    errors = stdout.split("\n").filter((line) => line !== "")
  })

  after(() => rm(folder, { recursive: true }))

  for (const page of pages) {
    const snippets = snippetsOf(page)
    if (snippets.length === 0) continue
    test(`${page} has snippets that compile`, () => {
      for (const { line } of snippets) {
        assert.deepEqual(
          errors.filter((error) => error.startsWith(`${fileOf(page, line)}(`)),
          [],
          `the snippet at line ${line} of ${page}`,
        )
      }
    })
  }

  test("compile with declarations that are right themselves", () => {
    const files = new Set(pages.flatMap((page) => snippetsOf(page).map(({ line }) => fileOf(page, line))))
    assert.ok(files.size > 80)
    assert.deepEqual(
      errors.filter((error) => /^\S+\(\d+,\d+\): error/.test(error) && !files.has(error.slice(0, error.indexOf("(")))),
      [],
    )
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

/** The snippets of a page, except regions of files: those are compiled with their files. */
function snippetsOf(page: string): { line: number; code: string }[] {
  const text = readFileSync(join(root, page), "utf8")
  return [...text.matchAll(/^(?<!^<!-- region .*\n+)```ts\n([\s\S]*?)^```$/gm)].map((match) => ({
    line: text.slice(0, match.index).split("\n").length,
    code: match[1] ?? "",
  }))
}

function fileOf(page: string, line: number): string {
  return `${page.replaceAll(/[^\w]/g, "-")}-${line}.ts`
}

/** Imports of what the snippet uses of Karst and neither imports nor declares itself. */
function importsFor(code: string, values: Map<string, string>): string {
  return [...values]
    .filter(
      ([name]) =>
        new RegExp(`(?<![.\\w"'\`])${name}(?=[(<])`).test(code.replaceAll("...", "")) && !declares(code, name),
    )
    .map(([name, module]) => `import { ${name} } from "${module}"; `)
    .join("")
}

function declares(code: string, name: string): boolean {
  return new RegExp(`\\b(?:const|class|function) ${name}\\b|\\b(?:import|const) (?:type )?\\{[^}]*\\b${name}\\b`).test(
    code,
  )
}

async function exportedValues(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const module of Object.keys(sources)) {
    for (const name of Object.keys(await import(module))) if (!found.has(name)) found.set(name, module)
  }
  return found
}

function globals(): string {
  const typed = Object.entries(types).flatMap(([type, names]) =>
    names.split(/\s+/).map((name) => `  const ${name}: ${type}`),
  )
  const own = readersOwn.split(/\s+/).map((name) => `  const ${name}: any`)
  const classes = readersClasses
    .split(" ")
    .map((name) => `  class ${name} { [member: string]: any; constructor(...given: any[]) }`)
  return [
    'import type { CellAgent, CodeAgent, CodeSession, Runtime, Tool } from "karst"',
    'import type { Engine, RunInfo } from "karst/engine"',
    'import type { Workspace } from "karst/workspaces"',
    "declare global {",
    '  type Model = import("karst/models").Model',
    '  type Hooks = import("karst").Hooks',
    '  type AgentOptions = import("karst").AgentOptions',
    '  const test: typeof import("node:test").test',
    '  const after: typeof import("node:test").after',
    '  const openai: typeof import("@ai-sdk/openai").openai',
    "  const signal: AbortSignal",
    '  const z: typeof import("zod").z',
    ...typed,
    ...own,
    ...classes,
    "}",
  ].join("\n")
}

function configuration(): object {
  return {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      paths: Object.fromEntries(Object.entries(sources).map(([name, file]) => [name, [file]])),
      typeRoots: [join(root, "node_modules/@types")],
      erasableSyntaxOnly: false,
      noImplicitAny: false,
      allowUnreachableCode: true,
    },
    include: ["*.ts"],
    exclude: [],
  }
}
