// test lane: durable, long
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { requires, skipUnless } from "../../system.ts"

const mostWrites = 40

describe("a durable run whose cells are in a processRuntime", () => survivesIn("typescript", "open", [4, 9]))

describe("a durable run whose cells are in a pythonRuntime", { skip: requires("python") }, () =>
  survivesIn("python", "Open", [9]),
)

function survivesIn(language: string, lost: string, fewWrites: readonly number[]): void {
  test("killed in a cell whose calls run side by side, it is finished by another process", async () => {
    assert.equal(await survives(language, "call", lost), true)
  })

  test("killed at a write, it is finished by another process", async () => {
    for (const write of fewWrites) assert.equal(await survives(language, String(write), lost), true)
  })

  test("killed at any write, it is finished by another process", { skip: skipUnless("KARST_CRASH_ALL") }, async () => {
    for (let write = 1; write <= mostWrites; write++) if (!(await survives(language, String(write), lost))) return
    assert.fail(`It made more than ${mostWrites} writes.`)
  })
}

/** Whether it was killed at that point at all; if it was, it is finished and looked at. */
async function survives(language: string, killPoint: string, lost: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "karst-runtimes-"))
  try {
    const killed = await runProgram(language, folder, killPoint)
    if (killed.signal !== "SIGKILL") {
      assert.equal(killed.code, 0, killed.stderr)
      return false
    }
    const { code, stdout, stderr } = await runProgram(language, folder, "")
    const where = `${language} at ${killPoint}`
    assert.equal(code, 0, `${where}: ${stderr}`)
    const { status, error, warnings } = JSON.parse(stdout)
    assert.equal(status, "done", `${where}: ${JSON.stringify(error)}`)
    assert.deepEqual(warnings, [], where)
    check(where, readFileSync(join(folder, "effects.jsonl"), "utf8").trim().split("\n"), killPoint === "call", lost)
    return true
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function check(where: string, effects: readonly string[], inCell: boolean, lost: string): void {
  const of = (name: string) => effects.filter((line) => line.startsWith(`["${name}",`))
  for (const name of ["pay", "refund"]) assert.ok(of(name).length <= 1, `${where}: ${of(name).join(" ")}`)
  assert.ok(new Set(of("drawn")).size === 1, `${where}: other times or chances: ${of("drawn").join(" ")}`)
  const [end, ...others] = new Set(of("end"))
  assert.ok(end && others.length === 0, where)
  const [, [rows, paid, began, outcomes]] = JSON.parse(end)
  assert.deepEqual([rows, began], [[1, 2, 3, 3], 2], where)
  assert.ok(paid === "unknown" || (paid === 1 && of("pay").length === 1), where)
  assert.ok(outcomes[0] === "rejected" || of("refund").length === 1, where)
  if (!inCell) return
  assert.deepEqual(outcomes, ["fulfilled", "fulfilled", "fulfilled"], where)
  assert.ok(of("lost").includes(`["lost","${lost}"]`), `${where}: the model was not told: ${effects.join(" ")}`)
}

interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

function runProgram(...args: string[]): Promise<Ended> {
  const program = join(import.meta.dirname, "runtimes-program.ts")
  const child = spawn(process.execPath, ["--conditions=karst-source", program, ...args])
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  return new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr })))
}
