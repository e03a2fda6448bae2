import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { testWorkspace } from "karst/testing"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"

describe("memoryWorkspace", () => {
  testWorkspace({ test, workspace: () => memoryWorkspace() })

  test("begins with the files it is given", async () => {
    const workspace = memoryWorkspace({ "a/b.txt": "text", "./c.bin": Uint8Array.of(1, 2) })
    assert.deepEqual(await Array.fromAsync(workspace.list(), ({ path, sizeBytes: size }) => [path, size]), [
      ["a/b.txt", 4],
      ["c.bin", 2],
    ])
    assert.throws(() => memoryWorkspace({ "../a": "" }), /"\.\.\/a" is not a path in a workspace: it has "\.\."/)
    assert.throws(() => memoryWorkspace({ a: "", "a/b": "" }), /"a" is a file, not a folder/)
  })

  test("is a place of its own", async () => {
    const [one, other] = [memoryWorkspace({ a: "1" }), memoryWorkspace({ a: "1" })]
    const etag = (await one.stat("a"))?.etag ?? ""
    await assert.rejects(other.write("a", "2", { ifMatch: etag }), /was not written/)
    assert.equal(one.root, undefined)
  })
})
