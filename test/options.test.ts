import assert from "node:assert/strict"
import { describe, test } from "node:test"
import * as karst from "karst"
import { display } from "karst/display"
import { bullmqBackend, createEngine, inlineBackend, workerBackend } from "karst/engine"
import { suite } from "karst/evals"
import { mcpTools, serveMcp } from "karst/mcp"
import * as models from "karst/models"
import { traced } from "karst/otel"
import { processRuntime } from "karst/process"
import * as providers from "karst/providers"
import { pythonRuntime } from "karst/python"
import { memoryStore, redisStore, sqliteStore } from "karst/stores"
import * as tools from "karst/tools"
import { memoryWorkspace, s3Workspace } from "karst/workspaces"
import { builtinTools } from "../src/tools/builtin.ts"
import { builtinNames } from "../src/tools/builtin-names.ts"

// Options as plain JavaScript gives them: the compiler would refuse these.
const wrong = (options: unknown) => options as never

const { createAgent, fn, jsRuntime, tool, variable } = karst
const model = models.scriptedModel(() => "Hi.")
const agent = createAgent({ model })
const store = memoryStore()
const engine = () => createEngine({ agents: { agent }, store })
const noop = () => {}

type Case = [title: string, use: () => unknown, told: RegExp]

const misspelt: Case[] = [
  [
    "createAgent",
    () => createAgent(wrong({ model, instruction: "x" })),
    /`instruction` \(did you mean `instructions`\?\)/,
  ],
  [
    "createAgent limits",
    () => createAgent({ model, limits: wrong({ cycle: 3 }) }),
    /`limits\.cycle` \(did you mean `limits\.cycles`\?\)/,
  ],
  [
    "createAgent memory",
    () => createAgent({ model, memory: wrong({ compact: 3 }) }),
    /`memory\.compact` \(did you mean `memory\.compactAt`\?\)/,
  ],
  ["createAgent prompt", () => createAgent({ model, prompt: wrong({ instruction: noop }) }), /`prompt\.instruction`/],
  [
    "createAgent shell",
    () => createAgent({ model, shell: wrong({ timeout: 3 }) }),
    /`shell\.timeout` \(did you mean `shell\.timeoutMs`\?\)/,
  ],
  [
    "createAgent toolPolicy",
    () => createAgent({ model, toolPolicy: wrong({ allowed: [] }) }),
    /`toolPolicy\.allowed` \(did you mean `toolPolicy\.allow`\?\)/,
  ],
  ["agent.run", () => agent.run("x", wrong({ output: {} })), /`output` \(did you mean `outputs`\?\)/],
  ["agent.with", () => agent.with(wrong({ limit: {} })), /`limit` \(did you mean `limits`\?\)/],
  ["agent.session", () => agent.session(wrong({ archives: "x" })), /`archives` \(did you mean `archive`\?\)/],
  [
    "session.send",
    async () => (await agent.session()).send("x", wrong({ verfy: noop })),
    /`verfy` \(did you mean `verify`\?\)/,
  ],
  [
    "createEngine",
    () => createEngine(wrong({ agents: { agent }, store, lease: 3 })),
    /`lease` \(did you mean `leaseMs`\?\)/,
  ],
  [
    "createEngine retry",
    () => createEngine({ agents: { agent }, store, retry: wrong({ attempt: 3 }) }),
    /`retry\.attempt` \(did you mean `retry\.attempts`\?\)/,
  ],
  [
    "engine.submit",
    () => engine().submit("agent", "x", wrong({ sesion: "s" })),
    /`sesion` \(did you mean `session`\?\)/,
  ],
  [
    "engine.submit limits",
    () => engine().submit("agent", "x", { limits: wrong({ cycle: 1 }) }),
    /`limits\.cycle` \(did you mean `limits\.cycles`\?\)/,
  ],
  ["engine.work", () => engine().work(wrong({ concurency: 2 })), /`concurency` \(did you mean `concurrency`\?\)/],
  [
    "engine.list",
    () => Array.fromAsync(engine().list(wrong({ statuses: "done" }))),
    /`statuses` \(did you mean `status`\?\)/,
  ],
  ["engine.prune", () => engine().prune(wrong({ olderThan: 3 })), /`olderThan` \(did you mean `olderThanMs`\?\)/],
  ["engine.watch", () => Array.fromAsync(engine().watch("run_1", wrong({ start: 3 }))), /no option `start`/],
  ["inlineBackend", () => inlineBackend(wrong({ onErrors: noop })), /`onErrors` \(did you mean `onError`\?\)/],
  ["workerBackend", () => workerBackend(wrong({ module: "x", worker: 2 })), /`worker` \(did you mean `workers`\?\)/],
  ["bullmqBackend", () => bullmqBackend(wrong({ url: "redis://x", que: "q" })), /`que` \(did you mean `queue`\?\)/],
  ["jsRuntime", () => jsRuntime({}, wrong({ rule: [] })), /`rule` \(did you mean `rules`\?\)/],
  ["processRuntime", () => processRuntime({}, wrong({ limit: {} })), /`limit` \(did you mean `limits`\?\)/],
  ["pythonRuntime", () => pythonRuntime({}, wrong({ pyton: "x" })), /`pyton` \(did you mean `python`\?\)/],
  ["fn", () => fn(noop, wrong({ approved: true })), /`approved` \(did you mean `approve`\?\)/],
  ["variable", () => variable({}, wrong({ guards: {} })), /`guards` \(did you mean `guard`\?\)/],
  [
    "a guarded method",
    () => variable({ wipe: noop }, { guard: { wipe: wrong({ maxCall: 1 }) } }),
    /`guard\.wipe\.maxCall` \(did you mean `guard\.wipe\.maxCalls`\?\)/,
  ],
  ["classType", () => karst.classType(class X {}, wrong({ docs: false })), /`docs` \(did you mean `doc`\?\)/],
  [
    "tool",
    () => tool(wrong({ name: "x", description: "", run: noop, parallell: true })),
    /`parallell` \(did you mean `parallel`\?\)/,
  ],
  [
    "resolveModel",
    () => models.resolveModel("openai/x", wrong({ apikey: "k" })),
    /`apikey` \(did you mean `apiKey`\?\)/,
  ],
  ["withRetry", () => models.withRetry(model, wrong({ retrys: 1 })), /`retrys` \(did you mean `retries`\?\)/],
  ["withTimeouts", () => models.withTimeouts(model, wrong({ idle: 1 })), /`idle` \(did you mean `idleMs`\?\)/],
  [
    "rotateModels",
    () => models.rotateModels([model], wrong({ shuffel: true })),
    /`shuffel` \(did you mean `shuffle`\?\)/,
  ],
  [
    "recordModel",
    () => models.recordModel(model, "/tmp/none.jsonl", wrong({ apend: true })),
    /`apend` \(did you mean `append`\?\)/,
  ],
  ["replayModel", () => models.replayModel([], wrong({ strickt: true })), /`strickt` \(did you mean `strict`\?\)/],
  ["scriptedModel", () => models.scriptedModel([], wrong({ chunks: 1 })), /`chunks` \(did you mean `chunk`\?\)/],
  ["sqliteStore", () => sqliteStore("x.db", wrong({ synch: true })), /`synch` \(did you mean `sync`\?\)/],
  ["redisStore", () => redisStore("redis://x", wrong({ prefx: "p" })), /`prefx` \(did you mean `prefix`\?\)/],
  ["s3Workspace", () => s3Workspace(wrong({ bucket: "b", regions: "x" })), /`regions` \(did you mean `region`\?\)/],
  [
    "skill",
    () => karst.skill(wrong({ name: "a", description: "b", instructions: "c", file: {} })),
    /`file` \(did you mean `files`\?\)/,
  ],
  [
    "validateOutput",
    () => karst.validateOutput({ type: "object" }, wrong({ repair: 1 })),
    /`repair` \(did you mean `repairs`\?\)/,
  ],
  ["claude", () => providers.claude(wrong({ modle: "opus" })), /`modle` \(did you mean `model`\?\)/],
  ["fallback", () => providers.fallback(agent, wrong({ failOver: true })), /`failOver` \(did you mean `failover`\?\)/],
  ["mcpTools", () => mcpTools({ command: "x" }, wrong({ prefx: "p" })), /`prefx` \(did you mean `prefix`\?\)/],
  ["serveMcp", () => serveMcp(wrong({ name: "x", ports: 1 })), /`ports` \(did you mean `port`\?\)/],
  ["display", () => display(agent.run("x"), wrong({ modes: "full" })), /`modes` \(did you mean `mode`\?\)/],
  ["traced", () => traced(wrong({ contents: true })), /`contents` \(did you mean `content`\?\)/],
  ["suite", () => suite([], {}, wrong({ agent, trial: 2 })), /`trial` \(did you mean `trials`\?\)/],
  ["codex", () => providers.codex(wrong({ prices: {} })), /`prices` \(did you mean `price`\?\)/],
  ["gemini", () => providers.gemini(wrong({ protocoll: "acp" })), /`protocoll` \(did you mean `protocol`\?\)/],
  ["acp", () => providers.acp(wrong({ command: "x", arg: [] })), /`arg` \(did you mean `args`\?\)/],
  ["codingAgent", () => providers.codingAgent(wrong({ providers: "x" })), /`providers` \(did you mean `provider`\?\)/],
  ["searchFilesTool", () => tools.searchFilesTool(wrong({ ripgrap: true })), /`ripgrap` \(did you mean `ripgrep`\?\)/],
  ["readImageTool", () => tools.readImageTool(wrong({ url: "none" })), /`url` \(did you mean `urls`\?\)/],
  ["delegateTools", () => tools.delegateTools({ agent }, wrong({ maxParalel: 1 })), /`maxParalel`/],
  ["shellTools", () => tools.shellTools(wrong({ timeout: 1 })), /`timeout` \(did you mean `timeoutMs`\?\)/],
]

