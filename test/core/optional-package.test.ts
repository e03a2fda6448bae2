import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { MissingPackageError } from "../../src/core/errors.ts"
import { importOptionalPackage } from "../../src/core/optional-package.ts"

describe("importPeer", () => {
  test("loads a package that is installed", async () => {
    assert.equal(typeof (await importOptionalPackage("acorn", "parsing")).parse, "function")
  })

  test("names the package, what it is for and the cure when it is not", async () => {
    await assert.rejects(importOptionalPackage("@nobody/nothing", "drawing maps"), (error) => {
      assert.ok(error instanceof MissingPackageError)
      assert.match(error.message, /"@nobody\/nothing" is needed for drawing maps.*npm install @nobody\/nothing/)
      return true
    })
  })

  test("does not report an installed package as missing when one of its own imports is", async () => {
    const folder = mkdtempSync(join(tmpdir(), "packages-"))
    const before = process.cwd()
    const installed = join(folder, "node_modules", "maps")
    mkdirSync(installed, { recursive: true })
    writeFileSync(join(installed, "package.json"), '{ "name": "maps", "type": "module", "exports": "./index.js" }')
    writeFileSync(join(installed, "index.js"), 'import "maps-colours"')
    process.chdir(folder)
    try {
      await assert.rejects(importOptionalPackage("maps", "drawing maps"), (error) => {
        assert.ok(!(error instanceof MissingPackageError))
        assert.match(String(error), /maps-colours/)
        return true
      })
    } finally {
      process.chdir(before)
      rmSync(folder, { recursive: true })
    }
  })
})
