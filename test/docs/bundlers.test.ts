// The snippet of docs/bundlers.md, run as it is shown there. test/newcomer/installed.test.ts does it with the packed
// package.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"

test("docs/bundlers.md shows how a CommonJS program loads Karst", async () => {
  const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]
  const program = join(import.meta.dirname, "bundlers/common-js.cjs")
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, program])
  assert.deepEqual([stdout, stderr], ["done [ 'required' ]\n", ""])
})
