// test lane: newcomer, long
import assert from "node:assert/strict"
import { execFile, spawn, spawnSync } from "node:child_process"
import { existsSync, globSync, lstatSync, readFileSync } from "node:fs"
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { after, before, describe, type TestContext, test } from "node:test"
import { promisify } from "node:util"
import { createAgent } from "karst"
import { type McpToolKit, mcpTools } from "karst/mcp"
import { scriptedModel } from "karst/models"
import { installInto } from "../scripts/pack.ts"
import { packedPackage } from "./newcomer/packed-package.ts"

const repository = dirname(import.meta.dirname)

// The command finds its Node by the path, and the system's may be too old.
const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` }
const serve = ["mcp", "serve", "./objects.ts"]
const oldNode = findOldNode()

const program = `
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { display } from "karst/display"
const tasks: string[] = []
const model = scriptedModel(["\`\`\`ts\\ntasks.push('packed')\\n\`\`\`", "Added."])
const result = await display(createAgent({ model, runtime: jsRuntime({ tasks }) }).run("Add a task"), { mode: "off" })
console.log(result.status, result.output, tasks)
`

const runtimes = `
import { ConfigError, type CellExecution } from "karst"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { testRuntime } from "karst/testing"
await using runtime = processRuntime({ add: (a: number, b: number) => a + b })
const execution: CellExecution = await runtime.execute("await add(40, 2)")
if (execution.ok) console.log(execution.value)
testRuntime({ test: (title) => { if (title.startsWith("persistence")) console.log(title) }, language: "typescript", runtime: () => runtime })
await using kernel = pythonRuntime()
await kernel.execute("1").catch((error: Error) => console.log(error.name))
try { processRuntime({ "no name": 1 }) } catch (error) { console.log(error instanceof ConfigError) }
`

const served = `
import { jsRuntime } from "karst"
import { type McpEndpoint, serveMcp, serveMcpStdio } from "karst/mcp"
export const open = (): Promise<McpEndpoint> => serveMcp({ name: "n", runtime: jsRuntime({ n: 1 }) })
export const stdio = serveMcpStdio
`

const threads = `
import { memoryWorkspace } from "karst/workspaces"
import { searchFilesTool } from "karst/tools"
const workspace = memoryWorkspace()
await workspace.write("notes.md", "needle")
const { signal } = new AbortController()
const state = { get: () => undefined, set: () => {} }
const context = { call: "1", signal, workspace, state, progress: () => {} }
console.log(JSON.stringify(await searchFilesTool().run({ pattern: "need.e", mode: "files" }, context)))
`

const gated = `
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
const model = scriptedModel(["\`\`\`ts\\nn\\n\`\`\`", "Done."])
const result = await createAgent({ model, runtime: jsRuntime({ n: 1 }), typeGate: "block" }).run("Go.").settled
console.log(result.error?.message)
`

const bundled = `
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
async function main() {
  const tasks: string[] = []
  const model = scriptedModel(["\`\`\`ts\\ntasks.push('bundled')\\n\`\`\`", "Added."])
  const result = await createAgent({ model, runtime: jsRuntime({ tasks }) }).run("Add a task")
  console.log(result.status, result.output, tasks)
  await processRuntime({ n: 1 }).execute("n").catch((error: Error) => console.log(error.message))
}
main()
`

describe("the packed tarball in an empty folder", () => {
  let folder: string
  let project: string
  let tarball: string

  before(
    async () => {
      folder = await mkdtemp(join(tmpdir(), "karst-package-"))
      project = join(folder, "project")
      tarball = await packedPackage()
      await installInto(project, [tarball])
      await writeFile(join(project, "program.ts"), program)
      await writeFile(join(project, "runtimes.ts"), runtimes)
      await writeFile(join(project, "threads.ts"), threads)
      await writeFile(join(project, "served.ts"), served)
      // Building, packing and installing takes longer than a test may.
    },
    { timeout: 240_000 },
  )

  after(() => rm(folder, { recursive: true }))

  test("imports and runs an agent", async () => {
    assert.equal(await run(process.execPath, ["program.ts"]), "done Added. [ 'packed' ]\n")
  })

  test("starts processes of its own from what was built, and says which optional package is missing", async () => {
    const [value, title, missing] = (await run(process.execPath, ["runtimes.ts"])).split("\n")
    assert.equal(value, "42")
    assert.match(title ?? "", /^persistence: /)
    assert.equal(missing, "MissingPackageError")
  })

  test("starts threads of its own", async () => {
    assert.match(await run(process.execPath, ["threads.ts"]), /"value":\["notes.md"\]/)
  })

  test("has one class of errors, whichever public module it is imported from", async () => {
    assert.match(await run(process.execPath, ["runtimes.ts"]), /\ntrue\n$/)
  })

  test("brings every program that a process of its own runs", () => {
    const programs = globSync("src/**/*.ts", { cwd: repository }).flatMap((file) =>
      [...readFileSync(join(repository, file), "utf8").matchAll(/"([\w-]+\.js)", import\.meta\.url/g)].map(
        ([, name = ""]) => join(dirname(file), name),
      ),
    )
    assert.ok(programs.length > 3)
    for (const file of programs) {
      const built = join(project, "node_modules/karst", file.replace("src", "dist"))
      assert.ok(existsSync(built), built)
    }
  })

  test("brings the Python files of the kernel", async () => {
    const packed = join(project, "node_modules/karst")
    const sources = globSync("src/**/*.py", { cwd: repository })
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
    const roots = ["--typeRoots", join(repository, "node_modules/@types")]
    const tsc = join(repository, "node_modules/typescript/bin/tsc")
    assert.equal(
      await run(process.execPath, [tsc, ...options, ...roots, "program.ts", "runtimes.ts", "threads.ts", "served.ts"]),
      "",
    )
  })

  for (const template of ["objects", "tools"]) {
    test(`makes a project by karst init ${template}, whose type check and test pass`, async () => {
      const home = { KARST_HOME: join(folder, "home") }
      await run("node_modules/.bin/karst", ["init", template, "--to", template], project, home)
      const made = join(project, template)
      const tsc = join(repository, "node_modules/typescript/bin/tsc")
      assert.equal(await run(process.execPath, [tsc, "--typeRoots", join(repository, "node_modules/@types")], made), "")
      assert.match(
        await run(process.execPath, ["--test", "--test-reporter=tap", "test/**/*.test.ts"], made),
        /# fail 0/,
      )
    })
  }

  for (const http of [false, true]) {
    test(`serves objects over ${http ? "HTTP" : "standard input and output"} without any other package`, async (context) => {
      await writeFile(
        join(project, "objects.ts"),
        "enum E { A = 41 }\nexport const counter = { n: E.A, add() { return ++this.n } }",
      )
      const karst = join(project, "node_modules/.bin/karst")
      const kit = await (http ? overHttp(context, karst) : mcpTools({ command: karst, args: serve, cwd: project, env }))
      context.after(() => kit.close())
      assert.equal(kit.name, "objects")
      assert.match(kit.instructions ?? "", /declare const counter/)
      const agent = createAgent({
        model: scriptedModel([
          [{ type: "tool-call", id: "t", name: "run", input: { code: "counter.add()" } }],
          "Done.",
        ]),
        tools: kit.tools,
        noTool: "answer",
      })
      const { messages } = await agent.run("Go.")
      assert.match(JSON.stringify(messages), /<output>\\\\n42\\\\n<\/output>|<output>\\n42\\n<\/output>/)
    })
  }

  test("names the licences of the code of others that it contains", () => {
    const notice = readFileSync(join(project, "node_modules/karst/dist/THIRD-PARTY.md"), "utf8")
    for (const name of ["@modelcontextprotocol/server", "@modelcontextprotocol/node", "@hono/node-server"]) {
      assert.match(notice, new RegExp(`^## ${name}.*\\((?:MIT|Apache-2\\.0)\\)$`, "m"))
    }
    assert.match(notice, /Apache License\s+Version 2\.0/)
    assert.match(notice, /Permission is hereby granted/)
  })

  for (const example of ["01-hello.ts", "14-skills.ts", "32-kill-9.ts"]) {
    test(`has examples that run where they are copied to: ${example}`, async () => {
      await copyFile(join(project, "node_modules/karst/examples", example), join(project, example))
      assert.ok(await run(process.execPath, [example]))
    })
  }

  test("contains no compiled code, and neither does what it depends on", () => {
    assert.deepEqual(globSync("node_modules/**/*.{node,so,dylib,dll,wasm}", { cwd: project }), [])
  })

  test("takes at most 22 MB on disk with everything it depends on", () => {
    const entries = globSync("node_modules/**", { cwd: project })
    const bytes = entries.reduce((sum, path) => sum + (lstatSync(join(project, path)).blocks ?? 0) * 512, 0)
    assert.ok(bytes <= 22 * 2 ** 20, `${(bytes / 2 ** 20).toFixed(1)} MB`)
  })

  test("installs beside TypeScript 5.9, and the type gate says which TypeScript it needs", async () => {
    const other = join(folder, "typescript-5")
    await installInto(other, ["typescript@5.9.3"])
    await installInto(other, [tarball])
    await writeFile(join(other, "gated.ts"), gated)
    const printed = await run(process.execPath, ["gated.ts"], other)
    assert.match(
      printed,
      /type gate needs TypeScript 7, and TypeScript 5\.9\.3 is installed\. .*npm install typescript@7/,
    )
  })

  describe("on a Node that is too old", { skip: oldNode ? false : "there is no Node older than 24 in PATH" }, () => {
    const says = /Karst needs Node 24 or newer; this is v\d+\.\d+\.\d+\. Install /

    for (const specifier of publicSpecifiers()) {
      test(`import "${specifier}" says which Node is needed`, async () => {
        assert.match(await failure(oldNode, ["--input-type=module", "-e", `import "${specifier}"`]), says)
      })
    }

    test("require() says which Node is needed", async () => {
      assert.match(await failure(oldNode, ["-e", `require("karst")`]), says)
    })

    test("the karst command says which Node is needed", async () => {
      assert.match(await failure(oldNode, ["node_modules/.bin/karst", "demo"]), says)
    })
  })

  for (const format of ["esm", "cjs"]) {
    test(`runs agents in an esbuild bundle (${format}), and explains what a bundle cannot do`, async () => {
      const output = join(project, `bundled-${format}.${format === "esm" ? "mjs" : "cjs"}`)
      await writeFile(join(project, "bundled.ts"), bundled)
      const bundler = await esbuild()
      const options = ["--bundle", "--platform=node", "--log-level=error", `--format=${format}`, `--outfile=${output}`]
      await run(bundler, ["bundled.ts", ...options])
      const [agent, process_] = (await run(process.execPath, [output])).split("\n")
      assert.equal(agent, "done Added. [ 'bundled' ]")
      assert.match(process_ ?? "", /karst-was-bundled.mark-karst-as-external/)
    })
  }

  test("works in full beside an esbuild bundle that leaves it external", async () => {
    const output = join(project, "external.mjs")
    await writeFile(join(project, "runtimes.ts"), runtimes)
    const options = [
      "--bundle",
      "--platform=node",
      "--log-level=error",
      "--format=esm",
      "--external:karst",
      `--outfile=${output}`,
    ]
    await run(await esbuild(), ["runtimes.ts", ...options])
    assert.match(await run(process.execPath, [output]), /^42\n/)
  })

  async function overHttp(context: TestContext, karst: string): Promise<McpToolKit> {
    const token = "0123456789abcdef0123456789abcdef"
    const child = spawn(karst, [...serve, "--http"], { cwd: project, env: { ...env, KARST_MCP_TOKEN: token } })
    context.after(() => child.kill())
    let printed = ""
    for await (const text of child.stderr.setEncoding("utf8")) {
      printed += text
      const [, url] = /serving at (\S+)\n/.exec(printed) ?? []
      if (url) return await mcpTools({ url, headers: { Authorization: `Bearer ${token}` } })
    }
    throw new Error(printed)
  }

  async function esbuild(): Promise<string> {
    const place = join(folder, "esbuild")
    const program = join(place, "node_modules/esbuild/bin/esbuild")
    if (!existsSync(program)) await installInto(place, ["esbuild@0.28.2"])
    return program
  }

  async function failure(file: string | undefined, args: string[]): Promise<string> {
    const { status, stderr } = spawnSync(file ?? "", args, { cwd: project, encoding: "utf8" })
    assert.equal(status, 1)
    assert.doesNotMatch(stderr, /SyntaxError/)
    return stderr
  }

  async function run(file: string, args: string[], cwd = project, more: Record<string, string> = {}): Promise<string> {
    const { stdout } = await promisify(execFile)(file, args, { cwd, env: { ...env, ...more } })
    return stdout
  }
})

/** Every specifier that package.json lets others import. */
function publicSpecifiers(): string[] {
  const { exports }: { exports: object } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"))
  return Object.keys(exports)
    .filter((path) => path !== "./package.json")
    .map((path) => path.replace(".", "karst"))
}

/** A Node before 24 on this machine. */
function findOldNode(): string | undefined {
  return nodesInPath().find((path) => Number(versionOf(path)) < 24)
}

function nodesInPath(): string[] {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((entry) => join(entry, "node"))
    .filter((path) => existsSync(path))
}

function versionOf(path: string): string {
  return spawnSync(path, ["-p", "process.versions.node.split('.')[0]"], { encoding: "utf8" }).stdout
}
