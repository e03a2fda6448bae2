// test lane: clis
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type CliProcessOptions, startCliProcess } from "../../../src/providers/turn/cli-process.ts"
import { processesWith, waitUntil } from "../cli-machines.ts"

/** Runs a shell script as a CLI process and returns its lines and its end. */
async function supervise(script: string, options: Partial<CliProcessOptions> & { input?: string } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "karst-supervised-"))
  const lines: string[] = []
  const { input, ...rest } = options
  const child = startCliProcess({
    program: "/bin/sh",
    args: ["-c", script],
    cwd: "/",
    env: { PATH: process.env.PATH ?? "", KARST_TEST: folder },
    folder,
    signal: new AbortController().signal,
    onLine: (text) => lines.push(text),
    ...rest,
  })
  if (input !== undefined) child.write(input)
  child.endInput()
  const end = await child.ended
  const left = await processesWith(`KARST_TEST=${folder}`)
  await rm(folder, { recursive: true, force: true })
  return { lines, end, left }
}

describe("a child under supervision", () => {
  test("gives its lines, whatever chunks and line ends they came in", async () => {
    const { lines, end } = await supervise("printf 'one\\ntw'; sleep 0.05; printf 'o\\r\\n\\nlast'")
    assert.deepEqual(lines, ["one", "two", "", "last"])
    assert.equal(end.exitCode, 0)
  })

  test("reads its input, however long", async () => {
    const { lines } = await supervise("wc -c", { input: "x".repeat(1_000_000) })
    assert.equal(lines[0]?.trim(), "1000000")
  })

  test("gives a line of a megabyte whole, and characters that were cut in two", async () => {
    const { lines } = await supervise(
      "head -c 1000000 /dev/zero | tr '\\0' a; printf '\\303'; sleep 0.05; printf '\\251\\n'",
    )
    assert.equal(lines[0]?.length, 1_000_001)
    assert.ok(lines[0]?.endsWith("é"))
  })

  test("may write as much to its standard error as it likes: the end of it is kept, and what was dropped is said", async () => {
    const script = "head -c 300000 /dev/zero | tr '\\0' e >&2; echo the reason >&2; echo out; exit 3"
    const { lines, end } = await supervise(script)
    assert.deepEqual(lines, ["out"])
    assert.equal(end.exitCode, 3)
    assert.match(end.stderr, /^\[\d+ bytes before this were dropped\]\n/)
    assert.ok(end.stderr.endsWith("the reason\n"))
    assert.ok(end.stderr.length < 70_000)
  })

  test("says without colours what it wrote to its standard error", async () => {
    const { end } = await supervise(String.raw`printf '\033[91m\033[1mError: \033[0mno such thing\n' >&2`)
    assert.equal(end.stderr, "Error: no such thing\n")
  })

  test("leaves nothing behind that it started: in its group, out of it, or holding its output", async () => {
    const { lines, left } = await supervise(
      "sleep 300 & setsid sleep 300 & (setsid sh -c 'sleep 300 & sleep 300' &); echo done",
    )
    assert.deepEqual(lines, ["done"])
    assert.deepEqual(left, [])
  })

  test("is ended when it says nothing for too long, also when it does not want to", async () => {
    const { end, left, lines } = await supervise("trap '' TERM; echo begun; sleep 300; sleep 300", {
      idleTimeoutMs: 1000,
      graceMs: 200,
    })
    assert.deepEqual(lines, ["begun"])
    assert.deepEqual([end.stopped, end.signal], ["idle", "SIGKILL"])
    assert.deepEqual(left, [])
  })

  test("is ended when it takes too long, though it talks", async () => {
    const { end, left } = await supervise("while true; do echo still; sleep 0.05; done", {
      timeoutMs: 300,
      idleTimeoutMs: 60_000,
    })
    assert.equal(end.stopped, "timeout")
    assert.deepEqual(left, [])
  })

  test("is ended when the signal fires, and at once where it has", async () => {
    const controller = new AbortController()
    const running = supervise("echo begun; sleep 300", { signal: controller.signal, onLine: () => controller.abort() })
    const { end, left } = await running
    assert.equal(end.stopped, "abort")
    assert.deepEqual(left, [])
    const never = await supervise("sleep 300", { signal: AbortSignal.abort() })
    assert.equal(never.end.stopped, "abort")
  })

  test("that cannot be started says why", async () => {
    const { end } = await supervise("", { program: "/nowhere/at/all" })
    assert.match(end.error?.message ?? "", /ENOENT/)
    const long = await supervise("x".repeat(3_000_000))
    assert.match(long.end.error?.message ?? "", /E2BIG/)
  })

  test("ends with its owner, though that is killed at once", { skip: process.platform !== "linux" }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "karst-owner-"))
    const program = join(folder, "owner.ts")
    const cliProcess = join(import.meta.dirname, "../../../src/providers/turn/cli-process.ts")
    await writeFile(
      program,
      `import { startCliProcess } from ${JSON.stringify(cliProcess)}
       startCliProcess({ program: "/bin/sh", args: ["-c", "setsid sleep 300 & sleep 300"], cwd: "/", folder: ${JSON.stringify(join(folder, "none"))},
         env: { PATH: process.env.PATH, KARST_TEST: ${JSON.stringify(folder)} }, signal: new AbortController().signal, onLine() {} })`,
    )
    const owner = spawn(process.execPath, [...process.execArgv, program], { stdio: "inherit" })
    const sleeps = async () => (await processesWith(`KARST_TEST=${folder}`)).filter((line) => line.startsWith("sleep"))
    await waitUntil("both sleep", async () => (await sleeps()).length === 2)
    owner.kill("SIGKILL")
    await waitUntil("none is left", async () => (await processesWith(`KARST_TEST=${folder}`)).length === 0)
    await rm(folder, { recursive: true, force: true })
  })
})
