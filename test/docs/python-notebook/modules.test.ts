// test lane: runtimes, long
// The snippet of docs/python-notebook.md about modules, run as it is shown there.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { test } from "node:test"
import { promisify } from "node:util"
// #region program
import { classType } from "karst"
import { py, pythonRuntime } from "karst/python"
// #endregion
import { python, requires } from "../../system.ts"
import { workIn } from "../surroundings.ts"

const needs = { skip: requires("python") }

test("docs/python-notebook.md shows objects and classes of the reader's own Python modules", needs, async (t) => {
  await workIn(t)
  await mkdir("analysis/shop", { recursive: true })
  await promisify(execFile)(python() ?? "", ["-m", "venv", "--system-site-packages", "--without-pip", "venv"])
  await writeFile(
    "analysis/shop/models.py",
    [
      "class Model:",
      "    def __init__(self, factor: float): self.factor = factor",
      "    def predict(self, rows: list) -> list: return [self.factor * row for row in rows]",
      "model = Model(2)",
    ].join("\n"),
  )
  await writeFile("analysis/setup.py", "import sys, os\nplace = os.path.basename(sys.prefix)\n")
  // #region program
  await using runtime = pythonRuntime(
    {
      model: py<{ predict(rows: unknown): Promise<number[]> }>("shop.models:model"),
      Model: classType(py("shop.models:Model")),
    },
    { python: "./venv/bin/python", cwd: "./analysis", setup: { file: "./analysis/setup.py" } },
  )
  // #endregion
  const cell = await runtime.execute("model.predict([1, 2]) + Model(3).predict([1]) + [place]")
  assert.deepEqual(cell.ok ? cell.value : cell.error, [2, 4, 3, "venv"])
  assert.deepEqual(await (await runtime.retrieve("model")).predict([5]), [10])
  assert.match(await runtime.describe(), /class Model/)
  assert.match(await runtime.describe(), /place/)
})
