// test lane: runtimes, long
// The Python module of docs/skills.md, in a kernel.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { createAgent } from "karst"
import { scriptedModel } from "karst/models"
import { pythonRuntime } from "karst/python"
import { requires } from "../system.ts"

const cell = (code: string) => `\`\`\`python\n${code}\n\`\`\``

test("injection.py brings its exports into the kernel", { skip: requires("python") }, async () => {
  const model = scriptedModel([
    cell('activate_skill("statistics")'),
    cell('print(analyze([1, 2, 6]), LIMITS["rows"])'),
    "Done.",
  ])
  await using runtime = pythonRuntime({})
  const skills = [join(import.meta.dirname, "skills")]
  const { trajectory } = await createAgent({ model, runtime, skills }).run("Analyze")
  const told = JSON.stringify(trajectory.messages)
  assert.match(told, /def analyze\(data: list\) -> dict[\s\S]*Mean and count\./)
  assert.match(told, /What to keep to/)
  assert.match(told, /\{'mean': 3\.0, 'count': 3\} 1000/)
})
