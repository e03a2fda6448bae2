// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { cliSessionHandle, parseSessionHandle, sessionHandle } from "../../src/sessions/session-handle.ts"
import fc from "../property.ts"

describe("the handle of a session", () => {
  test("says what was put in, whatever the folders and keys are called", () => {
    const text = fc.string({ minLength: 1, unit: "binary" })
    const maybe = fc.option(text, { nil: undefined })
    const parts = fc.record({ id: text, folder: maybe, provider: maybe, key: maybe, cwd: maybe })
    fc.assert(
      fc.property(parts, (given) => {
        const handle = cliSessionHandle(given)
        assert.match(handle, /^karst:2:[\w-]+$/)
        // What is undefined is not there.
        assert.deepEqual({ ...parseSessionHandle(handle) }, JSON.parse(JSON.stringify(given)))
      }),
    )
  })

  test("of the first version is still one", () => {
    assert.deepEqual(parseSessionHandle(sessionHandle("s_1", "/a@b")), { id: "s_1", folder: "/a@b" })
    assert.deepEqual(parseSessionHandle("karst:1:s_1"), { id: "s_1", folder: undefined })
    assert.deepEqual(parseSessionHandle("s_1"), { id: "s_1" })
  })

  test("that is damaged, or of a version to come, is refused with the cure", () => {
    for (const damaged of ["karst:1:", "karst:2:", "karst:2:e30", "karst:2:%%%", "karst:2:eyJpZCI6NX0"]) {
      assert.throws(() => parseSessionHandle(damaged), /names no session/)
    }
    assert.throws(() => parseSessionHandle("karst:3:x"), /of version 3.*Update karst/)
  })
})
