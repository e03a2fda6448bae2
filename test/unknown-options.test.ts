import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, test } from "node:test"
import * as karst from "karst"
import * as config from "karst/config"
import { display } from "karst/display"
import { bullmqBackend, createEngine, inlineBackend, workerBackend } from "karst/engine"
import { suite } from "karst/evals"
import { mcpTools, methods, serveMcp, serveMcpStdio } from "karst/mcp"
import * as models from "karst/models"
import { traced } from "karst/otel"
import { processRuntime } from "karst/process"
import * as providers from "karst/providers"
import { pythonRuntime } from "karst/python"
import * as rules from "karst/rules"
import { toNode, toResponse } from "karst/server"
import { listSessions, toAtif, trajectory } from "karst/sessions"
import { memoryStore, redisStore, sqliteStore } from "karst/stores"
import * as testing from "karst/testing"
import * as tools from "karst/tools"
import { localWorkspace, memoryWorkspace, overlayWorkspace, s3Workspace, scopedWorkspace } from "karst/workspaces"

/** Options as plain JavaScript passes them: the compiler would refuse these. */
type Extra = Record<string, never>
type Use = (extra: Extra) => unknown
/** What is called, one of its options, and the call with an option that does not exist. */
type Case = [use: string, known: string, call: Use]

const { classType, createAgent, fn, jsRuntime, skill, tool, validateOutput, variable } = karst
const model = models.scriptedModel(() => "Hi.")
const agent = createAgent({ model })
const store = memoryStore()
const workspace = memoryWorkspace()
const engine = createEngine({ agents: { agent }, store })
const runtime = jsRuntime()
const commands = tools.commands()
const noop = () => {}
const cli = providers.claude()
const price = { input: 1, output: 2 }
const skillParts = { name: "a", description: "b", instructions: "c" }
const backend = { test: noop, open: () => inlineBackend() }

const client = () => config.createLocalClient({ config: { agents: { agent } }, env: {} })

const workspaces = [
  ["memoryWorkspace", workspace],
  ["localWorkspace", localWorkspace("/nowhere")],
  ["s3Workspace", s3Workspace({ bucket: "bucket", credentials: keys({}) })],
  ["overlayWorkspace", overlayWorkspace(memoryWorkspace(), memoryWorkspace())],
  ["scopedWorkspace", scopedWorkspace(workspace, "folder")],
] as const
const runtimes = [
  ["jsRuntime", runtime],
  ["processRuntime", processRuntime()],
  ["pythonRuntime", pythonRuntime()],
] as const
const stores = [
  ["memoryStore", store],
  ["sqliteStore", sqliteStore("none.db")],
  ["redisStore", redisStore("redis://localhost:1")],
] as const

