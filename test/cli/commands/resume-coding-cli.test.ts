// test lane: clis, long
import assert from "node:assert/strict"
import { join } from "node:path"
import { describe, test } from "node:test"
import { claude } from "../../../src/providers/claude/claude.ts"
import { parseSessionHandle } from "../../../src/sessions/session-handle.ts"
import { fakeCliMachine } from "../../providers/cli-machines.ts"
import { karst } from "../karst.ts"

describe("karst resume of a session with a coding CLI", () => {
  async function machine() {
    const place = await fakeCliMachine()
    const env = { HOME: place.folder, KARST_HOME: join(place.folder, "home"), PATH: place.options.env?.PATH ?? "" }
    const command = (...args: string[]) => karst([...args, "--mode", "result"], env, place.cwd)
    return { place, command, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() }
  }

  test("by its id goes on with the CLI's own conversation", async () => {
    await using at = await machine()
    const first = await at.command("run", "say Hi", "--provider", "claude")
    assert.deepEqual([first.code, first.stdout], [0, "Hi 1\n"], first.stderr)
    const second = await at.command("resume", "last", "say Again")
    assert.deepEqual([second.code, second.stdout], [0, "Again 2\n"], second.stderr)
    assert.equal((await at.place.heard("claude")).length, 1)
  })

  test("by the handle of a program goes on without any archive", async () => {
    await using at = await machine()
    const session = await claude(at.place.options).session()
    assert.equal((await session.send("say Hi")).output, "Hi 1")
    const { handle } = session
    await session.close()
    assert.equal(parseSessionHandle(handle).folder, undefined)
    const { code, stdout, stderr } = await at.command("resume", handle, "say Again")
    assert.deepEqual([code, stdout], [0, "Again 2\n"], stderr)
  })
})
