// test lane: runtimes, long
import assert from "node:assert/strict"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, type Message, messageText } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { retrieveAny } from "../retrieve-any.ts"
import { requires } from "../system.ts"
import { skillText, temporaryFolder } from "./skill-folders.ts"

const cell = (code: string) => `\`\`\`python\n${code}\n\`\`\``
const texts = (messages: readonly Message[]) => messages.map((message) => messageText(message))
const activate = cell('activate_skill("stats")')

const module = `
from __future__ import annotations
from dataclasses import dataclass
from karst import Function, Type, Variable

def analyze_data(data: list) -> AnalysisResult:
    """Analyze data and return statistics."""
    return AnalysisResult(sum(data) / len(data), len(data))

@dataclass
class AnalysisResult:
    mean: float
    count: int

CONFIG = {"threshold": 0.5}
hidden = 1

__exports__ = [
    Function(analyze_data, description="Analyze data statistically"),
    Variable("CONFIG", value=CONFIG, description="Analysis configuration"),
    Type(AnalysisResult, description="Result structure"),
]
`

describe("a skill's module in a pythonRuntime", { skip: requires("python") }, () => {
  test("runs at activation in the kernel; what __exports__ names is declared, used and retrieved", async (t) => {
    const root = await temporaryFolder(t, {
      "stats/SKILL.md": skillText("stats"),
      "stats/injection.py": module,
      "stats/references/a.md": "read me",
    })
    await using runtime = pythonRuntime({ seed: 1 })
    const model = scriptedModel([
      cell('made = 1\nawait activate_skill("stats")'),
      cell(
        'print(analyze_data([1, 2, 3]), "hidden" in globals(), read_skill_file("stats", "references/a.md"))\nCONFIG["threshold"] = 0.7',
      ),
      "Done.",
    ])
    const agent = createAgent({ model, runtime, skills: [root] })
    assert.match(
      await agent.describe(),
      /run `activate_skill\("<name>"\)`[\s\S]*def activate_skill\(name: str\) -> str/,
    )
    const { messages, trajectory } = await agent.run("Go")
    const [, , , told = "", , result = ""] = texts(messages)
    assert.match(told, /def analyze_data\(data: list\) -> AnalysisResult:\n {4}"""Analyze data statistically"""/)
    assert.match(told, /CONFIG: dict\[str, float\] {2}# Analysis configuration/)
    assert.match(told, /class AnalysisResult:\n {4}"""Result structure"""\n {4}mean: float\n {4}count: int/)
    assert.match(told, /- references\/a\.md/)
    assert.match(result, /AnalysisResult\(mean=2\.0, count=3\) False read me/)
    assert.deepEqual(await retrieveAny(runtime, "CONFIG"), { threshold: 0.7 })
    const injected = (await runtime.names()).filter((name) => name.injected).map(({ name }) => name)
    assert.deepEqual(injected.sort(), [
      "AnalysisResult",
      "CONFIG",
      "activate_skill",
      "analyze_data",
      "read_skill_file",
      "seed",
    ])
    await assert.rejects(runtime.inject({ CONFIG: 1 }), /"CONFIG" is already there/)
    const ends = trajectory.events.filter((event) => event.type === "code-end")
    assert.deepEqual(ends[0]?.changes.created, ["made"])
  })

  test("is run again after the kernel died and after a reset, and comes along into a copy", async (t) => {
    const root = await temporaryFolder(t, { "stats/SKILL.md": skillText("stats"), "stats/injection.py": module })
    await using runtime = pythonRuntime()
    const model = scriptedModel([
      activate,
      cell("CONFIG = 1\nimport os\nos.kill(os.getpid(), 9)"),
      cell("print(CONFIG, analyze_data([2]).mean)"),
      "Done.",
    ])
    const { messages } = await createAgent({ model, runtime, skills: [root] }).run("Go")
    assert.match(texts(messages)[7] ?? "", /\{'threshold': 0\.5\} 2\.0/)
    await runtime.reset()
    const again = await runtime.execute("analyze_data([4]).mean")
    assert.equal(again.ok && again.value, 4)
    const copy = await runtime.fork?.()
    assert.ok(copy)
    const there = await copy.execute("analyze_data([5]).mean")
    await copy.close()
    assert.equal(there.ok && there.value, 5)
  })

  test("that is gone when the kernel is started again takes its names with it", async (t) => {
    const root = await temporaryFolder(t, { "stats/SKILL.md": skillText("stats"), "stats/injection.py": module })
    await using runtime = pythonRuntime({ seed: 1 })
    await runtime.load?.(join(root, "stats/injection.py"))
    await rm(root, { recursive: true })
    await runtime.execute("import os\nos.kill(os.getpid(), 9)")
    const { ok, lost = [] } = await runtime.execute("seed + 1")
    assert.ok(ok)
    assert.match(
      lost.map(({ name, reason }) => `${name}: ${reason}`).join("\n"),
      /CONFIG: its module cannot be loaded again/,
    )
    assert.doesNotMatch(await runtime.describe(), /CONFIG/)
  })

  const broken: [what: string, source: string, says: RegExp][] = [
    [
      "raises",
      "x = 1\nraise ValueError('no luck')",
      /injection\.py" could not be loaded: ValueError: no luck \(line 2\)/,
    ],
    ["is not Python", "def", /SyntaxError: .* \(line 1\)/],
    ["has no __exports__", "x = 1", /defines no list __exports__/],
    ["exports something else", "__exports__ = [1]", /__exports__\[0\] is a int, and not a Function/],
    [
      "takes a name that is taken",
      'from karst import *\n__exports__ = [Variable("a"), Variable("taken")]',
      /'taken' is already there/,
    ],
    [
      "exports no name",
      'from karst import *\n__exports__ = [Variable("a b"), Function(lambda: 1)]',
      /'a b' is not a name; '<lambda>' is not a name/,
    ],
    [
      "exports what is no class",
      "from karst import *\n__exports__ = [Type(1)]",
      /Type\(\) takes a class, not int \(line 2\)/,
    ],
  ]
  test("that cannot be loaded is an error the model sees, and binds nothing", async (t) => {
    const names = broken.map((_, index) => `bad-${index}`)
    const root = await temporaryFolder(
      t,
      Object.fromEntries(
        broken.flatMap(([, source], index) => [
          [`bad-${index}/SKILL.md`, skillText(`bad-${index}`)],
          [`bad-${index}/injection.py`, source],
        ]),
      ),
    )
    await using runtime = pythonRuntime({ taken: 1 })
    const model = scriptedModel([...names.map((name) => cell(`activate_skill("${name}")`)), "Done."])
    const { messages } = await createAgent({ model, runtime, skills: [root] }).run("Go")
    const results = texts(messages).filter((_, index) => index > 0 && index % 2 === 0)
    for (const [index, [what, , says]] of broken.entries()) assert.match(results[index] ?? "", says, what)
    const there = (await runtime.names()).map(({ name }) => name)
    assert.deepEqual(there.sort(), ["activate_skill", "read_skill_file", "taken"])
  })

  test("needs no leave to be read inside a sandbox", { skip: requires("bwrap") }, async (t) => {
    const root = await temporaryFolder(t, { "stats/SKILL.md": skillText("stats"), "stats/injection.py": module })
    await using runtime = pythonRuntime({}, { isolation: "os" })
    const model = scriptedModel([activate, cell("analyze_data([3]).mean"), "Done."])
    const { messages } = await createAgent({ model, runtime, skills: [root] }).run("Go")
    assert.match(texts(messages)[5] ?? "", /3\.0/)
  })

  const caveAgentModule = module.replace("from karst import", "from cave_agent.runtime import")
  for (const isolation of ["process", "os"] as const) {
    test(`written for CaveAgent loads unchanged (isolation "${isolation}")`, {
      skip: isolation === "os" && requires("bwrap"),
    }, async (t) => {
      const root = await temporaryFolder(t, {
        "stats/SKILL.md": skillText("stats"),
        "stats/injection.py": caveAgentModule,
      })
      await using runtime = pythonRuntime({}, { isolation })
      const model = scriptedModel([activate, cell('print(analyze_data([3]).mean, CONFIG["threshold"])'), "Done."])
      const { messages } = await createAgent({ model, runtime, skills: [root] }).run("Go")
      assert.match(
        texts(messages)[3] ?? "",
        /def analyze_data\(data: list\) -> AnalysisResult:\n {4}"""Analyze data stat/,
      )
      assert.match(texts(messages)[5] ?? "", /3\.0 0\.5/)
    })
  }

  test("may import from CaveAgent what Karst has; the error for more says what that is, and cells see none of it", async (t) => {
    const sources = {
      all: "import cave_agent\nfrom cave_agent.runtime import *\n__exports__ = [cave_agent.runtime.Variable('a', 1)]",
      top: "from cave_agent import Function, Variable\n__exports__ = [Variable('b', 2)]",
      runtime: "from cave_agent.runtime import Variable\nfrom cave_agent.runtime import PythonRuntime",
      model: "from cave_agent.models import LiteLLMModel",
    }
    const files = Object.entries(sources).map(([name, source]) => [`${name}.py`, source])
    const root = await temporaryFolder(t, Object.fromEntries(files))
    await using runtime = pythonRuntime()
    const load = async (name: string) => runtime.load?.(join(root, `${name}.py`))
    assert.deepEqual(await load("all"), ["a"])
    assert.deepEqual(await load("top"), ["b"])
    await assert.rejects(load("runtime"), /PythonRuntime is not available: .*Function, Variable and Type \(line 2\)/)
    await assert.rejects(load("model"), /No module named 'cave_agent\.models' \(line 1\)/)
    const { error } = { error: undefined, ...(await runtime.execute("import cave_agent")) }
    assert.match(error?.message ?? "", /No module named 'cave_agent'/)
  })

  test("of another language is refused with the runtime to use", async (t) => {
    const files = { "injection.py": module, "injection.ts": "export const a: number = 1" }
    const root = await temporaryFolder(t, files)
    await using runtime = pythonRuntime()
    await assert.rejects(
      async () => runtime.load?.(join(root, "injection.ts")),
      /it is not Python\. Load it in jsRuntime/,
    )
    for (const other of [jsRuntime(), processRuntime()]) {
      await assert.rejects(
        async () => other.load?.(join(root, "injection.py")),
        /it is Python\. Load it in pythonRuntime/,
      )
      await other.close()
    }
  })

  test("leaves a package that has the name of CaveAgent to the cells", async (t) => {
    const root = await temporaryFolder(t, {
      "lib/cave_agent/__init__.py": "own = 1",
      "lib/cave_agent/runtime.py": "own = 2",
      "skill.py": "from cave_agent.runtime import Variable\n__exports__ = [Variable('a', 1)]",
    })
    const setup = `import sys\nsys.path.insert(0, ${JSON.stringify(join(root, "lib"))})\nimport cave_agent.runtime`
    await using runtime = pythonRuntime({}, { setup })
    assert.deepEqual(await runtime.load?.(join(root, "skill.py")), ["a"])
    const execution = await runtime.execute("import cave_agent.runtime as again\n[again.own, cave_agent.own, a]")
    assert.deepEqual(execution.ok && execution.value, [2, 1, 1])
  })

  test("in the working folder is never run", async (t) => {
    const root = await temporaryFolder(t, { "stats/SKILL.md": skillText("stats"), "stats/injection.py": module })
    await using runtime = pythonRuntime({}, { cwd: root })
    const model = scriptedModel([activate, "Done."])
    const { messages } = await createAgent({ model, runtime, skills: [root] }).run("Go")
    assert.match(texts(messages)[2] ?? "", /was not run: the agent can write in/)
  })
})
