// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { createAgent, jsRuntime, type Runtime } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime, safePythonRules } from "karst/python"
import { functionRule, importRule, safeRules } from "karst/rules"
import { allPromptOptions, type RuntimeKind, runtimes } from "../../../bench/prompt/samples.ts"
import { clockText } from "../../../src/agent/prompt/system-prompt.ts"
import { requires } from "../../system.ts"

const missing: Partial<Record<RuntimeKind, string | undefined>> = {
  "process, os": requires("bwrap"),
  python: requires("python"),
}

async function rulesFor(runtime: Runtime): Promise<string> {
  await using opened = runtime
  return await createAgent({ model: scriptedModel([]), runtime: opened, prompt: { objects: () => "" } }).describe()
}

describe("the system prompt has at most 350 tokens before the declarations, with all options:", () => {
  for (const kind of Object.keys(runtimes) as RuntimeKind[]) {
    test(kind, { skip: missing[kind] }, async () => {
      await using runtime = runtimes[kind]({}, true)
      const agent = createAgent({
        model: scriptedModel([]),
        runtime,
        prompt: { objects: () => "" },
        ...allPromptOptions(kind),
      })
      const tokens = encode(await agent.describe()).length
      assert.ok(tokens <= 350, `${tokens} tokens`)
    })
  }
})

describe("the system prompt states what cells may import, and whether they may fetch:", () => {
  const cases: [title: string, open: () => Runtime, text: string][] = [
    ["without rules, everything", () => jsRuntime(), "Imports: installed packages, Node's modules. `fetch` works."],
    [
      "under the safe rules, some of Node's modules",
      () => jsRuntime({}, { rules: safeRules() }),
      "Imports: installed packages, Node's crypto, path, url, util …; not fs, child_process, http. `fetch` works.",
    ],
    [
      "with a list of allowed modules, only these",
      () => jsRuntime({}, { rules: [importRule({ only: ["zod", "node:path"] })] }),
      "Imports: only zod, node:path. `fetch` works.",
    ],
    [
      "with two lists of allowed modules, those on both that no other rule refuses",
      () =>
        jsRuntime(
          {},
          { rules: [importRule({ only: ["zod", "a", "b"] }), importRule({ only: ["a", "b"] }), importRule("b")] },
        ),
      "Imports: only a. `fetch` works.",
    ],
    [
      "with an empty list, none",
      () => jsRuntime({}, { rules: [importRule({ only: [] }), functionRule("fetch")] }),
      "Imports: none. `fetch` is not allowed.",
    ],
    ["in a temporary folder, no packages", () => processRuntime(), "Imports: Node's modules. `fetch` works."],
    [
      "in a folder, its packages",
      () => processRuntime({}, { cwd: "." }),
      "Imports: installed packages, Node's modules. `fetch` works.",
    ],
  ]
  for (const [title, open, text] of cases) {
    test(title, async () => assert.ok((await rulesFor(open())).includes(`\n- ${text}\n`), await rulesFor(open())))
  }

  test("without a network, that fetch fails", { skip: missing["process, os"] }, async () => {
    const text = await rulesFor(processRuntime({}, { isolation: "os" }))
    assert.match(text, /\n- Imports: Node's modules\. No network: `fetch` fails\.\n/)
    const open = await rulesFor(processRuntime({}, { isolation: "os", network: "all" }))
    assert.match(open, /`fetch` works\./)
  })

  test("for Python, packages and refused modules", { skip: missing.python }, async () => {
    assert.match(await rulesFor(pythonRuntime()), /\n- Imports: any installed package\.\n/)
    assert.match(
      await rulesFor(pythonRuntime({}, { rules: safePythonRules() })),
      /\n- Imports: any installed package; not os, sys, subprocess, pathlib, socket, `open`\.\n/,
    )
  })
})

test("the system prompt says how to use objects of another process, and only where there is another", async () => {
  assert.match(
    await rulesFor(processRuntime()),
    /in another process: each call and member takes `await`; data is a copy/,
  )
  assert.doesNotMatch(await rulesFor(jsRuntime()), /another process/)
})

test("in Python, objects of the host are called without await", { skip: missing.python }, async () => {
  assert.match(await rulesFor(pythonRuntime()), /call them without `await`; data is a copy.*asyncio\.to_thread/)
})

test("the system prompt explains the mark of inferred types once, and only if there is one", async () => {
  const describeAgent = (bindings: Record<string, unknown>) =>
    createAgent({ model: scriptedModel([]), runtime: jsRuntime(bindings) }).describe()
  assert.match(await describeAgent({ a: 1, b: 2 }), /\n`\/\/ inferred`: this type was read from the value\.\n\n```ts\n/)
  assert.doesNotMatch(await describeAgent({}), /inferred/)
})

test("the system prompt says that the user sees only the answer", async () => {
  assert.match(await rulesFor(jsRuntime()), /The user sees only this answer, no cell output\./)
})

describe("the time in the user's message", () => {
  const now = new Date(Date.UTC(2026, 10, 16, 3, 44))

  test("is local, with its zone", () => {
    assert.equal(clockText(now, "Europe/Berlin"), "(It is Monday 2026-11-16 04:44, Europe/Berlin.)")
    assert.equal(clockText(now, "America/Los_Angeles"), "(It is Sunday 2026-11-15 19:44, America/Los_Angeles.)")
    assert.equal(clockText(now, "UTC"), "(It is Monday 2026-11-16 03:44, UTC.)")
  })

  test("shows midnight as 00", () => {
    assert.equal(clockText(new Date(Date.UTC(2026, 0, 1)), "UTC"), "(It is Thursday 2026-01-01 00:00, UTC.)")
  })
})
