// test lane: clis, long
// The programs and files of docs/mcp.md, each run as it is shown there.

// #region serve
import { fn, jsRuntime, tool } from "karst"
// #endregion

import assert from "node:assert/strict"
import { copyFile, mkdir, readFile, symlink, writeFile } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, test } from "node:test"

// #region tools
import { createAgent } from "karst"
import { mcpTools } from "karst/mcp" // npm install @modelcontextprotocol/client
// #endregion

// #region serve
import { methods, serveMcp } from "karst/mcp"
// #endregion

import { scriptedModel } from "karst/models"
import { z } from "zod"
import { use } from "../mcp/clients.ts"
import { redirectRequests, setVariables, workIn } from "./surroundings.ts"

const root = dirname(dirname(import.meta.dirname))
const node = [process.execPath, "--conditions=karst-source", "--disable-warning=ExperimentalWarning"]

describe("objects.ts", () => {
  test("is served to a client by the command in its configuration", async (t) => {
    const folder = await workIn(t, { "package.json": '{ "type": "module" }' })
    await copyFile(join(import.meta.dirname, "mcp/objects.ts"), join(folder, "objects.ts"))
    await mkdir("node_modules/.bin", { recursive: true })
    await symlink(root, "node_modules/karst")
    const command = `#!/bin/sh\nexec ${node.join(" ")} ${join(root, "src/cli/bin.ts")} "$@"\n`
    await writeFile("node_modules/.bin/karst", command, { mode: 0o755 })
    const text = await readFile(join(import.meta.dirname, "mcp/mcp.json"), "utf8")
    const { mcpServers } = z
      .object({ mcpServers: z.object({ objects: z.object({ command: z.string(), args: z.array(z.string()) }) }) })
      .parse(JSON.parse(text))
    await using kit = await mcpTools({ ...mcpServers.objects, cwd: folder })
    assert.equal(kit.name, "objects")
    assert.deepEqual(
      kit.tools.map(({ name }) => name),
      ["describe", "run", "inspect", "wait"],
    )
    const runs = async (code: string) => (await use(kit, "run", { code })).text
    assert.match(await runs("light.dim(20)\nconst before = light.level"), /<output>/)
    assert.match(await runs("before + light.level"), /40/)
    assert.match(await runs('db.exec("create table t (n)")\ndb.prepare("select count(*) as n from t").get()'), /n: 0/)
    assert.match(await runs('await import("node:fs")'), /<error>/)
  })
})

describe("a program", () => {
  test("serves its objects, tools and agents", async (t) => {
    const printed = t.mock.method(console, "log", () => {})
    const db = new DatabaseSync(":memory:")
    const lookUp = tool({
      name: "look_up",
      description: "Looks a word up.",
      input: z.object({ word: z.string() }),
      run: ({ word }) => `${word}: found`,
    })
    const researcher = createAgent({
      name: "researcher",
      description: "Finds facts.",
      model: scriptedModel(({ messages }) => `Fact ${messages.length}`),
    })
    const cart = {
      items: [] as string[],
      add(item: string) {
        this.items.push(item)
      },
      checkout() {
        return `paid ${this.items.length}`
      },
    }
    const asked: string[] = []
    let answer = false
    const askSomebody = (call: { binding: string }) => {
      asked.push(call.binding)
      return answer
    }
    // #region serve
    await using server = await serveMcp({
      name: "shop",
      runtime: jsRuntime({ db }), // describe, run, inspect, wait
      // A list, or tools by name: { add: (a: number, b: number) => a + b, pay: fn(pay, { approve: true }) }
      tools: [
        lookUp, // made by tool()
        researcher, // an agent: a prompt in, its answer out
        // an object with state
        methods(cart, { add: "Adds an item.", checkout: { description: "Pays.", approve: true } }),
      ],
      approver: (call) => askSomebody(call),
    })
    console.log(server.url, server.headers) // http://127.0.0.1:…/mcp { Authorization: 'Bearer …' }
    // #endregion
    assert.deepEqual(printed.mock.calls[0]?.arguments, [server.url, server.headers])
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    assert.match(server.headers.Authorization ?? "", /^Bearer \S+$/)
    await using kit = await mcpTools({ url: server.url, headers: server.headers })
    const text = async (name: string, input: object) => (await use(kit, name, input)).text
    assert.deepEqual(
      kit.tools.map(({ name }) => name),
      ["describe", "run", "inspect", "wait", "look_up", "researcher", "add", "checkout"],
    )
    assert.match(await text("run", { code: 'db.prepare("select 6 * 7 as n").get()' }), /n: 42/)
    assert.equal(await text("look_up", { word: "karst" }), "karst: found")
    assert.match(await text("researcher", { prompt: "Why?" }), /Fact 1/)
    await text("add", { item: "tea" })
    assert.deepEqual(cart.items, ["tea"])
    assert.match(await text("checkout", {}), /checkout/)
    answer = true
    assert.equal(await text("checkout", {}), "paid 1")
    assert.deepEqual(asked, ["checkout", "checkout"])

    await server.updateTools({ add: (a: number, b: number) => a + b, pay: fn(() => "paid", { approve: true }) })
    await using again = await mcpTools({ url: server.url, headers: server.headers })
    assert.equal((await use(again, "add", { a: 2, b: 3 })).text, "5")
    assert.equal((await use(again, "pay")).text, "paid")
    assert.deepEqual(asked, ["checkout", "checkout", "pay"])
  })

  test("uses the tools of MCP servers, as tools and as functions in cells", async (t) => {
    const folder = await workIn(t)
    // Stands for the package that npx would download.
    const package_ = join(root, "test/fixtures/mcp/tools-server.ts")
    const npx = `#!/bin/sh\necho "$*" > ${folder}/started\nexec ${node.join(" ")} ${package_}\n`
    await mkdir("bin")
    await writeFile("bin/npx", npx, { mode: 0o755 })
    await using remote = await serveMcp({ name: "wiki", tools: { search: (words: string) => `about ${words}` } })
    redirectRequests(t, () => remote.url)
    setVariables(t, {
      PATH: [join(folder, "bin"), process.env.PATH].join(delimiter),
      WIKI_KEY: remote.headers.Authorization?.replace("Bearer ", ""),
    })
    const model = scriptedModel([
      [
        { type: "tool-call", id: "1", name: "add", input: { a: 1, b: 2 } },
        { type: "tool-call", id: "2", name: "wiki_search", input: { words: "rivers" } },
      ],
      "Done.",
      "```ts\nawait add({ a: 20, b: 3 })\n```",
      "Done.",
    ])
    // #region tools
    await using kit = await mcpTools({ command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] })
    const headers = { Authorization: `Bearer ${process.env.WIKI_KEY}` }
    await using wiki = await mcpTools({ url: "https://mcp.example.com/mcp", headers }, { prefix: "wiki" })

    const agent = createAgent({ model, tools: [...kit.tools, ...wiki.tools], instructions: kit.instructions })
    // The same tools, as functions in cells:
    const coder = createAgent({ model, runtime: jsRuntime({ ...kit.bindings() }) })
    // #endregion
    assert.equal(await readFile("started", "utf8"), "-y @modelcontextprotocol/server-filesystem .\n")
    const { trajectory } = await agent.run("Add and search")
    assert.match(trajectory.system, /Use add to add\./)
    assert.match(JSON.stringify(trajectory.messages), /"3"[\s\S]*about rivers/)
    assert.match(JSON.stringify((await coder.run("Add")).messages), /23/)
  })
})
