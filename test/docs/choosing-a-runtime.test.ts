// test lane: runtimes, long
// The programs of docs/choosing-a-runtime.md, each run as it is shown there.
// #region runtimes
import { createAgent, jsRuntime } from "karst"
import { processRuntime } from "karst/process"
import { pythonRuntime, table } from "karst/python"
// #endregion

import assert from "node:assert/strict"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { tool } from "karst"
import { scriptedModel } from "karst/models"
import { localWorkspace } from "karst/workspaces"
import { cellValue } from "../runtime/cell-results.ts"
import { listen } from "../server/loopback.ts"
import { requires } from "../system.ts"
import { workIn } from "./surroundings.ts"

const orders = [{ total: 20 }, { total: 22 }]

describe("docs/choosing-a-runtime.md", () => {
  test("changes the runtime in one line", { skip: requires("bwrap", "python", "pandas") }, async (t) => {
    const workspace = localWorkspace(await workIn(t))
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
    const folder = await workIn(t)
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
    await using server = await listen((_request, response) => response.end("hello"))
    const connect = `await fetch("${server.url}").then(() => "connected", () => "no network")`
    assert.equal(await cellValue(runtime, connect), "no network")
  })
})
