import assert from "node:assert/strict"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { AgentError, createAgent, type Hooks } from "karst"
import { type Config, createLocalClient, loadAgents, loadConfig } from "karst/config"
import { type ModelPart, scriptedModel } from "karst/models"
import { listSessions } from "karst/sessions"
import { sqliteStore } from "karst/stores"
import { connectMcpServers } from "../../src/config/agents/mcp-servers.ts"
import { testProject } from "./project-folder.ts"

const call = (name: string, input = {}): ModelPart[] => [{ type: "tool-call", id: "1", name, input }]
const says = (text: string) => scriptedModel(() => text)
const config = {
  models: { a: says("I am a."), b: says("I am b.") },
  agents: { ada: { model: "a", runtime: "js" }, bob: { model: "b", runtime: "js", description: "Second" } },
} satisfies Config

describe("createLocalClient", () => {
  test("runs an agent by its name", async () => {
    await using client = await createLocalClient({ config, env: {} })
    assert.equal((await client.run("Hi", { agent: "bob" })).output, "I am b.")
    assert.equal(await client.ask("Hi", { agent: "ada" }), "I am a.")
  })

  test("uses the default agent, of the configuration or of KARST_AGENT", async () => {
    await using client = await createLocalClient({ config: { ...config, agent: "ada" }, env: {} })
    assert.equal(await client.ask("Hi"), "I am a.")
    await using other = await createLocalClient({ config: { ...config, agent: "ada" }, env: { KARST_AGENT: "bob" } })
    assert.equal(await other.ask("Hi"), "I am b.")
    assert.deepEqual(
      other.agents().map(({ name, isDefault }) => [name, isDefault]),
      [
        ["ada", false],
        ["bob", true],
      ],
    )
  })

  test("uses the only agent, and asks which if there are several", async () => {
    await using one = await createLocalClient({ config: { ...config, agents: { ada: config.agents.ada } }, env: {} })
    assert.equal(await one.ask("Hi"), "I am a.")
    await using two = await createLocalClient({ config, env: {} })
    await assert.rejects(two.ask("Hi"), /Which agent\? There are: ada, bob\./)
    await using none = await createLocalClient({ config: {}, env: {} })
    await assert.rejects(none.ask("Hi"), /There is no agent\. Define one/)
  })

  test("names the agents if there is no such agent", async () => {
    await using client = await createLocalClient({ config, env: {} })
    assert.throws(
      () => client.run("Hi", { agent: "bobb" }),
      /no agent "bobb"\. Did you mean "bob"\? There are: ada, bob\./,
    )
  })

  test("runs an agent that is defined inline, also from JSON", async () => {
    await using client = await createLocalClient({ config, env: {} })
    const definition = JSON.parse('{ "model": "b", "instructions": "Be brief.", "runtime": "js" }')
    const run = client.run("Hi", { agent: definition })
    const { output, trajectory } = await run
    assert.equal(output, "I am b.")
    assert.match(JSON.stringify(trajectory.events[0]), /Be brief\./)
    assert.throws(() => client.run("Hi", { agent: { modle: "b" } as object }), /no option `agent.modle` \(did you mean/)
  })

  test("takes more agents, which replace those of the configuration", async (t) => {
    const { folder, env } = await testProject(t, { "project/karst.config.json": { agents: { ada: { model: "x/y" } } } })
    const own = createAgent({ name: "own", model: says("Mine.") })
    await using client = await createLocalClient({ cwd: folder, env, agents: { ada: own } })
    assert.equal(await client.ask("Hi"), "Mine.")
  })

  test("uses an agent made in code unchanged, and refuses another model for it", async () => {
    const own = createAgent({ name: "own", description: "Mine", model: says("Mine.") })
    await using client = await createLocalClient({ config: { agents: { own }, limits: { cycles: 1 } }, env: {} })
    assert.equal(await client.ask("Hi"), "Mine.")
    assert.throws(() => client.run("Hi", { model: "a/b" }), /The agent "own" is made in code: choose its model there/)
    assert.equal(client.agents()[0]?.description, "Mine")
  })

  test("reports a broken agent and runs the others", async (t) => {
    const { folder, env } = await testProject(t, {
      "project/karst.config.ts": `export default {
  agents: {
    fine: { model: "a/b" },
    broken: { model: "none" },
    circle: { model: "a/b", agents: ["circle"] },
  },
}`,
    })
    const file = join(folder, "karst.config.ts")
    await using client = await createLocalClient({ cwd: folder, env })
    const places = client.diagnostics().map(({ severity, path, line }) => [severity, path, line])
    assert.deepEqual(places, [
      ["error", file, 4],
      ["error", file, 5],
    ])
    assert.throws(
      () => client.run("Hi", { agent: "broken" }),
      (error: Error) => error.message.startsWith(`${file}:4: agents.broken: The agent "broken" names the model "none"`),
    )
    assert.throws(() => client.run("Hi", { agent: "circle" }), /circle → circle is a circle/)
    assert.deepEqual(Object.keys((await loadAgents({ cwd: folder, env })).agents), ["fine"])
  })

  test("reports a default agent that does not exist, and an agent that was not loaded", async () => {
    await using client = await createLocalClient({ config: { ...config, agent: "adda" }, only: ["ada"], env: {} })
    assert.match(client.diagnostics()[0]?.message ?? "", /default agent "adda" does not exist\. Did you mean "ada"\?/)
    assert.throws(() => client.run("Hi", { agent: "bob" }), /The agent "bob" was not loaded\. Add it to `only`/)
  })

  test("refuses a skill that the configuration names and that cannot be loaded", async (t) => {
    const { folder, env } = await testProject(t, { "project/karst.config.json": '{\n  "skills": ["none"]\n}' })
    await assert.rejects(
      createLocalClient({ cwd: folder, env }),
      /karst\.config\.json:2: the skills cannot be used as they are:\n- .*none: is not there/,
    )
  })

  test("refuses unknown options", async () => {
    await using client = await createLocalClient({ config, env: {} })
    assert.throws(() => client.run("Hi", { agnet: "bob" } as object), /no option `agnet` \(did you mean `agent`\?\)/)
    await assert.rejects(createLocalClient({ confg: {} } as object), /no option `confg` \(did you mean `config`\?\)/)
  })

  test("takes the result of loadConfig", async () => {
    const loaded = await loadConfig({ config, env: {} })
    await using client = await createLocalClient({ config: loaded })
    assert.equal(await client.ask("Hi", { agent: "bob" }), "I am b.")
    assert.equal(client.config, loaded)
  })
})

describe("client.ask", () => {
  test("throws if the agent asks a question", async () => {
    const asks = scriptedModel([call("ask", { question: "Which one?" })])
    await using client = await createLocalClient({
      config: { model: "m", models: { m: asks }, agents: { ada: { agents: ["bob"] }, bob: { runtime: "js" } } },
      env: {},
    })
    await assert.rejects(client.ask("Hi", { agent: "ada" }), (error) => {
      assert.ok(error instanceof AgentError)
      assert.equal(error.code, "not-done")
      assert.equal(error.details?.status, "waiting")
      assert.match(error.message, /The agent "ada" gave no answer: it asks "Which one\?"\./)
      return true
    })
  })

  test("throws if a limit stopped the run", async () => {
    const loops = says("```ts\n1\n```")
    await using client = await createLocalClient({
      config: { model: "m", models: { m: loops }, limits: { cycles: 2 }, agents: { ada: { runtime: "js" } } },
      env: {},
    })
    await assert.rejects(client.ask("Hi"), /gave no answer: the run is stopped \(cycles\)/)
    assert.equal((await client.run("Hi")).cycles, 2)
  })

  test("throws the error of a run that failed or was aborted", async () => {
    const fails = scriptedModel(() => {
      throw new Error("no service")
    })
    await using client = await createLocalClient({
      config: { model: "m", models: { m: fails }, agents: { ada: { runtime: "js" } } },
      env: {},
    })
    await assert.rejects(client.ask("Hi"), /no service/)
    await assert.rejects(client.ask("Hi", { signal: AbortSignal.abort() }), { name: "AbortError" })
  })
})

describe("client.session", () => {
  test("shares a conversation, is stored in the archive of the configuration, and can be resumed", async (t) => {
    const { folder } = await testProject(t)
    const counting = scriptedModel(({ messages }) => `${messages.length} messages.`)
    const archive = join(folder, "archive")
    await using client = await createLocalClient({
      config: { model: "m", models: { m: counting }, agents: { ada: { runtime: "js" } }, archive },
      env: {},
    })
    const session = await client.session({ metadata: { user: 42 } })
    assert.equal((await session.send("One")).output, "1 messages.")
    await session.close()
    assert.deepEqual(
      (await listSessions(archive)).map(({ id, agent }) => [id, agent]),
      [[session.id, "ada"]],
    )
    await using resumed = await client.session({ resume: session.id })
    assert.equal((await resumed.send("Two")).output, "3 messages.")
  })

  test("is stored in the store that `archive` of the configuration names, which the client closes; off stores nothing", async (t) => {
    const { folder, env } = await testProject(t, {
      "project/karst.config.json": { model: "m", agents: { ada: { runtime: "js" } }, archive: "sqlite:./k.db" },
    })
    const overrides = { models: { m: says("Hello.") } }
    {
      await using client = await createLocalClient({ cwd: folder, env, overrides })
      await using session = await client.session({ id: "user-42" })
      await session.send("One")
    }
    const store = sqliteStore(join(folder, "k.db"))
    const stored = await listSessions(store)
    await store.close()
    assert.deepEqual(
      stored.map(({ id }) => id),
      ["user-42"],
    )
    await using off = await createLocalClient({ cwd: folder, env: { ...env, KARST_ARCHIVE: "off" }, overrides })
    await using session = await off.session()
    await session.send("One")
    assert.equal(session.directory, undefined)
    assert.deepEqual((await readdir(folder)).sort(), [".git", "k.db", "karst.config.json"])
  })
})

describe("agents of a configuration", () => {
  test("have the limits and hooks of the configuration, before their own", async () => {
    const order: string[] = []
    const hook = (name: string): Hooks => ({ beforeRun: () => void order.push(name) })
    const { agents } = await loadAgents({
      config: {
        models: { m: says("```ts\n1\n```") },
        model: "m",
        limits: { cycles: 3, calls: 7 },
        hooks: hook("all"),
        agents: { ada: { runtime: "js", limits: { cycles: 1 }, hooks: [hook("own")] } },
      },
      env: {},
    })
    const result = await agents.ada?.run("Hi")
    assert.deepEqual([result?.status, result?.cycles, order], ["stopped", 1, ["all", "own"]])
  })

  test("delegate to agents that they name", async () => {
    const lead = scriptedModel([call("delegate", { tasks: [{ agent: "bob", prompt: "Who are you?" }] }), "Done."])
    await using client = await createLocalClient({
      config: {
        ...config,
        models: { ...config.models, lead },
        agents: { ...config.agents, lead: { model: "lead", agents: ["bob"] } },
      },
      env: {},
      only: ["lead"],
    })
    const { trajectory } = await client.run("Hi", { agent: "lead" })
    assert.match(JSON.stringify(trajectory.events), /I am b\./)
    assert.deepEqual(
      client.agents().map(({ name }) => name),
      ["bob", "lead"],
    )
  })

  test("ask the approver of the client", async () => {
    const asked: string[] = []
    const model = scriptedModel([call("shell", { command: "echo hello" }), "Done."])
    await using client = await createLocalClient({
      config: { model: "m", models: { m: model }, agents: { ada: { workspace: ".", shell: true } } },
      env: {},
      approver: (call) => {
        asked.push(String(call.binding))
        return "deny"
      },
    })
    await client.run("Hi")
    assert.deepEqual(asked, ["shell"])
  })

  test("have the tools of the MCP servers that they name, with variables of the environment", async () => {
    const fixture = fileURLToPath(new URL("../fixtures/mcp/tools-server.ts", import.meta.url))
    const model = scriptedModel([call("sums_add", { a: 1, b: 2 }), "Done."])
    const server = { command: process.execPath, args: [fixture], env: { MY_TOKEN: "${TOKEN}" } }
    await using client = await createLocalClient({
      config: { model: "m", models: { m: model }, mcpServers: { sums: server }, agents: { ada: { mcp: ["sums"] } } },
      env: { TOKEN: "t1" },
      approver: () => "allow",
    })
    assert.deepEqual(client.diagnostics(), [])
    const { trajectory } = await client.run("1 + 2?")
    const end = trajectory.events.find((event) => event.type === "tool-end")
    assert.match(end?.text ?? "", /3/)
  })

  test("whose MCP server cannot be used have an error that says why", async () => {
    await using client = await createLocalClient({
      config: {
        model: "a/b",
        mcpServers: { gone: { command: "/no/such/program" }, keyed: { url: "http://127.0.0.1:1/${NO_VAR}" } },
        agents: { ada: { mcp: ["gone"] }, bob: { mcp: ["keyed"] }, eve: { mcp: ["gonne"] } },
      },
      env: {},
    })
    assert.throws(() => client.run("Hi", { agent: "ada" }), /the MCP server "gone" cannot be used/)
    assert.throws(() => client.run("Hi", { agent: "bob" }), /"keyed" needs the environment variable NO_VAR/)
    assert.throws(() => client.run("Hi", { agent: "eve" }), /no MCP server "gonne"\. Did you mean "gone"\?/)
  })

  test("an MCP server that does not start in time is ended, and the error says so", async () => {
    const silent = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] }
    const loaded = await loadConfig({ config: { mcpServers: { silent } }, env: {} })
    const servers = await connectMcpServers(["silent"], loaded, [], { connectTimeoutMs: 300 })
    assert.throws(() => servers.toolsOf("silent"), /"silent" cannot be used: it did not start within 300 ms\./)
    await servers.close()
  })

  test("can be coding CLIs, in the order of the configuration", async () => {
    const { agents, diagnostics } = await loadAgents({
      config: {
        providers: ["codex", "claude"],
        hooks: { onEvent: () => {} },
        agents: { coder: { provider: "auto", instructions: "Test first." }, wrong: { provider: "auto", todos: true } },
      },
      env: {},
    })
    assert.deepEqual(Object.keys(agents), ["coder"])
    const problems = diagnostics().map(({ severity, message }) => `${severity}: ${message}`)
    assert.deepEqual(problems, [
      "warning: the hook `onEvent` of the configuration does not apply to a coding CLI",
      'error: `todos` of the agent "wrong" is not an option of a coding CLI. Leave it out.',
    ])
  })
})