describe("an option that is not there is refused with the nearest that is, by", () => {
  for (const [title, use, told] of misspelt) {
    test(title, () => assert.rejects(async () => await use(), { name: "ConfigError", message: told }))
  }
})

const mistyped: Case[] = [
  [
    "limits.cycles",
    () => createAgent({ model, limits: wrong({ cycles: "3" }) }),
    /`limits\.cycles` is not a number of 0 or more: it is "3"/,
  ],
  ["limits of a run", () => agent.run("x", { limits: wrong({ cycles: "3" }) }), /`limits\.cycles` .*"3"/],
  [
    "limits of a submitted run",
    () => engine().submit("agent", "x", { limits: wrong({ cycles: "3" }) }),
    /`limits\.cycles` .*"3"/,
  ],
  [
    "limits as a number",
    () => createAgent({ model, limits: wrong(3) }),
    /`limits` is not an object of options: it is 3/,
  ],
  ["instructions", () => createAgent({ model, instructions: wrong(["x"]) }), /`instructions` is not a text/],
  ["images", () => createAgent({ model, images: wrong("no") }), /`images` is not true or false: it is "no"/],
  ["onEvent", () => createAgent({ model, onEvent: wrong("log") }), /`onEvent` is not a function/],
  ["temperature", () => createAgent({ model, temperature: wrong("hot") }), /`temperature` is not a number/],
  ["typeGate", () => createAgent({ model, typeGate: wrong("on") }), /`typeGate` is not one of "off", "hint", "block"/],
  ["messages", () => createAgent({ model, messages: wrong("Hi") }), /`messages` is not a list/],
  ["metadata", () => createAgent({ model, metadata: wrong("x") }), /`metadata` is not an object/],
  ["signal", () => agent.run("x", { signal: wrong(true) }), /`signal` is not an AbortSignal/],
  [
    "options that are no object",
    () => createAgent(wrong("openai/gpt")),
    /not an object of options: it is "openai\/gpt"/,
  ],
  [
    "leaseMs",
    () => createEngine({ agents: { agent }, store, leaseMs: wrong("1s") }),
    /`leaseMs` is not a number of 1 or more: it is "1s"/,
  ],
  [
    "a text for fn",
    () => fn(noop, wrong("Wipes the disk")),
    /fn\(\): the options are not an object.*\{ description: "Wipes the disk" \}/,
  ],
  ["a function for fn", () => fn(noop, wrong(noop)), /fn\(\): the options are not an object/],
  [
    "maxCalls of fn",
    () => fn(noop, { maxCalls: wrong("2") }),
    /`maxCalls` is not a whole number of 0 or more: it is "2"/,
  ],
  ["codecs", () => jsRuntime({}, { codecs: wrong([]) }), /`codecs` is not an object/],
  [
    "retries",
    () => models.withRetry(model, { retries: wrong("5") }),
    /`retries` is not a whole number of 0 or more: it is "5"/,
  ],
  ["a key of submit", () => engine().submit("agent", "x", { key: wrong(5) }), /`key` is not a text: it is 5/],
  [
    "a wrong part of a workspace",
    () => createAgent({ model, workspace: wrong({ read: noop, list: noop }) }),
    /workspace: .*lacks stream, write, stat, remove\./,
  ],
  [
    "a workspace whose method is none",
    () => createAgent({ model, workspace: wrong({ read: "x" }) }),
    /lacks read, stream, write, stat, list, remove/,
  ],
  ["a runtime", () => createAgent({ model, runtime: wrong({ execute: noop }) }), /runtime: .*lacks .*retrieve/],
  ["a store", () => createEngine({ agents: { agent }, store: wrong({ get: noop }) }), /store: .*lacks commit/],
  [
    "a model without its name",
    () => createAgent({ model: "openai-compatible:http://x/v1" }),
    /"openai-compatible:http:\/\/x\/v1" lacks the name of the model.*openai-compatible:http:\/\/x\/v1#/,
  ],
  ["a model that is no id", () => createAgent({ model: "gpt-5.2" }), /"gpt-5\.2" is not a model id/],
]

