// test lane: clis, long
import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { createAgent } from "../../src/agent/create-agent.ts"
import { mcpTools } from "../../src/mcp/client/mcp-tools.ts"
import type { McpToolKit } from "../../src/mcp/mcp-types.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { karst, startKarst } from "../cli/karst.ts"

const bin = fileURLToPath(new URL("../../src/cli/bin.ts", import.meta.url))
const objects = fileURLToPath(new URL("../fixtures/mcp/objects.ts", import.meta.url))
const empty = fileURLToPath(new URL("../fixtures/mcp/empty.ts", import.meta.url))
const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]

const shade = `enum Shade { Cold = "cold", Warm = "warm" }`
const light = `class Light {
  shade = Shade.Warm
  constructor(public level: number = 1) {}
  dim(to: number): this { this.level = to; return this }
}`

describe("karst mcp serve", () => {
  test("gives a client that starts it the live objects of a module, whatever the module prints", async (context) => {
    const kit = await started(context, { MCP_TEST_APPROVES: "1" })
    assert.equal(kit.name, "objects")
    assert.match(kit.instructions ?? "", /declare const light/)
    assert.deepEqual(
      kit.tools.map(({ name }) => name),
      ["describe", "run", "inspect", "wait", "double"],
    )
    assert.equal(await call(kit, "run", { code: "light.dim(20)\nlight.brightness" }), "<output>\n20\n</output>")
    assert.equal(await call(kit, "inspect", { name: "light.brightness" }), "<output>\n20\n</output>")
    assert.match(await call(kit, "run", { code: "process.exit()" }), /<error>/)
    assert.equal(await call(kit, "run", { code: "await wipe()" }), "<output>\n'wiped'\n</output>")
    assert.equal(await call(kit, "double", { value: 4 }), "8")
  })

  test("refuses what needs approval where nobody gives it, and ends with its client", async (context) => {
    const kit = await started(context)
    assert.match(await call(kit, "run", { code: "await wipe()" }), /wipe needs approval and there is no approver/)
    const [pid] = /\d+/.exec(await call(kit, "run", { code: "pid" })) ?? []
    await kit.close()
    assert.throws(() => process.kill(Number(pid), 0), { code: "ESRCH" })
  })

  const projects: [title: string, files: Record<string, string>, main: string, types: string[]][] = [
    [
      "objects by name",
      { "objects.ts": `${shade}\n${light}\nexport const light = new Light()` },
      "objects.ts",
      ["module", "commonjs"],
    ],
    [
      "a default export with objects",
      { "objects.ts": `${shade}\n${light}\nexport default { light: new Light() }` },
      "objects.ts",
      ["module"],
    ],
    [
      "a function that makes objects",
      { "objects.ts": `${shade}\n${light}\nexport default async () => ({ light: new Light() })` },
      "objects.ts",
      ["commonjs"],
    ],
    [
      "a runtime",
      {
        "objects.ts": `import { jsRuntime } from "karst"\n${shade}\n${light}\nexport const runtime = jsRuntime({ light: new Light() })`,
      },
      "objects.ts",
      ["module", "commonjs"],
    ],
    [
      "a function that makes a runtime",
      {
        "objects.ts": `import { jsRuntime } from "karst"\n${shade}\n${light}\nexport default () => jsRuntime({ light: new Light() })`,
      },
      "objects.ts",
      ["module"],
    ],
    [
      "objects of JavaScript in CommonJS",
      {
        "objects.cjs": `class Light { shade = "warm"; level = 1; dim(to) { this.level = to; return this } }\nmodule.exports = { light: new Light() }`,
      },
      "objects.cjs",
      ["commonjs"],
    ],
  ]
  for (const [title, files, main, types] of projects) {
    for (const type of types) {
      test(`takes a module that exports ${title}, in a project of type ${type}`, async (context) => {
        const folder = await project(context, { ...files, "package.json": JSON.stringify({ type }) })
        const kit = await started(context, {}, join(folder, main))
        assert.match(kit.instructions ?? "", /declare const light/)
        const code = "light.dim(20)\nlight.level + light.shade"
        assert.equal(await call(kit, "run", { code }), "<output>\n'20warm'\n</output>")
      })
    }
  }

  test("keeps cells on plain objects from files and processes", async (context) => {
    const folder = await project(context, { "package.json": "{}", "objects.ts": "export const n = 1" })
    const kit = await started(context, {}, join(folder, "objects.ts"))
    assert.match(await call(kit, "run", { code: `await import("node:fs")` }), /<error>/)
  })

  test("prints commands that add it to Claude Code and Codex, and that work as they are printed", async (context) => {
    const folder = await project(context, { "package.json": "{}", "my objects.ts": "export const n = 41" })
    const { child, ended } = startKarst(["mcp", "serve", "my objects.ts", "--cell-timeout", "9"], {}, folder)
    child.stdin.end()
    const { stdout, stderr } = await ended
    assert.equal(stdout, "")
    const [, claude = ""] = /^karst: {3}claude mcp add my-objects -- (.*)$/m.exec(stderr) ?? []
    const [, codex] = /^karst: {3}codex mcp add my-objects -- (.*)$/m.exec(stderr) ?? []
    assert.equal(claude, codex)
    assert.match(claude, /--cell-timeout 9/)
    const kit = await mcpTools({ command: "/bin/sh", args: ["-c", claude], cwd: tmpdir() })
    context.after(() => kit.close())
    assert.equal(kit.name, "my-objects")
    assert.equal(await call(kit, "run", { code: "n + 1" }), "<output>\n42\n</output>")
  })

  for (const [what, text, says] of [
    [
      "a default export without a name",
      "export default new Map()",
      /default export is a value without a name\. Give it one/,
    ],
    ["a runtime that is none", "export const runtime = 1", /`runtime` is no runtime\. Write: export const runtime/],
    ["an approver that is no function", "export const n = 1\nexport const approver = 2", /`approver` is no function/],
    ["a function that fails", "export default () => { throw new Error('no database') }", /failed: no database/],
    ["a module that fails", "throw new Error('no network')", /could not be loaded: no network/],
  ] as const) {
    test(`${what} is told in one sentence, with exit code 2`, async (context) => {
      const folder = await project(context, { "package.json": "{}", "objects.ts": text })
      const { code, stderr } = await karst(["mcp", "serve", "objects.ts"], {}, folder)
      assert.equal(code, 2, stderr)
      assert.match(stderr, says)
      assert.doesNotMatch(stderr, /\n {4}at /)
    })
  }

  test("serves several clients over HTTP, and ends well on SIGTERM", async (context) => {
    const token = "0123456789abcdef0123456789abcdef"
    const { child, ended } = startKarst(["mcp", "serve", objects, "--http", "--name", "house"], {
      KARST_MCP_TOKEN: token,
    })
    context.after(() => child.kill("SIGKILL"))
    let said = ""
    const url = await new Promise<string>((resolve) => {
      child.stderr.on("data", (text) => {
        said += text
        const [, found] = /serving at (\S+)\n[\s\S]*Ctrl-C/.exec(said) ?? []
        if (found) resolve(found)
      })
    })
    assert.match(
      said,
      new RegExp(`claude mcp add --transport http house ${url} --header 'Authorization: Bearer ${token}'`),
    )
    assert.match(said, new RegExp(`codex mcp add house --url ${url} --bearer-token-env-var KARST_MCP_TOKEN`))
    const headers = { Authorization: `Bearer ${token}` }
    const kits = [await mcpTools({ url, headers }), await mcpTools({ url: `${url}/${token}` })]
    for (const kit of kits) context.after(() => kit.close())
    const [one, two] = kits
    assert.ok(one && two)
    await call(one, "run", { code: "light.dim(7)" })
    assert.equal(await call(two, "inspect", { name: "light.brightness" }), "<output>\n7\n</output>")
    assert.equal(one.name, "house")
    child.kill("SIGTERM")
    const { code, stderr } = await ended
    assert.equal(code, 0, stderr)
  })

  for (const [what, args, says] of [
    ["no action", [], /Say what to do\. There are: karst mcp serve\. See: karst mcp --help/],
    ["another action", ["listen"], /Unknown command "mcp listen"/],
    ["two modules", ["serve", objects, objects], /karst mcp serve takes only <module>, and got/],
    ["no module", ["serve"], /karst mcp serve needs <module>\. Example: karst mcp serve \.\/objects\.ts/],
    ["no such module", ["serve", "nowhere.ts"], /no file nowhere\.ts/],
    ["a module without objects", ["serve", empty], /exports no objects\. Write there: export const/],
    ["a port without HTTP", ["serve", objects, "--port", "8000"], /--port requires --http/],
    ["no such option", ["serve", "--objects", objects], /--objects/],
  ] as const) {
    test(`${what} is told in one sentence, with exit code 2`, async () => {
      const { code, stderr, stdout } = await karst(["mcp", ...args])
      assert.equal(code, 2, stderr)
      assert.match(stderr, says)
      assert.doesNotMatch(stderr, /\n {4}at /)
      assert.equal(stdout, "")
    })
  }
})

async function started(context: TestContext, env: Record<string, string> = {}, module = objects): Promise<McpToolKit> {
  const kit = await mcpTools({
    command: process.execPath,
    args: [...flags, bin, "mcp", "serve", module],
    env,
  })
  context.after(() => kit.close())
  return kit
}

/** A folder of files, removed after the test. It finds Karst as an installed package. */
async function project(context: TestContext, files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "karst-serve-"))
  context.after(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  await mkdir(join(folder, "node_modules"))
  await symlink(fileURLToPath(new URL("../..", import.meta.url)), join(folder, "node_modules/karst"))
  return folder
}

/** Calls a tool as an agent does. */
async function call(kit: McpToolKit, name: string, input: Record<string, string | number>): Promise<string> {
  const agent = createAgent({
    model: scriptedModel([[{ type: "tool-call", id: "t", name, input }], "Done."]),
    tools: kit.tools,
    noTool: "answer",
  })
  const { messages } = await agent.run("Go.")
  const [result] = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-result" ? [part] : [])))
  return result?.text ?? ""
}
