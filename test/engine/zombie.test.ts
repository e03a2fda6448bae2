import assert from "node:assert/strict"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { readFileSync, rmSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"

test("a worker that was stopped for longer than its lease writes nothing and begins no call when it wakes up", async () => {
  const folder = await mkdtemp(join(tmpdir(), "karst-zombie-"))
  const zombie = start(folder, "zombie")
  try {
    while (!effects(folder).includes("zombie first")) await new Promise((resolve) => setTimeout(resolve, 20))
    zombie.child.kill("SIGSTOP")
    const heir = start(folder, "heir")
    assert.equal(await heir.output, "Done by heir.")
    zombie.child.kill("SIGCONT")
    zombie.child.stdin.write("go on\n")
    assert.equal(await zombie.output, "Done by heir.")
    assert.deepEqual(effects(folder), ["zombie first", "heir first", "heir second"])
  } finally {
    zombie.child.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true })
  }
})

function effects(folder: string): string[] {
  try {
    return readFileSync(join(folder, "effects"), "utf8").trim().split("\n")
  } catch {
    return []
  }
}

function start(folder: string, role: string): { child: ChildProcessWithoutNullStreams; output: Promise<string> } {
  const program = join(import.meta.dirname, "zombie-program.ts")
  const child = spawn(process.execPath, ["--conditions=karst-source", program, folder, role])
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text
  })
  child.stderr.pipe(process.stderr)
  return { child, output: new Promise((resolve) => child.on("close", () => resolve(output))) }
}
