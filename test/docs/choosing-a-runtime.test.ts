// test lane: runtimes
// The programs of docs/choosing-a-runtime.md, each run as it is shown there.
// #region runtimes
import { createAgent, jsRuntime } from "karst"
import { processRuntime } from "karst/process"
import { pythonRuntime, table } from "karst/python"
// #endregion

import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { tool } from "karst"
import { scriptedModel } from "karst/models"
import { localWorkspace } from "karst/workspaces"
import { cellValue } from "../runtime/cell-results.ts"
import { requires } from "../system.ts"

const orders = [{ total: 20 }, { total: 22 }]

describe("docs/choosing-a-runtime.md", () => {
  test("changes the runtime in one line", { skip: requires("bwrap", "python", "pandas") }, async (t) => {
    const workspace = localWorkspace(await inTemporaryFolder(t))
    const called: unknown[] = []
    const addUp = tool({
      name: "add_up",
      description: "Adds up the orders.",
      input: { type: "object", properties: {} },
      run: () => `${called.push("add_up")}`,
    })
    const tools = [addUp]
    const model = scriptedModel(({ system, messages, tools: offered }) => {
      if (messages.length > 1) return "Added up."
      if (offered?.some(({ name }) => name === "add_up"))
        return [{ type: "tool-call", id: "1", name: "add_up", input: {} }]
      return system.includes("Python")
        ? "```python\ntotal = int(orders.total.sum())\nfinish(str(total))\n```"
        : "```ts\nfinish(String(orders.reduce((sum, { total }) => sum + total, 0)))\n```"
    })
    // #region runtimes
    const agents = {
      inYourProcess: createAgent({ model, runtime: () => jsRuntime({ orders }) }),
      inAChildProcess: createAgent({ model, runtime: () => processRuntime({ orders }) }),
      inASandbox: createAgent({ model, runtime: () => processRuntime({ orders }, { isolation: "os" }) }),
      inPython: createAgent({ model, runtime: () => pythonRuntime({ orders: table(orders) }) }),
      withoutCode: createAgent({ model, tools, workspace }), // JSON tool calls
    }
    // #endregion
    const { withoutCode, ...withRuntimes } = agents
    for (const [name, agent] of Object.entries(withRuntimes)) {
      await using run = agent.run("Add up the orders")
      assert.equal((await run).output, "42", name)
    }
    assert.equal((await withoutCode.run("Add up the orders")).output, "Added up.")
    assert.deepEqual(called, ["add_up"])
  })

  test("lets a sandbox read the folders that it names", { skip: requires("bwrap") }, async (t) => {
    const folder = await inTemporaryFolder(t)
    await mkdir("reports")
    await writeFile("reports/may.txt", "fine")
    await writeFile("secret.txt", "secret")
    // #region sandbox
    const runtime = processRuntime({ orders }, { isolation: "os", read: ["./reports"], network: "none" })
    // #endregion
    await using _ = runtime
    const read = (path: string) =>
      `await (await import("node:fs/promises")).readFile(${JSON.stringify(path)}, "utf8").catch(({ code }) => code)`
    assert.equal(await cellValue(runtime, read(join(folder, "reports/may.txt"))), "fine")
    assert.notEqual(await cellValue(runtime, read(join(folder, "secret.txt"))), "secret")
    const write = read(join(folder, "reports/new.txt")).replace("readFile", "writeFile")
    assert.match(String(await cellValue(runtime, write)), /EROFS|EACCES|ERR_ACCESS_DENIED/)
    const connect = `await fetch("${await startServer(t)}").then(() => "connected", () => "no network")`
    assert.equal(await cellValue(runtime, connect), "no network")
  })
})

/** The sandbox names a folder of the working directory. */
async function inTemporaryFolder(t: TestContext): Promise<string> {
  const before = process.cwd()
  const folder = await mkdtemp(join(tmpdir(), "karst-runtimes-"))
  process.chdir(folder)
  t.after(async () => {
    process.chdir(before)
    await rm(folder, { recursive: true })
  })
  return folder
}

/** The address of a server in this process. */
async function startServer(t: TestContext): Promise<string> {
  const server = createServer((_request, response) => response.end("hello")).listen(0, "127.0.0.1")
  t.after(() => server.close())
  await once(server, "listening")
  const address = server.address()
  return typeof address === "object" ? `http://127.0.0.1:${address?.port}` : ""
}
