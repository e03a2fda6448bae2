import assert from "node:assert/strict"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { describe, test } from "node:test"
import { tsPlugin } from "@sveltejs/acorn-typescript"
import { type AnyNode, type CallExpression, type Node, Parser } from "acorn"

// The parts of src/ by level. A part is a folder of src/ or a file beside it. It may import itself, the parts of lower
// levels, the parts in `also`, the packages in `packages`, and Node's own modules.
const parts: Record<string, { level: number; packages?: string[]; also?: string[] }> = {
  core: { level: 0 },
  models: { level: 1, packages: ["@ai-sdk"] },
  runtime: { level: 1, packages: ["acorn", "@sveltejs/acorn-typescript", "typescript", "zeromq"] },
  workspaces: { level: 1, packages: ["aws4fetch"] },
  stores: { level: 1, packages: ["ioredis"] },
  display: { level: 1 },
  server: { level: 1 },
  otel: { level: 1, packages: ["@opentelemetry/api"] },
  memory: { level: 2 },
  skills: { level: 2, packages: ["yaml"] },
  tools: { level: 2, packages: ["zod"], also: ["memory", "skills"] },
  actions: { level: 3 },
  sessions: { level: 4 },
  mcp: { level: 4, packages: ["@modelcontextprotocol"] },
  agent: { level: 5 },
  providers: { level: 5, packages: ["@agentclientprotocol/sdk"] },
  engine: { level: 6, packages: ["bullmq"] },
  index: { level: 7 },
  rules: { level: 7 },
  config: { level: 7 },
  evals: { level: 7 },
  testing: { level: 7 },
  cli: { level: 8 },
}

// Only the command imports the terminal display. The library does not.
const readersOfDisplay = ["cli", "display"]

// The packages that `import "karst"` may load. Other packages are loaded at first use, by a dynamic import.
const loadedAtOnce = ["acorn", "@sveltejs/acorn-typescript"]

// Public modules that only re-export names of other modules.
const reexportingModules = "index config engine mcp models providers rules server sessions stores tools workspaces"
  .split(" ")
  .map((name) => `src/${name}.ts`)

// Cells use timers as Node has them. The delays of the others come from constants, not from options.
const ownDelays = [
  "src/runtime/js/ambient/cell-timers.ts",
  "src/testing/",
  "src/core/child/wait-until-quiet.ts",
  "src/engine/backends/job-queue.ts",
  "src/engine/journal/completion-order.ts",
  "src/mcp/server/input-required.ts",
  "src/providers/terminal/menu-keys.ts",
  "src/providers/trajectory-file.ts",
  "src/providers/turn/cli-process.ts",
  "src/providers/usage-limits.ts",
  "src/runtime/process/process-limits.ts",
  "src/runtime/python/kernel/resource-watch.ts",
  "src/runtime/python/rules/python-checker.ts",
  "src/sessions/session-writer.ts",
  "src/stores/log-watch.ts",
]

const root = dirname(import.meta.dirname)
const sources = globSync("src/**/*.ts", { cwd: root }).sort()
const parser = Parser.extend(tsPlugin())
const trees = new Map(sources.map((file) => [file, parse(file)]))
const imports = new Map(sources.map((file) => [file, importsOf(file)]))

