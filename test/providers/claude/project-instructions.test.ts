import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { readProjectInstructions } from "../../../src/providers/claude/project-instructions.ts"

async function project(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "karst-claude-"))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

test("the instructions of a project are those of both files, if they are there", async (t) => {
  const folder = await project(t)
  assert.deepEqual(await readProjectInstructions(folder), [])
  await writeFile(join(folder, "CLAUDE.md"), "one")
  await mkdir(join(folder, ".claude"))
  await writeFile(join(folder, ".claude/CLAUDE.md"), "two")
  assert.deepEqual(await readProjectInstructions(folder), ["one", "two"])
})

test("a project with a pipe, a device or a huge file as its instructions is refused, and nothing waits for it", async (t) => {
  const folder = await project(t)
  const file = join(folder, "CLAUDE.md")
  const cases: [() => Promise<unknown>, RegExp][] = [
    [async () => execFileSync("mkfifo", [file]), /CLAUDE\.md" is not a file, but a pipe or a device/],
    [() => symlink("/dev/zero", file), /CLAUDE\.md" is not a file, but a pipe or a device/],
    [
      () => writeFile(file, "").then(() => truncate(file, 3_000_000_000)),
      /has 3000000000 bytes; the most is 1000000\./,
    ],
  ]
  for (const [create, says] of cases) {
    await create()
    await assert.rejects(readProjectInstructions(folder), says)
    await rm(file)
  }
})
