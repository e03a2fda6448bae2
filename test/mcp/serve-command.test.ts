import assert from "node:assert/strict"
import { describe, type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { createAgent } from "../../src/agent/create-agent.ts"
import { mcpTools } from "../../src/mcp/client.ts"
import type { McpToolKit } from "../../src/mcp/mcp.ts"
import { scripted } from "../../src/models/scripted.ts"
import { karst, startKarst } from "../cli/karst.ts"

const bin = fileURLToPath(new URL("../../src/cli/bin.ts", import.meta.url))
const objects = fileURLToPath(new URL("../fixtures/mcp/objects.ts", import.meta.url))
const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]

describe("karst mcp serve", () => {
  test("gives a client that starts it the live objects of a module, whatever the module prints", async (context) => {
    const kit = await started(context, { MCP_TEST_APPROVES: "1" })
    assert.equal(kit.name, "karst")
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
    assert.match(await call(kit, "run", { code: "await wipe()" }), /wipe needs approval and nobody is there/)
    const [pid] = /\d+/.exec(await call(kit, "run", { code: "pid" })) ?? []
    await kit.close()
    assert.throws(() => process.kill(Number(pid), 0), { code: "ESRCH" })
  })

  test("serves several clients over HTTP, and ends well on SIGTERM", async (context) => {
    const token = "0123456789abcdef0123456789abcdef"
    const { child, ended } = startKarst(["mcp", "serve", "--runtime", objects, "--http", "--name", "house"], {
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
    assert.match(said, new RegExp(`Authorization: Bearer ${token}`))
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
    ["no action", [], /karst mcp serve --runtime/],
    ["another action", ["listen"], /one action/],
    ["no module", ["serve"], /--runtime \.\/objects\.ts/],
    ["no such module", ["serve", "--runtime", "nowhere.ts"], /no file nowhere\.ts/],
    [
      "a module without a runtime",
      ["serve", "--runtime", fileURLToPath(import.meta.resolve("./clients.ts"))],
      /exports no runtime/,
    ],
    ["a port without HTTP", ["serve", "--runtime", objects, "--port", "8000"], /--port is for --http/],
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

async function started(context: TestContext, env: Record<string, string> = {}): Promise<McpToolKit> {
  const kit = await mcpTools({
    command: process.execPath,
    args: [...flags, bin, "mcp", "serve", "--runtime", objects],
    env,
  })
  context.after(() => kit.close())
  return kit
}

/** What an agent of ours sees of a call. */
async function call(kit: McpToolKit, name: string, input: Record<string, string | number>): Promise<string> {
  const agent = createAgent({
    model: scripted([[{ type: "tool-call", id: "t", name, input }], "Done."]),
    tools: kit.tools,
    noTool: "answer",
  })
  const { messages } = await agent.run("Go.")
  const [result] = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-result" ? [part] : [])))
  return result?.text ?? ""
}
