// test lane: clis
import assert from "node:assert/strict"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { createAgent } from "../../src/agent/create-agent.ts"
import { mcpTools } from "../../src/mcp/client/mcp-tools.ts"
import { byIdentifier, safeToolName } from "../../src/mcp/client/tool-names.ts"
import type { McpClientOptions, McpCommand, McpToolKit } from "../../src/mcp/mcp-types.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { until } from "../waiting.ts"
import { use } from "./clients.ts"

const fixture = fileURLToPath(new URL("../fixtures/mcp/tools-server.ts", import.meta.url))
const command: McpCommand = { command: process.execPath, args: ["--disable-warning=ExperimentalWarning", fixture] }

describe("the tools of an MCP server that is started here", () => {
  let kit: McpToolKit
  before(async () => {
    kit = await mcpTools(command)
  })
  after(() => kit.close())

  test("are listed page by page, with safe names, schemas and the server's instructions", async () => {
    assert.equal(kit.name, "fixture")
    assert.equal(kit.instructions, "Use add to add.")
    assert.equal(kit.tools.length, 12)
    assert.deepEqual(
      kit.tools.slice(0, 2).map((each) => each.name),
      ["add", "files_read_text"],
    )
    const [add, read] = kit.tools
    assert.deepEqual(add?.input.required, ["a", "b"])
    assert.equal(read?.options.sideEffect, false)
    assert.ok("has_child" in kit.bindings())
  })

  test("are left out with a warning if their schema has a mistake, and the others stay", async (context) => {
    const warnings: string[] = []
    const server = { ...command, env: { MCP_TEST_BAD_SCHEMA: "1" } }
    const kit = await mcpTools(server, { onWarning: (warning) => warnings.push(warning) })
    context.after(() => kit.close())
    assert.equal(kit.tools.length, 12)
    assert.equal(warnings.length, 1)
    assert.match(
      warnings[0] ?? "",
      /The tool "wrong" of .* was left out: .* at #\/properties\/a\/\$ref: there is nothing/,
    )
  })

  test("take a prefix, a choice and options of the gate", async (context) => {
    const kit = await open(context, {
      prefix: "their",
      only: ({ name }) => name === "add" || name === "picture",
      options: ({ name }) => ({ approve: name === "add" }),
    })
    assert.deepEqual(
      kit.tools.map(({ name, options }) => [name, options.approve]),
      [
        ["their_add", true],
        ["their_picture", false],
      ],
    )
  })

  test("answer an agent that calls them, and one whose cells do", async () => {
    const byCall = createAgent({
      model: scriptedModel([
        [{ type: "tool-call", id: "t", name: "add", input: { a: 2, b: 3 } }],
        "5, as the tool says.",
      ]),
      tools: kit.tools,
      noTool: "answer",
    })
    const { output, trajectory } = await byCall.run("Add.")
    assert.equal(output, "5, as the tool says.")
    assert.ok(JSON.stringify(trajectory).includes('"text":"5"'))
    const byCell = createAgent({
      model: scriptedModel(["```ts\nconst { total } = await structured({})\nawait add({ a: total, b: 4 })\n```", "7"]),
      runtime: jsRuntime({ ...kit.bindings() }),
    })
    const run = await byCell.run("Add.")
    assert.match(JSON.stringify(run.messages), /<output>\\n'7'\\n\(new: total: number\)\\n<\/output>/)
  })

  test("refuse wrong input before it is sent", async () => {
    const add = kit.tools.find(({ name }) => name === "add")
    assert.deepEqual(await add?.accept({ a: "x", b: 1 }), { ok: false, message: "a: expected number, received string" })
  })

  test("give texts, images, structured values and failures as results", async () => {
    assert.deepEqual((await use(kit, "picture")).images, [{ type: "image", mediaType: "image/png", data: "aGVsbG8=" }])
    assert.deepEqual((await use(kit, "structured")).value, { total: 3 })
    const failed = await use(kit, "fails")
    assert.deepEqual([failed.ok, failed.code, failed.text], [false, "tool-failed", "no such table"])
    assert.deepEqual((await use(kit, "everything")).text.split("\n"), [
      "first",
      "[audio, audio/wav, 5 bytes]",
      "[a link: file:///a]",
      "inside",
      "[file:///c, application/zip, 5 bytes]",
    ])
  })

  test("take much at once, as fast as the server reads it", async (context) => {
    const warnings: Error[] = []
    const warned = (warning: Error) => warnings.push(warning)
    process.on("warning", warned)
    context.after(() => process.off("warning", warned))
    const pad = "x".repeat(300_000)
    const calls = Array.from({ length: 30 }, (_, index) => use(kit, "add", { a: index, b: 1, pad }))
    assert.deepEqual(
      (await Promise.all(calls)).map(({ text }) => Number(text)),
      calls.map((_, index) => index + 1),
    )
    assert.deepEqual(warnings, [])
  })

  test("tell their progress", async () => {
    const told: string[] = []
    assert.equal((await use(kit, "counts", { to: 3 }, { progress: (text) => told.push(text) })).text, "counted")
    assert.deepEqual(told, ["step 1\n", "step 2\n", "step 3\n"])
  })

  test("are cancelled by the signal of the call, on both sides", async (context) => {
    const { log, lines } = logFile(context)
    const kit = await open(context, {}, { MCP_TEST_LOG: log })
    const controller = new AbortController()
    const calling = use(kit, "slow", {}, { signal: controller.signal })
    await until(() => lines().includes("slow begins"))
    controller.abort(new Error("enough"))
    await assert.rejects(calling, /enough/)
    await until(() => lines().includes("slow cancelled"))
    assert.equal((await use(kit, "add", { a: 1, b: 1 })).text, "2")
  })

  test("follow the list of the server, in place", async (context) => {
    const changed = Promise.withResolvers<number>()
    const kit = await open(context, { onChange: (tools) => changed.resolve(tools.length) })
    const { tools } = kit
    const [add] = tools
    await use(kit, "grow")
    assert.equal(await changed.promise, 13)
    assert.equal(kit.tools, tools)
    assert.equal(tools[0], add, "what did not change stays the same tool")
    assert.equal((await use(kit, "late")).text, "late indeed")
  })

  test("see nothing of the host's environment but what they need and are given", async (context) => {
    process.env.KARST_TEST_SECRET = "hush"
    context.after(() => delete process.env.KARST_TEST_SECRET)
    const kit = await open(context, {}, { GIVEN: "yes" }, tmpdir())
    const seen = JSON.parse((await use(kit, "environment")).text)
    assert.equal(seen.KARST_TEST_SECRET, undefined)
    assert.equal(seen.GIVEN, "yes")
    assert.equal(seen.PATH, process.env.PATH)
    assert.equal(seen.cwd, tmpdir())
  })

  test("end with everything the server started, when closed", async (context) => {
    const kit = await open(context)
    const grandchild = Number((await use(kit, "has-child")).text)
    assert.ok(isAlive(grandchild))
    await kit.close()
    await kit.close()
    await until(() => !isAlive(grandchild))
    const after = await use(kit, "add", { a: 1, b: 1 })
    assert.match(after.text, /were closed/)
  })

  test("of a server that dies are a failure that says so, and the next call starts it again", async (context) => {
    const { log, lines } = logFile(context)
    const kit = await open(context, {}, { MCP_TEST_LOG: log })
    const { ok, code, text } = await use(kit, "dies")
    assert.deepEqual([ok, code], [false, "server-gone"])
    assert.match(text, /"fixture" was lost during dies: it ended with exit code 3: out of cheese/)
    const results = await Promise.all([use(kit, "add", { a: 1, b: 1 }), use(kit, "add", { a: 2, b: 2 })])
    assert.deepEqual(
      results.map((each) => each.text),
      ["2", "4"],
    )
    assert.equal(lines().filter((line) => line.startsWith("start")).length, 2)
  })
})

