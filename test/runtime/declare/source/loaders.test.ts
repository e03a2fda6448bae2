// test lane: unit, long
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { promisify } from "node:util"
import { installInto } from "../../../../scripts/pack.ts"
import { homeDeclarations } from "./fixture-bindings.ts"

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), "karst-loaders-"))
const here = (path: string) => JSON.stringify(join(import.meta.dirname, path))

const vitestFile = `
import { expect, test } from "vitest"
import * as home from ${here("fixture/home.ts")}
import { declaredFromFiles, homeBindings, homeDeclarations } from ${here("fixture-bindings.ts")}
test("types", () => expect(declaredFromFiles(homeBindings(home))).toBe(homeDeclarations))
`

describe("the types of files are found", () => {
  before(() => installInto(folder, ["tsx@4.23.15", "vitest@4.1.12"]), { timeout: 240_000 })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const program = join(import.meta.dirname, "fixture", "print-declarations.ts")

  test("by plain Node", async () => {
    const { stdout } = await run(process.execPath, ["--no-warnings", program])
    assert.equal(stdout.trimEnd(), homeDeclarations)
  })

  test("under tsx", async () => {
    const { stdout } = await run(process.execPath, [join(folder, "node_modules/tsx/dist/cli.mjs"), program])
    assert.equal(stdout.trimEnd(), homeDeclarations)
  })

  test("under vitest", async () => {
    writeFileSync(join(folder, "types.test.ts"), vitestFile)
    const vitest = join(folder, "node_modules/vitest/vitest.mjs")
    const { stdout } = await run(process.execPath, [vitest, "run", "--root", folder, "--reporter=json"], {
      cwd: folder,
    })
    const { success, numPassedTests } = JSON.parse(stdout)
    assert.deepEqual({ success, numPassedTests }, { success: true, numPassedTests: 1 })
  })
})