const functions: Case[] = [
  ["agentTool", "description", (extra) => tools.agentTool(agent, extra)],
  ["acp", "command", (extra) => providers.acp({ command: "x", ...extra })],
  ["aiSdk", "contextWindow", (extra) => models.aiSdk({ specificationVersion: "v2" } as never, extra)],
  ["assertReplays", "strict", (extra) => testing.assertReplays(agent, "none", extra)],
  ["attributeRule", "description", (extra) => rules.attributeRule("x", extra)],
  ["bullmqBackend", "connection", (extra) => bullmqBackend({ url: "redis://x", ...extra })],
  ["checkHealth", "providers", (extra) => providers.checkHealth({ providers: [], ...extra })],
  ["classType", "description", (extra) => classType(class X {}, extra)],
  ["claude", "instructions", (extra) => providers.claude(extra)],
  ["codec", "encode", (extra) => karst.codec(Date, { encode: Number, decode: noop as never, ...extra })],
  ["codex", "config", (extra) => providers.codex(extra)],
  ["codingAgent", "provider", (extra) => providers.codingAgent(extra)],
  ["commands", "maxRunning", (extra) => tools.commands(extra)],
  ["createAgent", "instructions", (extra) => createAgent({ model, ...extra })],
  ["createEngine", "leaseMs", (extra) => createEngine({ agents: { agent }, store, ...extra })],
  ["createLocalClient", "overrides", (extra) => config.createLocalClient({ config: {}, ...extra })],
  ["delegateTools", "maxParallel", (extra) => tools.delegateTools({ agent }, extra)],
  ["display", "stream", (extra) => display(agent.run("x"), extra)],
  ["fallback", "failover", (extra) => providers.fallback(agent, extra as providers.FallbackOptions)],
  ["fn", "description", (extra) => fn(noop, extra)],
  ["functionRule", "except", (extra) => rules.functionRule("x", extra)],
  ["gemini", "protocol", (extra) => providers.gemini(extra)],
  ["handModel", "contextWindow", (extra) => models.handModel({ dir: "x", ...extra })],
  ["handoffTool", "description", (extra) => tools.handoffTool(agent, extra)],
  ["importLlmSettings", "environment".slice(0, 3), (extra) => config.importLlmSettings("none", extra)],
  ["importRule", "description", (extra) => rules.importRule("x", extra)],
  ["inlineBackend", "onError", (extra) => inlineBackend(extra)],
  ["installedProviders", "environment".slice(0, 3), (extra) => providers.installedProviders(extra)],
  ["jsRuntime", "codecs", (extra) => jsRuntime({}, extra)],
  ["loadAgents", "overrides", (extra) => config.loadAgents({ config: {}, ...extra })],
  ["loadConfig", "overrides", (extra) => config.loadConfig({ config: {}, ...extra })],
  ["listSessions", "search", (extra) => listSessions(store, extra)],
  ["mcpTools", "prefix", (extra) => mcpTools({ command: "x" }, extra)],
  ["methods", "prefix", (extra) => methods({ noop }, { noop: "x" }, extra)],
  ["opencode", "config", (extra) => providers.opencode(extra)],
  ["processRuntime", "network", (extra) => processRuntime({}, extra)],
  ["pythonRuntime", "python", (extra) => pythonRuntime({}, extra)],
  ["readImageTool", "timeoutMs", (extra) => tools.readImageTool(extra)],
  ["recordModel", "append", (extra) => models.recordModel(model, [], extra)],
  ["redisStore", "prefix", (extra) => redisStore("redis://x", extra)],
  ["regexRule", "description", (extra) => rules.regexRule(/x/, extra)],
  ["replayModel", "strict", (extra) => models.replayModel([], extra)],
  ["replayRecording", "strict", (extra) => testing.replayRecording(agent, "none", extra)],
  ["resolveModel", "headers", (extra) => models.resolveModel("openai/x", extra)],
  ["rotateModels", "shuffle", (extra) => models.rotateModels([model], extra)],
  ["s3Workspace", "region", (extra) => s3Workspace({ bucket: "b", ...extra })],
  ["scriptedModel", "chunkChars", (extra) => models.scriptedModel([], extra)],
  ["searchFilesTool", "ripgrep", (extra) => tools.searchFilesTool(extra)],
  ["serveMcp", "instructions", (extra) => serveMcp({ name: "x", ...extra })],
  ["serveMcpStdio", "instructions", (extra) => serveMcpStdio({ name: "x", ...extra })],
  ["shellTool", "timeoutMs", (extra) => tools.shellTool(commands, extra)],
  ["shellTools", "maxTimeoutMs", (extra) => tools.shellTools(extra)],
  ["skill", "license", (extra) => skill({ ...skillParts, ...extra })],
  ["sqliteStore", "busyTimeoutMs", (extra) => sqliteStore("none.db", extra)],
  ["suite", "trials", (extra) => suite([], {}, { agent, ...extra })],
  ["testBackend", "outage", (extra) => testing.testBackend({ ...backend, ...extra })],
  ["testHandles", "language", (extra) => testing.testHandles({ ...handles(), ...extra })],
  ["testRuntime", "language", (extra) => testing.testRuntime({ ...handles(), ...extra })],
  [
    "testStore",
    "location",
    (extra) => testing.testStore({ test: noop, location: String, open: () => store, ...extra }),
  ],
  [
    "testWorkspace",
    "workspace",
    (extra) => testing.testWorkspace({ test: noop, workspace: () => workspace, ...extra }),
  ],
  ["toAtif", "version", (extra) => toAtif(trajectory([]), extra)],
  ["toNode", "keepAliveMs", (extra) => toNode(agent.run("x"), {} as never, extra)],
  ["toResponse", "request", (extra) => toResponse(agent.run("x"), extra)],
  ["tool", "parallel", (extra) => tool({ name: "x", description: "", run: noop, ...extra })],
  ["traced", "content", (extra) => traced(extra)],
  ["trustConfig", "environment".slice(0, 3), (extra) => config.trustConfig("none", extra)],
  ["validateOutput", "maxRepairs", (extra) => validateOutput({ type: "object" }, extra)],
  ["variable", "description", (extra) => variable({}, extra)],
  ["withRetry", "maxRetries", (extra) => models.withRetry(model, extra)],
  ["withTimeouts", "idleMs", (extra) => models.withTimeouts(model, extra)],
  ["workerBackend", "workers", (extra) => workerBackend({ module: "x", ...extra })],
]

