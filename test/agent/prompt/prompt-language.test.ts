// test lane: runtimes
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, fn, jsRuntime, messageText, skill, tool } from "karst"
import { type Config, loadAgents } from "karst/config"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime, safePythonRules } from "karst/python"
import { importRule, safeRules } from "karst/rules"
import { agentTool, commands, handoffTool, shellTool } from "karst/tools"
import { localWorkspace, memoryWorkspace } from "karst/workspaces"
import { builtInAgent } from "../../../src/cli/run/built-in-agent.ts"
import { english } from "../../../src/core/prompt-texts/en.ts"
import { chinese } from "../../../src/core/prompt-texts/zh.ts"
import { chineseDescriptions, withChineseDescriptions } from "../../../src/tools/chinese-descriptions.ts"
import { requires } from "../../system.ts"

const own = tool({ name: "own", description: "工具。", run: () => "" })
const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

describe("prompts in Chinese", () => {
  test("have the same texts as prompts in English, none of them empty", () => {
    assert.deepEqual(Object.keys(chinese), Object.keys(english))
    for (const [name, text] of Object.entries(chinese)) {
      if (typeof text === "string") assert.match(text, /\p{Script=Han}/u, name)
    }
  })

  const weather = skill({ name: "weather", description: "天气。", instructions: "看天。" })
  const runtimes = {
    "jsRuntime with all options": {
      runtime: () => jsRuntime({ sales: [1] }, { rules: safeRules() }),
      options: { transaction: true, cellTimeoutMs: 5000, skills: [weather] },
    },
    "jsRuntime without anything": { runtime: () => jsRuntime({}), options: {} },
    "jsRuntime with listed imports": {
      runtime: () => jsRuntime({}, { rules: [importRule({ only: ["node:path"] })] }),
      options: { typeGate: "block" as const },
    },
    processRuntime: { runtime: () => processRuntime({ add: fn((a: number) => a) }), options: {} },
    pythonRuntime: { runtime: () => pythonRuntime({}, { rules: safePythonRules() }), options: {} },
  }
  for (const [name, { runtime, options }] of Object.entries(runtimes)) {
    const skip = name === "pythonRuntime" && requires("python")
    test(`have no English sentence in the system prompt: ${name}`, { skip }, async () => {
      await using opened = runtime()
      const agent = createAgent({ model: scriptedModel([]), runtime: opened, language: "zh", ...options })
      assertChinese((await agent.describe()).replaceAll(/^```[\s\S]*?^```$/gm, ""))
    })
  }

  for (const noTool of ["answer", "continue", "wait"] as const) {
    test(`have no English sentence in the prompt of an agent with tools: ${noTool}`, async () => {
      const workspace = memoryWorkspace({ "a.txt": "x" })
      const agent = createAgent({ model: scriptedModel([]), workspace, noTool, skills: [weather], language: "zh" })
      assertChinese(await agent.describe())
    })
  }

  for (const runtime of [undefined, "process", "js"] as const) {
    test(`have no English sentence in the prompt of an agent of the configuration: runtime ${runtime}`, async () => {
      const model = scriptedModel([])
      const config: Config = { model: "m", models: { m: model }, language: "zh", skills: [weather] }
      const agents = { plain: { runtime }, tools: { runtime, todos: true, tools: [own] } }
      await using loaded = await loadAgents({ config: { ...config, agents }, env: {} })
      assert.deepEqual(loaded.diagnostics(), [])
      for (const agent of Object.values(loaded.agents))
        assertChinese((await agent.describe()).replaceAll(/^```[\s\S]*?^```$/gm, ""))
    })
  }

  test("of the built-in agent of the command have no English sentence", async () => {
    const model = scriptedModel([])
    const folder = await mkdtemp(join(tmpdir(), "karst-language-"))
    try {
      const options = { model, bindings: {}, skills: [weather], language: "zh" as const }
      for (const inProcess of [true, false]) {
        for (const more of [{}, { tools: [own] }, { workspace: folder, shell: true }]) {
          const agent = builtInAgent({ ...options, ...more, inProcess })
          assertChinese((await agent.describe()).replaceAll(/^```[\s\S]*?^```$/gm, ""))
        }
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test("of an agent of the configuration are in its own language if it names one", async () => {
    const models = { m: scriptedModel([]) }
    const agents = { own: { language: "en" as const }, other: {} }
    await using loaded = await loadAgents({ config: { model: "m", models, language: "zh", agents }, env: {} })
    assert.match((await loaded.agents.own?.describe()) ?? "", /# How you work/)
    assert.match((await loaded.agents.other?.describe()) ?? "", /# 工作方式/)
  })

  test("have Chinese texts around the instructions of an activated skill", async () => {
    const described = { description: "天气。", compatibility: "需要网络。", files: { "a.txt": "x" } }
    const empty = skill({ ...described, name: "empty", instructions: "", bindings: { one: 1 } })
    const options = { skills: [empty], language: "zh" as const }
    const inCell = scriptedModel([cell("await activateSkill('empty')\nawait activateSkill('empty')"), "好了。"])
    const byTool = scriptedModel([
      [{ type: "tool-call", id: "1", name: "activate_skill", input: { name: "empty" } }],
      "好了。",
    ])
    await createAgent({ model: inCell, runtime: () => jsRuntime({}), ...options }).run("x")
    await createAgent({ model: byTool, tools: [own], ...options }).run("x")
    for (const model of [inCell, byTool]) {
      const request = model.requests[1]
      const received = (request?.messages ?? []).filter(({ role }) => role !== "assistant")
      const texts = received.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : [])))
      const shown = texts.filter((text) => text.includes("empty") || text.includes("<skill"))
      assert.ok(shown.length > 0, JSON.stringify(request))
      for (const text of shown) assertChinese(text.replaceAll(/^```[\s\S]*?^```$|^<\/?skill.*$|^- a.txt.*$/gm, ""))
    }
  })

  test("describe every built-in tool and its fields in Chinese, and nothing else", async () => {
    const helper = createAgent({ model: scriptedModel([]), description: "帮手。" })
    const anonymous = createAgent({ name: "b", model: scriptedModel([]) })
    const folder = await mkdtemp(join(tmpdir(), "karst-language-"))
    const used = new Set<string>()
    try {
      for (const shell of [true, { onTimeout: "kill" as const, sandbox: "none" as const }]) {
        const options = {
          workspace: localWorkspace(folder),
          shell,
          todos: true,
          compactMemory: true,
          noTool: "continue" as const,
          skills: [weather],
          agents: { helper },
          tools: [agentTool(anonymous), handoffTool(anonymous)],
          approver: () => true,
        }
        const specs = { en: await toolsOf(options, "en"), zh: await toolsOf(options, "zh") }
        assert.equal(specs.zh.length, specs.en.length)
        for (const [at, spec] of specs.zh.entries()) {
          for (const text of descriptionsOf(spec)) assertChinese(text)
          for (const text of descriptionsOf(specs.en[at])) used.add(text)
        }
      }
    } finally {
      await rm(folder, { recursive: true })
    }
    const isUsed = (key: string) => {
      const [before = "", after = ""] = key.split("{}")
      return [...used].some(
        (text) => text === key || (key.includes("{}") && text.startsWith(before) && text.endsWith(after)),
      )
    }
    // Texts of tools with other options than these.
    const otherwise = ["Path.", ...Object.keys(chineseDescriptions).filter((key) => key.startsWith("Runs a {}"))]
    assert.deepEqual(
      Object.keys(chineseDescriptions).filter((key) => !isUsed(key) && !otherwise.includes(key)),
      [],
    )
  })

  test("keep the name of the shell and what it may write", () => {
    for (const network of ["none", "host"] as const) {
      for (const sandbox of ["none", "workspace"] as const) {
        const { name, description, input } = shellTool({ ...commands(), sandbox, network } as never)
        const translated = withChineseDescriptions({ name, description, input }).description
        assertChinese(translated)
        assert.equal(translated.includes("只能写入工作区"), sandbox !== "none")
        assert.equal(translated.includes("没有网络"), sandbox !== "none" && network === "none")
      }
    }
  })

  test("leave the tools of the user as they are", async () => {
    const own = tool({ name: "read_file", description: "Reads my file.", input: { type: "object" }, run: () => "" })
    const [spec] = await toolsOf(
      { tools: [own, agentTool(createAgent({ name: "b", description: "B.", model: scriptedModel([]) }))] },
      "zh",
    )
    assert.equal(spec?.description, "Reads my file.")
  })

  test("have Chinese reminders and times", async () => {
    const model = scriptedModel([
      "```python\nx = 1\n```\n",
      cell("finish('a')\n```\n\n```ts\n1"),
      " ",
      cell("1"),
      "好了。",
      cell("r = 1"),
      "好了。",
    ])
    const now = Date.UTC(2026, 10, 16, 3, 44)
    const agent = createAgent({ model, runtime: () => jsRuntime({}), language: "zh", now: () => now })
    const { messages } = await agent.run("开始", { outputs: { r: { type: "number" } } })
    const host = messages.flatMap((each) => (each.role === "user" && each.origin === "host" ? [messageText(each)] : []))
    assert.ok(host.length >= 3, host.join("\n"))
    for (const text of host) assertChinese(text.replaceAll(/```[\s\S]*?```|<output>[\s\S]*?<\/output>/g, ""))
    assert.match(JSON.stringify(model.requests[0]?.messages), /\(现在是 2026-11-1[56] \d\d:44 星期[一日]/)
  })

  test("are refused in a language that Karst does not have", () => {
    assert.throws(
      () => createAgent({ model: scriptedModel([]), language: "de" as never }),
      /`language` is not one of "en", "zh"/,
    )
  })
})

/** Fails if the text has three English words in a row; names of tools and code in backticks do not count. */
function assertChinese(text: string): void {
  const prose = text.replaceAll(/`[^`\n]*`|"[^"\n]*"|[“][^”]*[”]/g, "")
  assert.doesNotMatch(prose, /[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}|[A-Z][a-z]+ [a-z]+ [a-z]+/, text)
  assert.match(text, /\p{Script=Han}/u)
}

async function toolsOf(options: Partial<Parameters<typeof createAgent>[0]>, language: "en" | "zh") {
  const model = scriptedModel([[{ type: "tool-call", id: "1", name: "finish", input: { message: "x" } }], "x", "x"])
  await createAgent({ model, language, ...options }).run("x", { limits: { cycles: 1 } })
  return model.requests[0]?.tools ?? []
}

function descriptionsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, each]) =>
    key === "description" && typeof each === "string" ? [each] : descriptionsOf(each),
  )
}
