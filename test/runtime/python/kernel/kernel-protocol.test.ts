// test lane: runtimes, long
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { python, requires } from "../../../system.ts"

const program = fileURLToPath(new URL("test_kernel.py", import.meta.url))

// The tests are written in Python (unittest), with a small host that speaks the protocol over a real socket.
describe("the kernel's side of the protocol", { skip: requires("python") }, () => {
  const cases = {
    Values: "encodes and decodes values, and releases what was dropped",
    Members: "operates on host objects, and says what Python cannot do with them",
    CopiesOfFields: "names the copies that a cell changed and did not write back",
    CellsOfCalls: "sends each operation with the id of the cell whose code makes it",
    Traffic: "reads while it writes",
  }
  for (const [name, title] of Object.entries(cases)) {
    test(title, { timeout: 120_000 }, async ({ signal }) => {
      const child = spawn(python() ?? "python3", ["-B", program, name], { signal, stdio: ["ignore", "ignore", "pipe"] })
      const [told, [code]] = await Promise.all([text(child.stderr), once(child, "exit")])
      assert.equal(code, 0, told)
      assert.match(told, /\nOK\b/)
    })
  }
})
