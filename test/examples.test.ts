import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { globSync } from "node:fs"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, test } from "node:test"
import { promisify } from "node:util"
import { requires } from "./system.ts"

const root = dirname(import.meta.dirname)
const examples = globSync("examples/*.ts", { cwd: root }).sort()

// What some need of the machine beside Node.
const skips: Record<string, string | undefined> = {
  "examples/10-pandas.ts": requires("python", "pandas"),
}

describe("the examples", () => {
  test("are numbered from 01 without a gap", () => {
    const numbers = examples.map((file) => file.slice("examples/".length, "examples/01".length))
    assert.ok(numbers.length > 0)
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => String(index + 1).padStart(2, "0")),
    )
  })

  for (const file of examples) {
    test(`${file} is under 60 lines, opens with two lines of comment and imports what a user would`, async () => {
      const text = await readFile(join(root, file), "utf8")
      const lines = text.trimEnd().split("\n")
      assert.ok(lines.length < 60, `${lines.length} lines`)
      assert.deepEqual(
        lines.slice(0, 3).map((line) => line.startsWith("//")),
        [true, true, false],
      )
      const foreign = [...text.matchAll(/from "([^"]+)"/g)]
        .map(([, name = ""]) => name)
        .filter((name) => !/^(karst|node:|zod$)/.test(name))
      assert.deepEqual(foreign, [])
    })

    test(`${file} runs without a key and prints something`, { skip: skips[file] }, async () => {
      // Elsewhere, so that an example that leaves a file behind leaves it there.
      const cwd = await mkdtemp(join(tmpdir(), "karst-example-"))
      try {
        const { PATH } = process.env
        const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning", join(root, file)]
        const { stdout, stderr } = await promisify(execFile)(process.execPath, flags, { cwd, env: { PATH } })
        assert.notEqual(stdout.trim(), "")
        assert.equal(stderr, "")
      } finally {
        await rm(cwd, { recursive: true })
      }
    })
  }
})
