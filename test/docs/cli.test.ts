// The program of docs/cli.md, run as it is shown there.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { test } from "node:test"

test("display shows a run and resolves with its result, whatever its status is", () => {
  const program = join(import.meta.dirname, "cli/display.ts")
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [...process.execArgv, program, ...args], { encoding: "utf8" })
  const done = run()
  assert.match(done.stdout, /It has 3 rows\.[\s\S]*status: done\n$/)
  assert.equal(done.status, 0)
  const failed = run("fail")
  assert.match(failed.stdout + failed.stderr, /The service is gone\./)
  assert.match(failed.stdout, /status: failed\n$/)
})
