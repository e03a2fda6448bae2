import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { promisify } from "node:util"
import { jsRuntime } from "../../../../src/runtime/js.ts"
import { processRuntime } from "../../../../src/runtime/process.ts"
import type { CellOptions, Runtime } from "../../../../src/runtime/runtime.ts"
import { requires } from "../../../system.ts"
import * as home from "./fixture/home.ts"
import { homeDeclarations } from "./fixture-bindings.ts"

const run = promisify(execFile)
const script = join(import.meta.dirname, "fixture", "print-declarations.ts")
const folder = mkdtempSync(join(tmpdir(), "karst-coverage-"))
after(() => rmSync(folder, { recursive: true, force: true }))

async function printed(flags: string[], args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { env: { ...process.env, ...env } }
  const { stdout } = await run(process.execPath, ["--no-warnings", ...flags, script, ...args], options)
  return stdout.trimEnd()
}

test("the files are found in a worker", async () => {
  assert.equal(await printed([], ["worker"]), homeDeclarations)
})

test("the files are found where Node compiles TypeScript instead of removing types", async () => {
  assert.equal(await printed(["--experimental-transform-types"]), homeDeclarations)
})

test("the files are found while a debugger may attach", async () => {
  assert.equal(await printed(["--inspect=127.0.0.1:0"]), homeDeclarations)
})

test("the files are found while coverage is collected", async () => {
  assert.equal(await printed([], [], { NODE_V8_COVERAGE: folder }), homeDeclarations)
})

test("where permissions forbid the inspector, types are inferred", async () => {
  const text = await printed(["--permission", "--allow-fs-read=*"])
  assert.match(text, /^ {2}dim\(to\?: unknown, fade\?: unknown\): Promise<any>$/m)
  assert.match(text, /^declare function findLights\(where\?: unknown, limit\?: number\): Promise<any> \/\/ inferred$/m)
})

test("importing the library does not load the inspector", async () => {
  const address = new URL("../../../../src/index.ts", import.meta.url).href
  const code = `await import(${JSON.stringify(address)}); console.log(process.moduleLoadList.includes("NativeModule inspector"))`
  const { stdout } = await run(process.execPath, ["--no-warnings", "--input-type=module", "-e", code])
  assert.equal(stdout.trim(), "false")
})

const block: CellOptions = { typeGate: "block" }

/** Cells that use the fixture as its types say. */
const good = [
  "await light.dim(5)",
  'await light.dim(5, { curve: "ease" })',
  'const found = await findLights({ name: "hall", doors: ["front"] })\nfound.length',
  "await add(1)",
  "await add(1, 2)",
  'await house.open("front")',
  "await house.rooms",
  "await db.exec('create table t(a)')",
  "db.someMethodOfTheFuture?.()",
  'await query(db, "select 1", "utf8")',
  'await rename("x")',
]

/** Cells with a mistake that the types of the file show. */
const bad: [code: string, message: RegExp][] = [
  ['await light.dim("bright")', /not assignable to parameter of type 'number'/],
  ["await light.dim()", /Expected 1-2 arguments/],
  ["await add(1, 2, 3)", /Expected 1-2 arguments/],
  ["await light.diim(5)", /Did you mean 'dim'/],
]

const runtimes: [string, (bindings: object) => Runtime][] = [
  ["jsRuntime", (bindings) => jsRuntime({ ...bindings })],
  ["processRuntime", (bindings) => processRuntime({ ...bindings })],
]

for (const [name, create] of runtimes) {
  describe(`the type gate of ${name}`, { skip: requires("typescript") ?? false }, () => {
    test("accepts good cells and refuses wrong ones by the types of the files", async () => {
      const { DatabaseSync } = await import("node:sqlite")
      const light = new home.Light("desk")
      const { findLights, add, query, house } = home
      const rename = (title: string, options?: { silent: boolean }) => [title, options]
      const db = new DatabaseSync(":memory:")
      await using runtime = create({ light, findLights, add, query, house, rename, db })
      for (const code of good) {
        const execution = await runtime.execute(code, block)
        assert.ok(execution.ok || execution.error.kind !== "type", `${code}: ${JSON.stringify(execution)}`)
        assert.deepEqual(execution.hints ?? [], [], code)
      }
      for (const [code, message] of bad) {
        const execution = await runtime.execute(code, block)
        assert.ok(!execution.ok && execution.error.kind === "type", `${code}: ${JSON.stringify(execution)}`)
        assert.match(execution.error.message, message)
      }
    })
  })
}
