// test lane: runtimes, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { requires } from "../../system.ts"
import { cell, collectRun, endlessStep, onlyEvent, resultShownToModel, scriptedAgent } from "../scripted-agents.ts"

const python = (code: string) => cell(code, "python")

describe("an orchestrator in Python", { skip: requires("python") }, () => {
  test("sets, runs and reads an agent of the host, and its failure is data", async () => {
    const cleaning = jsRuntime({ data: variable<number[]>([]), cleaned: variable<number[]>([]) })
    const cleaner = scriptedAgent("cleaner", [cell("cleaned = data.filter((n) => n > 0)"), "Cleaned."], {
      runtime: cleaning,
    })
    const failing = scriptedAgent("failing", [new Error("no luck")])
    await using runtime = pythonRuntime({ rows: [3, -1, 4], cleaner, failing })
    const code = `
cleaner.runtime.update({"data": rows})
reply = cleaner.run("clean it")
print(reply["status"], reply["output"], cleaner.runtime.retrieve("cleaned"))
failed = failing.run("go")
print(failed["status"], failed["error"])`
    const model = scriptedModel([python(code), "Done."])
    const { events, result } = await collectRun(createAgent({ name: "boss", model, runtime }).run("go"))
    assert.match(resultShownToModel(model), /done Cleaned\. \[3, 4\]\nfailed Error: no luck/)
    assert.equal(onlyEvent(events, "run-start", "cleaner").parent, result.id)
    const calls = events.flatMap((event) =>
      event.type === "call-start" ? `${event.call.binding}.${event.call.method}` : [],
    )
    assert.deepEqual(calls, ["cleaner.runtime.update", "cleaner.run", "cleaner.runtime.retrieve", "failing.run"])
    assert.equal(await runtime.retrieve("cleaner"), cleaner)
  })

  test("runs a batch, and has approvals of its children answered where it is watched", async () => {
    let sent = 0
    const child = createAgent({
      name: "child",
      model: scriptedModel(({ messages }) => (messages.length === 1 ? cell("await send()") : "Sent.")),
      runtime: () => jsRuntime({ send: fn(() => ++sent, { approve: true }) }),
    })
    await using runtime = pythonRuntime({ child })
    const code = 'print([reply["output"] for reply in child.runAll(["a", "b", "c"], {"maxParallel": 2})])'
    const model = scriptedModel([python(code), "Done."])
    const run = createAgent({ name: "boss", model, runtime }).run("go", { approver: "events" })
    for await (const event of run) if (event.type === "approval-requested") run.approve(event.id, "allow")
    assert.equal(sent, 3)
    assert.match(resultShownToModel(model), /\['Sent\.', 'Sent\.', 'Sent\.'\]/)
  })

  test("is told how to use an agent, and what is in its runtime", async () => {
    const cleaner = scriptedAgent("cleaner", [], {
      description: "Cleans rows",
      runtime: jsRuntime({ data: variable([1], "The rows") }),
    })
    await using runtime = pythonRuntime({ cleaner })
    const text = await runtime.describe()
    assert.match(text, /^cleaner: Agent {2}# cleaner: Cleans rows$/m)
    assert.match(text, /# cleaner\.run\(prompt: str/)
    assert.match(text, /# Its runtime \(TypeScript\) holds:\n# \/\*\* The rows \*\/\n# declare let data: number\[\]/)
  })

  test("ends its children when it is aborted", async () => {
    const { step, begun } = endlessStep()
    const child = scriptedAgent("child", [step])
    await using runtime = pythonRuntime({ child })
    const run = scriptedAgent("boss", [python('child.run("go")'), "Done."], { runtime }).run("go")
    void begun.then(() => run.abort())
    const { events } = await collectRun(run)
    assert.equal(onlyEvent(events, "run-end", "child").status, "aborted")
    assert.equal(onlyEvent(events, "run-end", "boss").status, "aborted")
  })

  for (const [name, make] of [
    ["jsRuntime", jsRuntime],
    ["processRuntime", processRuntime],
  ] as const) {
    test(`that would wait for itself through an agent on a ${name} is refused, with both cells named`, async () => {
      await using runtime = pythonRuntime()
      await using between = make()
      const model = scriptedModel([python('second.run("go")["output"]'), python("1 + 1"), "Inner.", "Outer."])
      const first = createAgent({ name: "first", model, runtime })
      const second = scriptedAgent("second", [cell('(await first.run("go")).output'), "Second."], { runtime: between })
      await runtime.inject({ second })
      await between.inject({ first })
      const { events, result } = await collectRun(first.run("go"))
      assert.equal(result.output, "Outer.")
      const refused = events.find((event) => event.type === "code-end" && event.error?.kind === "refused")
      assert.ok(refused?.type === "code-end")
      assert.match(refused.text, /was asked for by cell 1 of the same pythonRuntime.*as cell 2/)
    })
  }

  test("is let back into a jsRuntime whose cell waits for it", async () => {
    const top = jsRuntime({ steps: variable<string[]>([]) })
    await using runtime = pythonRuntime()
    const model = scriptedModel([
      cell('steps.push("a"); await below.run("go"); steps.push("c")'),
      cell('steps.push("b")'),
      "Inner.",
      "Outer.",
    ])
    const first = createAgent({ name: "first", model, runtime: top })
    await runtime.inject({ first })
    await top.inject({ below: scriptedAgent("below", [python('first.run("go")["output"]'), "Below."], { runtime }) })
    assert.equal((await first.run("go")).output, "Outer.")
    assert.deepEqual(await top.retrieve("steps"), ["a", "b", "c"])
  })
})

describe("tables between kernels", { skip: requires("python", "pandas") }, () => {
  const typed = `
import pandas as pd, numpy as np
df = pd.DataFrame({
    "id": np.array([1, 2, 3], dtype="int32"),
    "ratio": np.array([0.5, 1.5, 2.5], dtype="float32"),
    "kind": pd.Categorical(["a", "b", "a"], categories=["b", "a"], ordered=True),
    "at": pd.to_datetime(["2024-01-01 00:00:00.123456789", None, "2024-01-03"]).tz_localize("Europe/Berlin"),
    "took": pd.to_timedelta([1, 2, 3], unit="ns"),
    "count": pd.array([1, None, 3], dtype="Int64"),
    "word": pd.array(["x", None, "z"], dtype="string"),
}).set_index(["id", "kind"])`

  test("go from an orchestrator's to a helper's and back with their types and index, to the nanosecond", async () => {
    await using helping = pythonRuntime({ df: variable(undefined, "A table") })
    const helper = scriptedAgent("helper", [python("changed = df.assign(double=df.ratio * 2)"), "Doubled."], {
      runtime: helping,
    })
    await using runtime = pythonRuntime({ helper })
    const code = `${typed}
helper.runtime.update({"df": df})
print(helper.run("double it")["status"])
back = helper.runtime.retrieve("changed")
pd.testing.assert_frame_equal(back.drop(columns="double"), df, check_exact=True)
print(back["double"].dtype, list(back.index.names))`
    const model = scriptedModel([python(code), "Done."])
    await createAgent({ model, runtime }).run("go")
    assert.match(resultShownToModel(model), /done\nfloat32 \['id', 'kind'\]/)
  })

  test("are rows of data for a helper in TypeScript, and a table for a host that asks for one", async () => {
    const helping = jsRuntime({ rows: variable<{ n: number }[]>([]) })
    const helper = scriptedAgent("helper", [cell("rows[0].n + rows[1].n"), "Added."], { runtime: helping })
    await using runtime = pythonRuntime({ helper })
    const code = `import pandas as pd
helper.runtime.update({"rows": pd.DataFrame({"n": [1, 2]})})
print(helper.run("add")["output"], helper.runtime.retrieve("rows"))`
    const model = scriptedModel([python(code), "Done."])
    await createAgent({ model, runtime }).run("go")
    assert.match(resultShownToModel(model), /Added\. \[\{'n': 1\}, \{'n': 2\}\]/)
    assert.deepEqual(await helping.retrieve("rows"), [{ n: 1 }, { n: 2 }])
  })

  const attacks: [string, string, RegExp][] = [
    ["code among the data", "", /cannot go to another kernel: \['x'\]: it holds an instance of Evil/],
    [
      "a file of another making",
      'frames.save = lambda frame, path: open(path, "wb").write(pickle.dumps(Evil()))',
      /what the other kernel wrote is not a table/,
    ],
    ["a link to a file of the host", 'frames.save = lambda frame, path: os.symlink("/etc/hostname", path)', /ELOOP/],
    ["a folder", "frames.save = lambda frame, path: os.mkdir(path)", /did not write the table/],
  ]
  test("bring nothing along that could run or be read, whatever a kernel writes", async () => {
    await using helping = pythonRuntime({ df: 1 })
    const helper = scriptedAgent("helper", [], { runtime: helping })
    await using runtime = pythonRuntime({ helper })
    for (const [what, attack, expected] of attacks) {
      const code = `import os, pickle, pandas as pd
from karst_kernel import table_files as frames
class Evil:
    def __reduce__(self):
        return (exec, ("print('ran')",))
${attack}
helper.runtime.update({"df": pd.DataFrame({"x": [${what.startsWith("code") ? "Evil()" : "1"}]})})`
      const model = scriptedModel([python(code), python('helper.runtime.retrieve("df")'), "Done."])
      await createAgent({ model, runtime }).run("go")
      assert.match(resultShownToModel(model, 1), expected, what)
      assert.match(resultShownToModel(model, 2), /\n1\n/, what)
    }
  })
})