describe("an MCP server that cannot be reached", () => {
  for (const [what, server, says] of [
    [
      "a program that is not there",
      { command: "no-such-program-at-all" },
      /could not be started: there is no such program/,
    ],
    [
      "a program that ends at once",
      { command: process.execPath, args: ["-e", "console.error('bad flag'); process.exit(2)"] },
      /cannot be reached: it ended with exit code 2: bad flag/,
    ],
    ["a folder that is not there", { ...command, cwd: "/nowhere/at/all" }, /there is no folder "\/nowhere\/at\/all"/],
    [
      "nobody at the address",
      { url: "http://127.0.0.1:9/mcp" },
      /"127\.0\.0\.1:9" cannot be reached: .*(ECONNREFUSED|bad port)/,
    ],
    ["an address that is none", { url: "mcp" }, /a whole `url`/],
  ] as const) {
    test(`is told of: ${what}`, async () => {
      await assert.rejects(mcpTools(server), says)
    })
  }

  test("is told of without what its arguments may hold", async () => {
    const server = { command: "no-such-program-at-all", args: ["--key", "server.js", "--token=hush"] }
    await assert.rejects(mcpTools(server), (error: Error) => {
      assert.doesNotMatch(error.message, /hush/)
      return /"no-such-program-at-all server\.js" cannot be reached/.test(error.message)
    })
  })

  test("is given up when the signal fires", async () => {
    const silent = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] }
    await assert.rejects(mcpTools(silent, { signal: AbortSignal.timeout(300) }), { name: "TimeoutError" })
  })
})

test("names that are made safe stay different, short and words", () => {
  const taken = new Set<string>()
  for (const name of ["a.b", "a/b", "1st", "a-b", "über", "x".repeat(128), `${"x".repeat(127)}y`]) {
    const safe = safeToolName(name, undefined, taken)
    assert.match(safe, /^[A-Za-z_][\w-]{0,63}$/)
    assert.ok(!taken.has(safe), safe)
    taken.add(safe)
  }
  assert.ok(taken.has("a_b") && taken.has("_1st") && taken.has("a-b"))
  assert.deepEqual(Object.keys(byIdentifier([{ name: "a-b" }, { name: "a_b" }])), ["a_b", "a_b_"])
})

async function open(
  context: TestContext,
  options: McpClientOptions = {},
  env: Record<string, string> = {},
  cwd?: string,
): Promise<McpToolKit> {
  const kit = await mcpTools({ ...command, env, cwd }, options)
  context.after(() => kit.close())
  return kit
}

function logFile(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "karst-mcp-"))
  context.after(() => rmSync(folder, { recursive: true }))
  const log = join(folder, "log")
  return { log, lines: (): string[] => (existsSync(log) ? (readFileSync(log, "utf8").match(/^.+(?=\n)/gm) ?? []) : []) }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie still exists in /proc.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}
