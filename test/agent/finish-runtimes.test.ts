// test lane: runtimes, long
import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type Bindings, createAgent, jsRuntime, messageText, type Runtime } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import * as z from "zod"
import { requires } from "../system.ts"

interface Case {
  name: string
  skip?: string | undefined
  open(bindings: Bindings): Runtime
}

const cases: Case[] = [
  { name: "jsRuntime", open: (bindings) => jsRuntime(bindings) },
  { name: "processRuntime", open: (bindings) => processRuntime(bindings, { isolation: "process" }) },
  {
    name: "processRuntime in a sandbox",
    skip: requires("bwrap"),
    open: (bindings) => processRuntime(bindings, { isolation: "os" }),
  },
  {
    name: "pythonRuntime",
    skip: requires("python"),
    open: (bindings) => pythonRuntime(bindings, { isolation: "process" }),
  },
  {
    name: "pythonRuntime in a sandbox",
    skip: requires("python", "bwrap"),
    open: (bindings) => pythonRuntime(bindings, { isolation: "os" }),
  },
]

describe("finish(text) in the cell of an agent", () => {
  for (const { name, skip, open } of cases) {
    test(`${name}: ends the run when the cell succeeds and the declared outputs are valid`, { skip }, async () => {
      const ids = Array.from({ length: 55 }, (_, index) => `id-${index}`)
      await using runtime = open({ ids, fetchName: async () => "Ada" })
      const isPython = runtime.language === "python"
      const cell = (typescript: string, python: string) =>
        isPython ? `\`\`\`python\n${python}\n\`\`\`` : `\`\`\`ts\n${typescript}\n\`\`\``
      const model = scriptedModel([
        cell("finish('early')\nthrow new Error('no')", "finish('early')\nraise ValueError('no')"),
        cell("finish('no outputs yet')", "finish('no outputs yet')"),
        cell(
          "const count = ids.length\nconst owner = await fetchName()\nfinish(owner + ':\\n' + ids.join('\\n'))",
          "count = len(ids)\nowner = fetchName()\nfinish(owner + ':\\n' + '\\n'.join(ids))",
        ),
      ])
      const agent = createAgent({ model, runtime })
      const result = await agent.run("List the ids", { outputs: { count: z.number() } })
      assert.equal(result.status, "done", JSON.stringify(result.error))
      assert.equal(result.output, `Ada:\n${ids.join("\n")}`)
      assert.deepEqual([result.cycles, result.objects], [3, { count: 55 }])
      assert.equal(messageText(result.messages.at(-1) ?? assert.fail()), result.output)
      assert.match(model.requests[0]?.system ?? "", /`finish\(text\)`/)
    })

    test(`${name}: no binding may have the name`, { skip }, async () => {
      const inject = async () => {
        await using runtime = open({ finish: () => 1 })
        await runtime.names()
      }
      await assert.rejects(inject, /"finish" is the function with which a cell ends its run; choose another name/)
    })
  }
})

describe("finish(text) in Python", { skip: requires("python") }, () => {
  const finished = async (runtime: Runtime, code: string) => {
    const execution = await runtime.execute(code, { allowFinish: true })
    return execution.ok ? execution.finishText : execution.error.message
  }

  test("comes back after a cell has deleted it", async () => {
    await using runtime = pythonRuntime()
    assert.equal(await finished(runtime, "del finish"), undefined)
    assert.equal(await finished(runtime, "finish('here')"), "here")
    assert.equal(await finished(runtime, "finish = 3"), undefined)
    assert.equal(await finished(runtime, "del finish\nexit = 4"), undefined)
    assert.equal(await finished(runtime, "finish('again')"), "again")
    assert.deepEqual(
      (await runtime.names()).map(({ name }) => name),
      ["exit"],
    )
  })

  test("works in threads and tasks of the cell, and not after the cell", async () => {
    await using runtime = pythonRuntime()
    const inThread = "import asyncio\nawait asyncio.to_thread(finish, 'from a thread')"
    assert.equal(await finished(runtime, inThread), "from a thread")
    const late = [
      "import asyncio",
      "seen = []",
      "async def later():",
      "    await asyncio.sleep(0)",
      "    while not started: await asyncio.sleep(0.01)",
      "    try: finish('late')",
      "    except RuntimeError as error: seen.append(str(error))",
      "started = False",
      "task = asyncio.ensure_future(later())",
    ]
    assert.equal(await finished(runtime, late.join("\n")), undefined)
    assert.equal(await finished(runtime, "started = True\nawait task"), undefined)
    assert.match(String(await runtime.retrieve("seen")), /after its cell had ended/)
  })

  test("does not change what the cell itself shows", async () => {
    await using runtime = pythonRuntime()
    const shown = await runtime.execute("finish({'a': [1, 2]})\n{'b': list(range(10))}", { allowFinish: true })
    assert.ok(shown.ok)
    assert.deepEqual([shown.finishText, shown.preview], ["{'a': [1, 2]}", "{'b': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}"])
  })

  test("counts and passes characters as the host does", async () => {
    await using runtime = pythonRuntime()
    const most = await finished(runtime, "finish('\\U0001F600' * 500_000)")
    assert.equal(most?.length, 1_000_000)
    assert.match(String(await finished(runtime, "finish('\\U0001F600' * 500_001)")), /at most 1,000,000/)
    assert.match(String(await finished(runtime, "finish('a\\ud800b')")), /^a.b$/)
  })

  test("cannot be exported by a module", async () => {
    const folder = await mkdtemp(join(tmpdir(), "karst-finish-"))
    try {
      const file = join(folder, "skill.py")
      await writeFile(file, "from karst import Function\ndef finish(text): pass\n__exports__ = [Function(finish)]\n")
      await using runtime = pythonRuntime()
      await assert.rejects(async () => runtime.load?.(file), /'finish' is the function .*choose another name/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test("cannot be created by the setup code", async () => {
    await using runtime = pythonRuntime({}, { setup: "def finish(text): pass" })
    await assert.rejects(runtime.execute("1"), /The setup code: "finish" is the function .*choose another name/)
  })
})
