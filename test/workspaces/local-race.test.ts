import assert from "node:assert/strict"
import { fork } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { AgentError } from "../../src/core/errors.ts"
import { localWorkspace } from "../../src/workspaces/local.ts"

const programs = join(import.meta.dirname, "../fixtures/workspace")
const size = 1_500_000

describe("localWorkspace, while others interfere", () => {
  const skip = existsSync("/proc/self/fd") ? false : "by design: without /proc a swap during the call is not seen"
  test("is never led out by a folder that becomes a link during the call", { skip }, async (context) => {
    const top = await mkdtemp(join(tmpdir(), "karst-race-"))
    context.after(() => rm(top, { recursive: true, force: true }))
    const [root, outside] = [join(top, "root"), join(top, "outside")]
    await mkdir(join(root, "folder"), { recursive: true })
    await mkdir(outside)
    await writeFile(join(root, "folder/file"), "inside")
    await writeFile(join(outside, "file"), "OUTSIDE")
    const swapper = fork(join(programs, "swapper.ts"), [join(root, "folder"), outside])
    const exit = once(swapper, "exit")
    await once(swapper, "message")
    const workspace = localWorkspace(root)
    const outcomes = { inside: 0, refused: 0 }
    try {
      for (let round = 0; round < 150; round++) {
        const works = [
          () =>
            workspace.read("folder/file").then((bytes) => assert.notEqual(Buffer.from(bytes).toString(), "OUTSIDE")),
          () => workspace.write("folder/file", "inside"),
          () => workspace.write(`folder/new-${round}`, "inside", { append: true }),
          () => workspace.remove(`folder/new-${round}`),
          async () => {
            for await (const { path, sizeBytes: size } of workspace.list())
              assert.notEqual(size, "OUTSIDE".length, path)
          },
        ]
        for (const work of works) {
          try {
            await work()
            outcomes.inside++
          } catch (error) {
            if (!(error instanceof AgentError)) throw error
            outcomes.refused++
          }
        }
      }
    } finally {
      swapper.kill("SIGKILL")
      await exit
    }
    assert.deepEqual(await readdir(outside), ["file"])
    assert.equal(await readFile(join(outside, "file"), "utf8"), "OUTSIDE")
    assert.ok(outcomes.inside > 0 && outcomes.refused > 0, JSON.stringify(outcomes))
  })

  test("has the old file or the new one when a writer is killed, never a part", async (context) => {
    const root = await mkdtemp(join(tmpdir(), "karst-kill-"))
    context.after(() => rm(root, { recursive: true, force: true }))
    const workspace = localWorkspace(root)
    for (let round = 0; round < 6; round++) {
      const writer = fork(join(programs, "writer.ts"), [root, String(size)])
      // Each message reports one more finished file; the next one is being written.
      for (let files = 0; files <= round % 3; files++) await once(writer, "message")
      await new Promise((resolve) => setImmediate(resolve))
      writer.kill("SIGKILL")
      await once(writer, "exit")
      const bytes = await workspace.read("folder/file")
      assert.equal(bytes.length, size)
      assert.ok(bytes.every((byte) => byte === bytes[0]))
      const log = await workspace.read("folder/log")
      assert.equal(log.length % 100_000, 0)
      assert.deepEqual(await Array.fromAsync(workspace.list(), ({ path }) => path), ["folder/file", "folder/log"])
    }
  })

  test("lets one of several processes make a file that must not exist yet", async (context) => {
    const root = await mkdtemp(join(tmpdir(), "karst-claim-"))
    context.after(() => rm(root, { recursive: true, force: true }))
    const claimers = Array.from({ length: 3 }, (_, number) =>
      fork(join(programs, "claimer.ts"), [root, String(number)]),
    )
    const exits = claimers.map((claimer) => once(claimer, "exit"))
    await Promise.all(claimers.map((claimer) => once(claimer, "message")))
    const claims = await Promise.all(
      claimers.map(async (claimer) => {
        const answer = once(claimer, "message")
        claimer.send("go")
        const [won] = await answer
        return won as number[]
      }),
    )
    await Promise.all(exits)
    assert.deepEqual(
      claims.flat().sort((a, b) => a - b),
      Array.from({ length: 60 }, (_, file) => file),
    )
  })
})
