import assert from "node:assert/strict"
import { describe, test } from "node:test"
import * as karst from "karst"
import { createEngine } from "karst/engine"
import * as models from "karst/models"
import { memoryStore } from "karst/stores"
import * as tools from "karst/tools"
import { memoryWorkspace } from "karst/workspaces"
import { builtinTools } from "../src/tools/builtin.ts"
import { builtinNames } from "../src/tools/builtin-names.ts"

// Options as plain JavaScript gives them: the compiler would refuse these.
const wrong = (options: unknown) => options as never

const { createAgent, fn, jsRuntime, tool } = karst
const model = models.scriptedModel(() => "Hi.")
const agent = createAgent({ model })
const store = memoryStore()
const engine = () => createEngine({ agents: { agent }, store })
const noop = () => {}

type Case = [title: string, use: () => unknown, told: RegExp]

const mistyped: Case[] = [
  ["no options", () => createAgent(wrong(undefined)), /are not an object of options: it is undefined/],
  ["metadata with NaN", () => createAgent({ model, metadata: { n: NaN } }), /`metadata` is not an object of JSON/],
  [
    "metadata with a date",
    () => engine().submit("agent", "x", { metadata: wrong({ at: new Date() }) }),
    /`metadata` is not an object of JSON/,
  ],
  [
    "a snapshot of no bytes",
    () => createEngine({ agents: { agent }, store, maxSnapshotBytes: 0 }),
    /`maxSnapshotBytes` is not a whole number of 1/,
  ],
  ["rules that are none", () => jsRuntime({}, { rules: wrong([{}]) }), /`rules` is not an array of rules/],
  [
    "limits.cycles",
    () => createAgent({ model, limits: wrong({ cycles: "3" }) }),
    /`limits\.cycles` is not a whole number of 0 or more.*it is "3"/,
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
    /`leaseMs` is not a whole number of 1 or more.*it is "1s"/,
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
    /`maxCalls` is not a whole number of 0 or more.*it is "2"/,
  ],
  ["codecs", () => jsRuntime({}, { codecs: wrong([]) }), /`codecs` is not an object/],
  [
    "retries",
    () => models.withRetry(model, { maxRetries: wrong("5") }),
    /`maxRetries` is not a whole number of 0 or more.*it is "5"/,
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
  [
    "a path in place of a store",
    () => createEngine({ agents: { agent }, store: wrong("runs.db") }),
    /`store` is not a store: it is "runs\.db"\. Make one with sqliteStore\(\)/,
  ],
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
  const context = {
    asks: true,
    finishes: true,
    todos: true,
    compactMemory: true,
    artifacts,
    workspace,
    images: true,
    skills,
    agents,
  }
  await using shell = tools.shellTools()
  const made = [...builtinTools(wrong(context)), ...shell.tools].map(({ name }) => name)
  assert.deepEqual(made.toSorted(), builtinNames.toSorted())
})

test("options that are undefined are those that were not given", () => {
  createAgent({ model, limits: undefined, instructions: undefined, memory: { compactAtTokens: undefined } })
  fn(noop, { approve: undefined, maxCalls: undefined })
  jsRuntime({}, { rules: undefined })
})
