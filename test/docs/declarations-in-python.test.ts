// test lane: runtimes, long
// The Python declaration of docs/declarations.md, as it is shown there.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { variable } from "karst"
import { pythonRuntime, table } from "karst/python"
import { requires } from "../system.ts"
import { passengers } from "./declarations/passengers.ts"

test("docs/declarations.md shows how Python declares a table", { skip: requires("python", "pandas") }, async () => {
  await using runtime = pythonRuntime({ rows: variable(table(passengers), "The passengers") })
  const shown = await readFile(join(import.meta.dirname, "declarations/python.txt"), "utf8")
  assert.equal(`${await runtime.describe()}\n`, shown)
})
