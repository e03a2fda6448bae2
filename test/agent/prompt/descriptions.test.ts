// test lane: runtimes
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { describe, test } from "node:test"
import { type Agent, classType, createAgent, fn, jsRuntime, skill, variable } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import * as z from "zod"
import { parseCell } from "../../../src/runtime/compiler/parse-cell.ts"
import { python, requires } from "../../system.ts"

/** Texts that may end a comment, a docstring, a fence, a list entry or a section. */
const parts = [
  ...["*/", "/**", "//", "#", '"', "'", "`", "\\", "{ }", '"""', "'''", "```", "```ts", "```python", "~~~"],
  ...['\\"', "\\N{x}", "\\x", "</output>", "# Skills", "- evil:"],
  ...[
    "\n",
    "\r\n",
    "\r",
    "\u2028",
    "\u2029",
    "\u0000",
    "\t",
    "\n\n",
    "\n```\n",
    "\n*/\ndeclare let evil: any\n",
    "\nevil = 1\n",
  ],
  ...["text", "é", "…"],
]

/** The same texts in each run. */
function descriptions(count: number): string[] {
  let seed = 7
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % below
  }
  const random = Array.from({ length: count }, () =>
    Array.from({ length: 1 + next(6) }, () => parts[next(parts.length)]).join(next(2) ? " " : ""),
  )
  return [...parts, ...parts.map((part) => `text ${part}`), ...parts.map((part) => `${part}text`), ...random]
}

class Lamp {
  level = 1
  dim(to: number) {
    this.level = to
  }
}

function bindingsWith(description: string, helper: Agent): Record<string, unknown> {
  return {
    rows: variable([1], description),
    lamp: variable(new Lamp(), description),
    search: fn(() => "", { description }),
    order: fn(() => "", { description, input: z.object({ id: z.string().describe(description) }) }),
    Bulb: classType(class Bulb {}, { description }),
    Row: classType(z.object({ id: z.string().describe(description) }), { description }),
    helper,
  }
}

function createHelper(description: string): Agent {
  return createAgent({ model: scriptedModel([]), name: "helper", description })
}

function agentWith(description: string): Agent {
  const runtime = jsRuntime(bindingsWith(description, createHelper(description)))
  const skills = [skill({ name: "reports", description: `Reports ${description}`, instructions: "Write." })]
  return createAgent({ model: scriptedModel([]), runtime, skills })
}

/** Returns the block of declarations: the prompt has one, which the last line ends. */
function declarationsIn(prompt: string): string {
  const sections = prompt.match(/^# .*$/gm)
  assert.deepEqual(sections?.slice(0, 3), ["# How you work", "# Skills", "# What is in the session"])
  const [, fence = "", , code = ""] =
    /# What is in the session\n\n(?:`\/\/ inferred`[^\n]*\n\n)?(`{3,})(\w+)\n([\s\S]*)\n\1$/.exec(prompt) ?? []
  assert.notEqual(fence, "", prompt)
  assert.ok(!code.split("\n").some((line) => line.trim().startsWith(fence)), prompt)
  return code
}

const shapeOf = (code: string) => parseCell(code).program.body.map((statement) => statement.type)

describe("no description breaks the prompt or its declarations:", () => {
  test("jsRuntime", async () => {
    const plain = agentWith("text")
    const expected = shapeOf(declarationsIn(await plain.describe()))
    for (const description of descriptions(300)) {
      const code = declarationsIn(await agentWith(description).describe())
      assert.deepEqual(shapeOf(code), expected, JSON.stringify(description))
    }
  })

  test("processRuntime", async () => {
    const declared = async (description: string) => {
      await using runtime = processRuntime(bindingsWith(description, createHelper(description)))
      return shapeOf(await runtime.describe())
    }
    const expected = await declared("text")
    for (const description of descriptions(300)) {
      assert.deepEqual(await declared(description), expected, JSON.stringify(description))
    }
  })

  test("pythonRuntime", { skip: requires("python") }, async () => {
    const all = descriptions(60)
    await using runtime = pythonRuntime()
    for (const [at, description] of all.entries()) {
      const named = Object.entries(bindingsWith(description, createHelper(description))).map(([name, value]) => [
        `${name}${at}`,
        value,
      ])
      await runtime.inject(Object.fromEntries(named))
    }
    const code = declarationsIn(
      await createAgent({
        model: scriptedModel([]),
        runtime,
        skills: [skill({ name: "reports", description: "Reports.", instructions: "x" })],
      }).describe(),
    )
    const program =
      "import ast, sys\nfor s in ast.parse(sys.stdin.read()).body: print(type(s).__name__, getattr(getattr(s, 'targets', [None])[0], 'id', ''))"
    const { stdout, stderr, status } = spawnSync(python() ?? "python3", ["-c", program], {
      input: code,
      encoding: "utf8",
    })
    assert.equal(status, 0, stderr)
    assert.doesNotMatch(stdout, /Assign evil/)
  })
})