describe("a value of the wrong type is refused where it is written:", () => {
  for (const [title, use, told] of mistyped) {
    test(title, () => assert.rejects(async () => await use(), { name: "ConfigError", message: told }))
  }
})

describe("stopOn", () => {
  const look = tool({ name: "look", description: "Looks", run: () => "seen" })

  test("with the name of no tool is refused, and names the tools that there are", () => {
    const options = { model, tools: [look], stopOn: ["lok"] }
    assert.throws(() => createAgent(options), {
      name: "ConfigError",
      message: /stopOn: there is no tool "lok" \(did you mean "look"\?\)\. There are: .*finish.*look/,
    })
    assert.throws(() => agent.run("x", { tools: [look], stopOn: ["typo"] }), /there is no tool "typo"/)
  })

  test("takes the names of tools that follow from what the agent has", () => {
    createAgent({ model, tools: [look], stopOn: ["look", "finish"] })
    createAgent({ model, workspace: memoryWorkspace(), stopOn: ["write_file"] })
    createAgent({ model, tools: [look], agents: { agent }, stopOn: ["delegate"] })
  })
})

test("the names of built-in tools are those that the tools have", async () => {
  const agents = { agent }
  const artifacts = { keep: noop, names: noop, retrieve: noop, workspace: memoryWorkspace() }
  const skills = { names: ["a"], activate: noop }
  const workspace = memoryWorkspace()
  const context = { endsByTool: true, artifacts, workspace, images: true, skills, agents }
  await using shell = tools.shellTools()
  const made = [...builtinTools(wrong(context)), ...shell.tools].map(({ name }) => name)
  assert.deepEqual(made.toSorted(), builtinNames.toSorted())
})

test("options that are undefined are those that were not given", () => {
  createAgent({ model, limits: undefined, instructions: undefined, memory: { compactAt: undefined } })
  fn(noop, { approve: undefined, maxCalls: undefined })
  jsRuntime({}, { rules: undefined })
})
