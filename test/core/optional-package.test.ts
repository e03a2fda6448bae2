import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { MissingPeerError } from "../../src/core/errors.ts"
import { importOptionalPackage } from "../../src/core/optional-package.ts"

describe("importPeer", () => {
  test("loads a package that is installed", async () => {
    assert.equal(typeof (await importOptionalPackage("acorn", "parsing")).parse, "function")
  })

  test("names the package, what it is for and the cure when it is not", async () => {
    await assert.rejects(importOptionalPackage("@nobody/nothing", "drawing maps"), (error) => {
      assert.ok(error instanceof MissingPeerError)
      assert.match(error.message, /"@nobody\/nothing" is needed for drawing maps.*npm install @nobody\/nothing/)
      return true
    })
  })
})