const members: Case[] = [
  ["agent.run", "outputs", (extra) => agent.run("x", extra)],
  ["agent.with", "limits", (extra) => agent.with(extra)],
  ["agent.session", "archive", (extra) => agent.session(extra)],
  ["session.send", "verify", async (extra) => (await agent.session()).send("x", extra)],
  ["session", "verify", async (extra) => (await agent.session()).followUp("x", extra)],
  ["session.fork", "before", async (extra) => (await agent.session()).fork?.(extra)],
  ["claude", "systemPrompt", (extra) => cli.run("x", extra)],
  ["claude", "reasoning", (extra) => cli.with(extra)],
  ["claude", "archive", (extra) => cli.session(extra)],
  ["claude", "reasoning", (extra) => cli.interactive("x", extra)],
  ["checkHealth", "timeoutMs", (extra) => cli.checkHealth(extra)],
  ["checkLimit", "timeoutMs", (extra) => cli.checkLimit(extra)],
  ["client.run", "metadata", async (extra) => (await client()).run("x", extra)],
  ["client.ask", "metadata", async (extra) => (await client()).ask("x", extra)],
  ["client.session", "archive", async (extra) => (await client()).session(extra)],
  ["engine.submit", "session", (extra) => engine.submit("agent", "x", extra)],
  ["engine.watch", "signal", (extra) => Array.fromAsync(engine.watch("run_1", extra))],
  ["engine.result", "signal", (extra) => engine.result("run_1", extra)],
  ["engine.list", "status", (extra) => Array.fromAsync(engine.list(extra))],
  ["engine.work", "maxParallel", (extra) => engine.work(extra)],
  ["engine.prune", "olderThanMs", (extra) => engine.prune({ olderThanMs: 1, ...extra })],
  ...workspaces.flatMap(([name, files]): Case[] => [
    ["workspace.read()", `end of ${name}`, (extra) => files.read("a", extra)],
    ["workspace.stream()", `start of ${name}`, (extra) => Array.fromAsync(files.stream("a", extra))],
    ["workspace.write()", `append of ${name}`, (extra) => files.write("a", "two", extra)],
    ["workspace.stat()", `signal of ${name}`, (extra) => files.stat("a", extra)],
    ["workspace.list()", `glob of ${name}`, (extra) => Array.fromAsync(files.list("", extra))],
    ["workspace.remove()", `signal of ${name}`, (extra) => files.remove("a", extra)],
  ]),
  ...runtimes.flatMap(([name, runtime]): Case[] => [
    ["runtime.execute()", `timeoutMs of ${name}`, (extra) => runtime.execute("1", extra)],
    ["runtime.snapshot()", `maxBytes of ${name}`, (extra) => runtime.snapshot(extra)],
  ]),
  ...stores.flatMap(([name, store]): Case[] => [
    ["store.commit()", `ifRevision of ${name}`, (extra) => store.commit([], { key: "a", ifRevision: 0, ...extra })],
    ["store.commit()", `evenIfFull of ${name}`, (extra) => store.commit([], undefined, extra)],
  ]),
]

const nested: Case[] = [
  ["createAgent", "limits.cycles", (extra) => createAgent({ model, limits: extra })],
  ["createAgent", "memory.keepResults", (extra) => createAgent({ model, memory: extra })],
  ["createAgent", "prompt.instructions", (extra) => createAgent({ model, prompt: extra })],
  ["createAgent", "shell.timeoutMs", (extra) => createAgent({ model, shell: extra })],
  ["createAgent", "toolPolicy.allow", (extra) => createAgent({ model, toolPolicy: extra })],
  ["createAgent", "transaction.check", (extra) => createAgent({ model, transaction: { check: noop, ...extra } })],
  ["agent.session", "budget.tokens", (extra) => agent.session({ budget: extra })],
  ["createEngine", "retry.maxRetries", (extra) => createEngine({ agents: { agent }, store, retry: extra })],
  ["engine.submit", "limits.cycles", (extra) => engine.submit("agent", "x", { limits: extra })],
  ["bullmqBackend", "rateLimit.durationMs", (extra) => bullmqBackend({ url: "redis://x", rateLimit: rate(extra) })],
  ["variable", "guard.wipe.maxCalls", (extra) => variable({ wipe: noop }, { guard: { wipe: extra } })],
  ["processRuntime", "limits.memoryBytes", (extra) => processRuntime({}, { limits: extra })],
  ["pythonRuntime", "limits.memoryBytes", (extra) => pythonRuntime({}, { limits: extra })],
  ["pythonRuntime", "setup.file", (extra) => pythonRuntime({}, { setup: { file: "x", ...extra } })],
  ["claude", "autoWait.maxWaitMs", (extra) => providers.claude({ autoWait: extra })],
  ["claude", "limits.cycles", (extra) => providers.claude({ limits: extra })],
  ["claude", "transaction.check", (extra) => providers.claude({ transaction: { check: noop, ...extra } })],
  ["claude", "command", (extra) => providers.claude({ mcpServers: { a: { command: "x", ...extra } } })],
  ["fallback", "autoWait.maxWaitMs", (extra) => providers.fallback(agent, { autoWait: extra })],
  ["codex", "price.cacheRead", (extra) => providers.codex({ price: { ...price, ...extra } })],
  ["serveMcp", "limits.callsByName", (extra) => serveMcp({ name: "x", limits: extra })],
  ["serveMcp", "transaction.check", (extra) => serveMcp({ name: "x", transaction: { check: noop, ...extra } })],
  ["mcpTools", "command", (extra) => mcpTools({ command: "x", ...extra })],
  ["mcpTools", "headers", (extra) => mcpTools({ url: "http://localhost:1", ...extra })],
  ["methods", "description", (extra) => methods({ noop }, { noop: extra })],
  ["importRule", "only", (extra) => rules.importRule({ only: "x", ...extra })],
  ["resolveModel", "retry.maxRetries", (extra) => models.resolveModel("openai/x", { retry: extra })],
  ["resolveModel", "timeouts.idleMs", (extra) => models.resolveModel("openai/x", { timeouts: extra })],
  ["resolveModel", "price.cacheRead", (extra) => models.resolveModel("openai/x", { price: { ...price, ...extra } })],
  ["scriptedModel", "price.cacheRead", (extra) => models.scriptedModel([], { price: { ...price, ...extra } })],
  ["handModel", "price.cacheRead", (extra) => models.handModel({ dir: "none", price: { ...price, ...extra } })],
  ["replayModel", "price.cacheRead", (extra) => models.replayModel([], { price: { ...price, ...extra } })],
  [
    "aiSdk",
    "price.cacheRead",
    (extra) => models.aiSdk({ specificationVersion: "v2" } as never, { price: { ...price, ...extra } }),
  ],
  ["s3Workspace", "credentials.sessionToken", (extra) => s3Workspace({ bucket: "b", credentials: keys(extra) })],
  ["outputs.r", "stale", (extra) => agent.run("x", { outputs: { r: { schema: {}, ...extra } } })],
  ["loadSkills", "trusted", (extra) => karst.loadSkills([{ path: "none", ...extra }])],
]

