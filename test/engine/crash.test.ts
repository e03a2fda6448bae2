import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { readFileSync, rmSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import type { AgentEvent } from "karst"
import { kinds } from "./crash-kinds.ts"

// Every write is one commit, so killing at each of them kills at each stored event and each line of the journal.
const everyPoint = Boolean(process.env.KARST_CRASH_ALL)
const mostWrites = 60

describe("a process killed at any write", () => {
  for (const kind of Object.keys(kinds)) {
    test(`${kind}: a fresh one finishes the run, and nothing that was done is done twice`, async () => {
      const points = Array.from({ length: mostWrites }, (_, index) => [`${index + 1}`, `${index + 1}-before`]).flat()
      for (const [index, point] of points.entries()) {
        // A few in a plain run, each kind beginning elsewhere.
        if (!everyPoint && index % 13 !== kind.length % 13) continue
        if (!(await survives(kind, point))) return
      }
      assert.fail(`The run made more than ${mostWrites} writes.`)
    })
  }
})

/** Whether the run was killed at that point at all; if it was, it is finished and looked at. */
async function survives(kind: string, point: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "karst-crash-"))
  try {
    const killed = await runProgram(kind, folder, "start", point)
    if (killed.signal !== "SIGKILL") {
      assert.equal(killed.code, 0, killed.stderr)
      return false
    }
    const { code, stdout, stderr } = await runProgram(kind, folder, "recover", "")
    assert.equal(code, 0, `${kind} at ${point}: ${stderr}`)
    check(`${kind} at ${point}`, JSON.parse(stdout), readFileSync(join(folder, "effects.jsonl"), "utf8"))
    return true
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function check(where: string, told: { status: string; error?: unknown; events: AgentEvent[] }, effects: string): void {
  assert.equal(told.status, "done", `${where}: ${JSON.stringify(told.error)}`)
  const lines = effects.trim().split("\n")
  const texts = JSON.stringify(told.events)
  for (const line of new Set(lines)) {
    const { name } = JSON.parse(line)
    const times = lines.filter((each) => each === line).length
    // A call that may be made again, and a model's answer that was not recorded: once more, at most.
    const most = name === "note" || name.startsWith("model") ? 2 : 1
    assert.ok(times <= most, `${where}: ${line} ${times} times`)
  }
  const keys = new Set(lines.filter((line) => line.includes('"note"')))
  assert.ok(keys.size <= 1, `${where}: other idempotency keys: ${[...keys].join(" ")}`)
  for (const amount of ["pay", "wipe"]) {
    const made = lines.some((line) => line.includes(`"${amount}"`))
    assert.ok(
      made || texts.includes("UnknownOutcome") || !texts.includes(`"binding":"${amount}"`),
      `${where}: ${amount} was lost`,
    )
  }
  const seqs = told.events.filter(({ parent }) => parent === undefined).map(({ seq }) => seq)
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
    `${where}: events out of order`,
  )
  assert.equal(told.events.filter(({ type, parent }) => type === "run-end" && parent === undefined).length, 1, where)
}

interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

function runProgram(kind: string, folder: string, mode: string, point: string): Promise<Ended> {
  const program = join(import.meta.dirname, "crash-program.ts")
  const child = spawn(process.execPath, ["--conditions=karst-source", program, kind, folder, mode, point])
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const timer = setTimeout(() => child.kill("SIGTERM"), 15_000)
  return new Promise((resolve) =>
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      resolve({ code, signal, stdout, stderr })
    }),
  )
}