describe("the source tree", () => {
  test("has every file in a part that the table names", () => {
    const unknown = sources.filter((file) => !parts[partOf(file)])
    assert.deepEqual(unknown, [], "Give the part a row in the table of this test.")
  })

  test("imports from lower levels only", () => {
    const wrong = [...imports].flatMap(([file, found]) =>
      found.filter(({ specifier }) => !isAllowed(file, specifier)).map(({ specifier }) => `${file} → ${specifier}`),
    )
    assert.deepEqual(wrong, [])
  })

  test("loads only small packages at the import of a public module", () => {
    const found = new Set(
      [
        ...reexportingModules.filter((file) => !/mcp|tools/.test(file)),
        "src/display.ts",
        "src/testing.ts",
        "src/runtime/process.ts",
        "src/runtime/python.ts",
      ].flatMap(packagesReachedBy),
    )
    assert.deepEqual([...found.difference(new Set(loadedAtOnce))], [], "Load it at first use: await import(…).")
  })

  test("has no utils folder, no barrel except public modules, and no cycle among files at run time", () => {
    assert.deepEqual(
      sources.filter((file) => /\/(utils?|helpers|common|lib)(\/|\.ts$)/.test(file)),
      [],
    )
    assert.deepEqual(
      sources.filter((file) => !reexportingModules.includes(file) && (file.endsWith("/index.ts") || isBarrel(file))),
      [],
    )
    assert.deepEqual(cycles(), [])
  })

  test("starts processes in one file, which passes on no descriptor", () => {
    const starting = /import (?!type\b)[^"]*?from "node:child_process"/
    assert.deepEqual(
      sources.filter((file) => starting.test(read(file))),
      ["src/core/child/child-process.ts"],
    )
  })

  test("gives a timer only a constant or a delay that timers accept", () => {
    const files = sources.filter((file) => !ownDelays.some((own) => file.startsWith(own)))
    assert.deepEqual(files.flatMap(uncheckedDelays), [], "Use `timerMs` of core/time-limit.ts.")
  })

  test("keeps its files small", (context) => {
    const lengths = sources.map((file) => ({ file, lines: read(file).split("\n").length - 1 }))
    const long = lengths.filter(({ lines }) => lines > 300).map(({ file, lines }) => `${file}: ${lines} lines`)
    if (long.length > 0) context.diagnostic(`over 300 lines, worth splitting: ${long.join(", ")}`)
    assert.deepEqual(
      lengths.filter(({ lines }) => lines > 400),
      [],
    )
  })

  test("exports no function, constant or class that only its own file uses", () => {
    const folders = "{src,test,scripts,bench,evals,examples}/**/*.ts"
    const users = new Map<string, number>()
    for (const file of globSync(folders, { cwd: root }))
      for (const name of new Set(read(file).match(/[\w$]+/g))) users.set(name, (users.get(name) ?? 0) + 1)
    const exported = /^export (?:async )?(?:function\*?|const|let|class) ([\w$]+)/gm
    const unused = sources.flatMap((file) =>
      [...read(file).matchAll(exported)].flatMap(([, name = ""]) =>
        users.get(name) === 1 ? [`${file}: ${name}`] : [],
      ),
    )
    assert.deepEqual(unused, [], "Remove `export`.")
  })

  test("names no machine, registry or account", () => {
    const traces = /\/(?:home|Users)\/\w|\/root\/|\/work\/|[A-Z]:\\Users|registry\.npmjs|"resolved":/
    const places = [
      "*.{json,md}",
      "{src,test,examples,bench,evals,scripts,docs,data}/**/*.{ts,mjs,json,jsonl,md}",
      ".ci/*",
    ]
    const files = globSync(places, { cwd: root }).filter((file) => !file.includes("node_modules"))
    assert.deepEqual(
      files.filter((file) => file !== "test/architecture.test.ts" && traces.test(read(file))),
      [],
    )
  })

  test("has no promise of a Run, because awaiting the promise would await the run", () => {
    assert.deepEqual(
      sources.filter((file) => /Promise<\s*Run\s*>|AsyncGenerator<\s*Run\b/.test(read(file))),
      [],
    )
  })
})

interface Import {
  specifier: string
  /** Whether the module is loaded with the file that names it. */
  atOnce: boolean
}

function isAllowed(file: string, specifier: string): boolean {
  if (specifier.startsWith("node:")) return true
  const own = partOf(file)
  const { level, packages = [], also = [] } = parts[own] ?? { level: 0 }
  if (!specifier.startsWith(".")) return packages.some((name) => isOf(specifier, name))
  const other = partOf(resolve(file, specifier))
  if (other === "display") return readersOfDisplay.includes(own)
  return other === own || also.includes(other) || (parts[other]?.level ?? level) < level
}

function packagesReachedBy(entry: string): string[] {
  const seen = new Set<string>()
  const found = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const specifier of loadedWith(file)) {
      if (specifier.startsWith(".")) visit(resolve(file, specifier))
      else if (!specifier.startsWith("node:")) found.add(specifier)
    }
  }
  visit(entry)
  return [...found]
}