function handles() {
  return { test: noop, after: noop, runtime: () => runtime, language: "typescript" as const }
}

function keys(extra: Extra) {
  return { accessKeyId: "a", secretAccessKey: "b", ...extra }
}

const rate = (extra: Extra) => ({ max: 1, durationMs: 1, ...extra })

describe("an option that does not exist is an error that names the function, the option and the nearest one:", () => {
  for (const [use, known, call] of [...functions, ...members, ...nested]) {
    const [option = ""] = known.split(" ")
    const [name = ""] = option.split(".").slice(-1)
    const path = option.slice(0, -name.length)

    test(`${use} with ${known} misspelt`, async () => {
      const error = await errorOf(call, `${name}x`)
      assert.match(error, new RegExp(`^${use.replace(/[.()]/g, "\\$&")}`))
      assert.ok(error.includes(`\`${path}${name}x\` (did you mean \`${option}\`?)`), error)
    })

    test(`${use} with nonsense in place of ${known}`, async () => {
      const error = await errorOf(call, "qqqq")
      assert.ok(error.startsWith(use) && error.includes(`there is no option \`${path}qqqq\``), error)
    })
  }
})

test("every public function that takes options is among these", () => {
  const report = readFileSync(new URL("../etc/api.md", import.meta.url), "utf8")
  const declared = [...report.matchAll(/^function (\w+)[\s\S]*?(?=\n\n|\n```)/gm)]
  const takesOptions = declared.filter(([text]) =>
    /Options\b|Suite\b|Definition|Methods<|: \{\n|Omit<ToolResult/.test(text),
  )
  const names = new Set(takesOptions.map(([, name]) => name))
  // The first takes files. The fields of a tool result are checked when the tool has returned it.
  for (const name of ["memoryWorkspace", "toolResult"]) names.delete(name)
  assert.deepEqual([...names].sort(), functions.map(([use]) => use).sort())
})

/** An argument that the compiler would refuse. */
const argument = (extra: Extra) => [extra] as unknown as []

test("a function without options refuses an argument in their place", async () => {
  const uses: [use: string, call: Use][] = [
    ["guardInput", (extra) => karst.guardInput(noop, ...argument(extra))],
    ["guardOutput", (extra) => karst.guardOutput(noop, ...argument(extra))],
    ...runtimes.map(([, runtime]): [string, Use] => [
      "runtime.inject",
      (extra) => runtime.inject({}, ...argument(extra)),
    ]),
  ]
  for (const [use, call] of uses) assert.match(await errorOf(call, "value"), new RegExp(`^${use}\\(\\) has no options`))
})

async function errorOf(call: Use, name: string): Promise<string> {
  try {
    await call({ [name]: 1 } as Extra)
  } catch (error) {
    assert.ok(error instanceof karst.ConfigError, String(error))
    return error.message
  }
  return "It was accepted."
}
