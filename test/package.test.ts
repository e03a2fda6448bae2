import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { existsSync, globSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { after, before, describe, test } from "node:test"
import { promisify } from "node:util"
import { installInto, pack } from "../scripts/pack.ts"

const program = `
import { createAgent, jsRuntime, scripted } from "karst"
import { display } from "karst/display"
const tasks: string[] = []
const model = scripted(["\`\`\`ts\\ntasks.push('packed')\\n\`\`\`", "Added."])
const result = await display(createAgent({ model, runtime: jsRuntime({ tasks }) }).run("Add a task"), { mode: "off" })
console.log(result.status, result.output, tasks)
`

const runtimes = `
import { ConfigError, type Execution } from "karst"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { testRuntime } from "karst/testing"
await using runtime = processRuntime({ add: (a: number, b: number) => a + b })
const execution: Execution = await runtime.execute("await add(40, 2)")
if (execution.ok) console.log(execution.value)
testRuntime({ test: (title) => { if (title.startsWith("persistence")) console.log(title) }, language: "typescript", runtime: () => runtime })
await using kernel = pythonRuntime()
await kernel.execute("1").catch((error: Error) => console.log(error.name))
try { processRuntime({ "no name": 1 }) } catch (error) { console.log(error instanceof ConfigError) }
`

const threads = `
import { memoryWorkspace } from "karst"
import { searchFilesTool } from "karst/tools"
const workspace = memoryWorkspace()
await workspace.write("notes.md", "needle")
const { signal } = new AbortController()
const state = { get: () => undefined, set: () => {} }
const context = { call: "1", signal, workspace, state, progress: () => {} }
console.log(JSON.stringify(await searchFilesTool().run({ pattern: "need.e", mode: "files" }, context)))
`

describe("the packed tarball in an empty folder", () => {
  let folder: string
  let project: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-package-"))
    project = join(folder, "project")
    await installInto(project, [await pack(folder)])
    await writeFile(join(project, "program.ts"), program)
    await writeFile(join(project, "runtimes.ts"), runtimes)
    await writeFile(join(project, "threads.ts"), threads)
  })

  after(() => rm(folder, { recursive: true }))

  test("imports and runs an agent", async () => {
    assert.equal(await run(process.execPath, ["program.ts"]), "done Added. [ 'packed' ]\n")
  })

  test("starts processes of its own from what was built, and says which optional package is missing", async () => {
    const [value, title, missing] = (await run(process.execPath, ["runtimes.ts"])).split("\n")
    assert.equal(value, "42")
    assert.match(title ?? "", /^persistence: /)
    assert.equal(missing, "MissingPeerError")
  })

  test("starts threads of its own", async () => {
    assert.match(await run(process.execPath, ["threads.ts"]), /"value":\["notes.md"\]/)
  })

  test("has one class of errors, whichever door it comes by", async () => {
    assert.match(await run(process.execPath, ["runtimes.ts"]), /\ntrue\n$/)
  })

  test("brings every program that a process of its own runs", () => {
    const programs = globSync("src/**/*-child.ts", { cwd: dirname(import.meta.dirname) })
    assert.ok(programs.length > 0)
    for (const file of programs) {
      const built = join(project, "node_modules/karst", file.replace("src", "dist").replace(/ts$/, "js"))
      assert.ok(existsSync(built), built)
    }
  })

  test("brings the Python files of the kernel", async () => {
    const packed = join(project, "node_modules/karst")
    const sources = globSync("src/**/*.py", { cwd: dirname(import.meta.dirname) })
    assert.ok(sources.length > 0)
    for (const file of sources) assert.ok(existsSync(join(packed, file.replace("src", "dist"))), file)
    assert.deepEqual(globSync("**/*.pyc", { cwd: packed }), [])
  })

  test("brings the karst command, with its help and its demo", async () => {
    assert.match(await run("node_modules/.bin/karst", ["--help"]), /karst run/)
    assert.match(await run("node_modules/.bin/karst", ["demo"]), /replayed/)
  })

  test("has types that a strict project accepts", async () => {
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"]
    const roots = ["--typeRoots", join(dirname(import.meta.dirname), "node_modules/@types")]
    const tsc = join(dirname(import.meta.dirname), "node_modules/typescript/bin/tsc")
    assert.equal(
      await run(process.execPath, [tsc, ...options, ...roots, "program.ts", "runtimes.ts", "threads.ts"]),
      "",
    )
  })

  async function run(file: string, args: string[]): Promise<string> {
    // The command finds its Node by the path, and the system's may be too old.
    const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
    const { stdout } = await promisify(execFile)(file, args, { cwd: project, env: { PATH } })
    return stdout
  }
})
