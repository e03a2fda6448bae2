import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const program = fileURLToPath(new URL("../fixtures/workspace/far-run.ts", import.meta.url))

describe("a run whose files are elsewhere", () => {
  for (const place of ["s3", "memory"]) {
    test(`writes no local file: ${place}`, async () => {
      // The process may read files and start threads, but not write.
      const rights = ["--permission", "--allow-fs-read=*", "--allow-worker"]
      const { stdout } = await promisify(execFile)(process.execPath, [...rights, program, place])
      const { refused, output, failed, files } = JSON.parse(stdout)
      assert.deepEqual([refused, output, failed], [true, "Planned.", []])
      assert.deepEqual(files, ["notes/plan.md"])
    })
  }
})