function cycles(): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file].join(" → "))
    if (done.has(file) || path.includes(file)) return
    for (const specifier of loadedWith(file)) {
      if (specifier.startsWith(".")) visit(resolve(file, specifier), [...path, file])
    }
    done.add(file)
  }
  for (const file of sources) visit(file, [])
  return found
}

function loadedWith(file: string): string[] {
  return (imports.get(file) ?? []).filter(({ atOnce }) => atOnce).map(({ specifier }) => specifier)
}

function importsOf(file: string): Import[] {
  const found: Import[] = []
  walk(trees.get(file), (node) => {
    const { source, importKind, exportKind } = node as Node & Record<string, unknown>
    const specifier = (source as { value?: unknown } | null | undefined)?.value
    if (typeof specifier !== "string") return
    const atOnce = node.type !== "ImportExpression" && importKind !== "type" && exportKind !== "type"
    found.push({ specifier, atOnce })
  })
  return found
}

/** The calls of timers in a file whose delay is neither made of constants of the file nor limited by `timerMs`. */
function uncheckedDelays(file: string): string[] {
  const constants = new Set<string>()
  const timers = new Map([
    ["setTimeout", 1],
    ["setInterval", 1],
    ["AbortSignal.timeout", 0],
  ])
  const isSafe = (node: AnyNode | null | undefined): boolean => {
    if (node?.type === "Identifier") return constants.has(node.name)
    if (node?.type === "BinaryExpression") return isSafe(node.left) && isSafe(node.right)
    if (node?.type === "ConditionalExpression") return isSafe(node.consequent) && isSafe(node.alternate)
    if (node?.type !== "CallExpression") return node?.type === "Literal"
    const name = nameOf(node.callee)
    return ["timerMs", "Math.random"].includes(name) || (name === "Math.min" && node.arguments.some(isSafe))
  }
  for (const node of trees.get(file)?.body ?? []) {
    if (node.type === "VariableDeclaration")
      for (const { id, init } of node.declarations) if (isSafe(init)) constants.add(nameOf(id))
    if (node.type !== "ImportDeclaration" || node.source.value !== "node:timers/promises") continue
    for (const each of node.specifiers)
      if ("imported" in each && nameOf(each.imported) === "setTimeout") timers.set(nameOf(each.local), 0)
  }
  const found: string[] = []
  walk(trees.get(file), (node) => {
    const { type, callee, arguments: given, loc } = node as CallExpression
    const at = type === "CallExpression" ? timers.get(nameOf(callee)) : undefined
    if (at !== undefined && !isSafe(given[at])) found.push(`${file}:${loc?.start.line}`)
  })
  return found
}

/** A name as it is written, such as `Math.min`; empty for other expressions. */
function nameOf(node: AnyNode): string {
  if (node.type === "MemberExpression") return `${nameOf(node.object)}.${nameOf(node.property)}`
  return node.type === "Identifier" ? node.name : ""
}

function isBarrel(file: string): boolean {
  return (
    trees.get(file)?.body.every((node) => node.type.startsWith("Export") && "source" in node && node.source) ?? false
  )
}

function parse(file: string) {
  return parser.parse(read(file), { sourceType: "module", ecmaVersion: "latest", locations: true })
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(node)) for (const child of node) walk(child, visit)
  if (typeof node !== "object" || node === null || Array.isArray(node)) return
  if ("type" in node && typeof node.type === "string") visit(node as Node)
  for (const child of Object.values(node)) walk(child, visit)
}

function resolve(file: string, specifier: string): string {
  const path = relative(root, join(root, dirname(file), specifier))
  assert.ok(existsSync(join(root, path)), `${file} imports ${specifier}, which is not there.`)
  return path
}

function partOf(file: string): string {
  return file.split("/")[1]?.replace(/\.ts$/, "") ?? ""
}

function isOf(specifier: string, name: string): boolean {
  return specifier === name || specifier.startsWith(`${name}/`)
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8")
}
