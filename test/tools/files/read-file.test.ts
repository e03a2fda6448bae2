import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { readFileTool } from "../../../src/tools/files/read-file.ts"
import type { Tool } from "../../../src/tools/tool.ts"
import { memoryWorkspace } from "../../../src/workspaces/memory.ts"
import type { Workspace } from "../../../src/workspaces/workspace.ts"
import fc from "../../property.ts"
import { failure, textOf, use, workspaces } from "../use.ts"

const withNumbers = readFileTool()
const read: Tool = { ...withNumbers, accept: (input) => withNumbers.accept({ numbers: false, ...Object(input) }) }
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n")

describe("read_file", () => {
  test("numbers the lines by default, and says how many there are if some follow", async () => {
    const workspace = memoryWorkspace({ "a.txt": "one\ntwo\nthree\n", big: "x\n".repeat(300_000) })
    assert.equal(await textOf(withNumbers, { path: "a.txt" }, workspace), "1\tone\n2\ttwo\n3\tthree")
    const part = await textOf(withNumbers, { path: "a.txt", endLine: 2 }, workspace)
    assert.equal(part, "1\tone\n2\ttwo\n[Lines 1 to 2 of 3.]")
    assert.equal(await textOf(withNumbers, { path: "big", endLine: 1 }, workspace), "1\tx\n[Line 1.]")
  })

  test("gives a whole file, or some of its lines, without numbers when asked", async (context) => {
    for (const workspace of await workspaces(context, { "a.txt": "one\ntwo\nthree\n", empty: "" })) {
      assert.equal(await textOf(read, { path: "a.txt" }, workspace), "one\ntwo\nthree")
      assert.equal(await textOf(read, { path: "a.txt", startLine: 2, numbers: true }, workspace), "2\ttwo\n3\tthree")
      assert.equal(await textOf(read, { path: "a.txt", startLine: 2, endLine: 2 }, workspace), "two\n[Line 2 of 3.]")
      assert.equal(await textOf(read, { path: "a.txt", endLine: 99 }, workspace), "one\ntwo\nthree")
      assert.equal(await textOf(read, { path: "empty" }, workspace), '"empty" is empty.')
      const { value } = await use(read, { path: "a.txt", endLine: 2, numbers: true }, workspace)
      assert.deepEqual(value, { text: "one\ntwo", startLine: 1, endLine: 2 })
    }
  })

  test("says what is wrong with a path or a range", async (context) => {
    for (const workspace of await workspaces(context, { "a/b.txt": "one\ntwo" })) {
      assert.match(await failure(read, { path: "nope" }, workspace), /^not-found: There is no file "nope"/)
      assert.match(await failure(read, { path: "a" }, workspace), /^not-found: "a" is a folder/)
      assert.match(await failure(read, { path: "../x" }, workspace), /^invalid-path: /)
      assert.match(await failure(read, { path: "a/b.txt", startLine: 3 }, workspace), /^out-of-range: .* has 2 lines/)
      assert.match(await failure(read, { path: "a/b.txt", startLine: 2, endLine: 1 }, workspace), /^invalid-range: /)
      assert.match(await failure(read, { path: "a/b.txt", cursor: "17" }, workspace), /^invalid-cursor: /)
    }
    assert.equal((await read.accept({ path: "a", startLine: "one" })).ok, false)
    assert.equal((await read.accept({ path: "a", startLine: 0 })).ok, false)
  })

  test("stops after 2,000 lines and goes on by the cursor", async (context) => {
    for (const workspace of await workspaces(context, { "long.txt": numbered(2001), "range.txt": numbered(5000) })) {
      const first = await textOf(read, { path: "long.txt" }, workspace)
      assert.match(first, /\nline 2000\n\[Lines 1 to 2000 of 2001, 19 KB of 19 KB\. Continue with cursor "[^"]+"\.\]$/)
      assert.equal(
        await textOf(read, { path: "long.txt", cursor: cursorIn(first), numbers: true }, workspace),
        "2001\tline 2001",
      )
      const range = await textOf(read, { path: "range.txt", startLine: 100, endLine: 2600 }, workspace)
      assert.match(range, /^line 100\n.*\nline 2099\n\[Lines 100 to 2099/s)
      const rest = await textOf(read, { path: "range.txt", cursor: cursorIn(range) }, workspace)
      assert.match(rest, /^line 2100\n.*\nline 2600\n\[Lines 2100 to 2600 of 5000\.\]$/s)
    }
  })

  test("stops after 50,000 characters, between lines where it can", async () => {
    const workspace = memoryWorkspace({ "one.txt": "x".repeat(50_001), "two.txt": `${"x".repeat(30_000)}\n`.repeat(2) })
    const one = await use(read, { path: "one.txt" }, workspace)
    assert.match(one.text, /^x{50000}\n\[Lines 1 to 1 of 1, which is cut, 50 KB of 50 KB\. Continue with cursor/)
    assert.equal(await textOf(read, { path: "one.txt", cursor: cursorIn(one.text) }, workspace), "x")
    const two = await use(read, { path: "two.txt" }, workspace)
    assert.match(two.text, /^x{30000}\n\[Lines 1 to 1 of 2, 30 KB of 60 KB/)
    assert.match(await textOf(read, { path: "two.txt", cursor: cursorIn(two.text) }, workspace), /^x{30000}$/)
    const exact = memoryWorkspace({ a: "x".repeat(50_000), b: `${"x\n".repeat(2000)}` })
    assert.equal((await textOf(read, { path: "a" }, exact)).length, 50_000)
    assert.equal((await textOf(read, { path: "b" }, exact)).length, 3999)
  })

  test("refuses a cursor when the file was changed since, also to another of the same size", async (context) => {
    for (const workspace of await workspaces(context, { "a.txt": numbered(3000) })) {
      const cursor = cursorIn(await textOf(read, { path: "a.txt" }, workspace))
      await workspace.write("a.txt", numbered(3000).replace("line 2500", "LINE 2500"))
      const stale = await failure(read, { path: "a.txt", cursor }, workspace)
      assert.match(stale, /^stale-cursor: .*Read it again from line 2001 on/)
      await workspace.write("b.txt", numbered(3000))
      assert.match(await failure(read, { path: "b.txt", cursor }, workspace), /^stale-cursor: /)
    }
  })

  test("never gives a cursor for another version than the one it read", async () => {
    const base = memoryWorkspace({ "a.txt": numbered(3000) })
    let reads = 0
    const workspace: Workspace = {
      ...base,
      async read(path, options) {
        const bytes = await base.read(path, options)
        if (++reads === 1) await base.write("a.txt", numbered(4000).replaceAll("line", "new"))
        return bytes
      },
    }
    const text = await textOf(read, { path: "a.txt" }, workspace)
    assert.match(text, /^new 1\n/)
    assert.match(await textOf(read, { path: "a.txt", cursor: cursorIn(text) }, workspace), /^new 2001\n/)
  })

  test("reads UTF-8 and UTF-16 with and without marks, CRLF, and bytes that are neither", async () => {
    const swapped = Buffer.from("\ufeffgrün\r\nrot\r\n", "utf16le").swap16()
    const workspace = memoryWorkspace({
      bom: "\ufeffgrün\nrot\n",
      crlf: "grün\r\nrot\r\n",
      le: Buffer.from("\ufeffgrün\r\nrot\r\n", "utf16le"),
      be: swapped,
      latin1: Buffer.from("grün\nrot", "latin1"),
    })
    for (const path of ["bom", "crlf", "le", "be", "latin1"]) {
      assert.equal(await textOf(read, { path }, workspace), "grün\nrot", path)
      assert.equal(await textOf(read, { path, startLine: 2 }, workspace), "rot", path)
    }
  })

  test("does not pour binary files into the conversation", async () => {
    const png = Buffer.from("89504e470d0a1a0a0000", "hex")
    const workspace = memoryWorkspace({ "a.bin": Uint8Array.of(1, 0, 2), "a.png": png })
    assert.equal(
      await failure(read, { path: "a.bin" }, workspace),
      'binary-file: "a.bin" is no text, but binary, 3 bytes.',
    )
    assert.match(
      await failure(read, { path: "a.png" }, workspace),
      /image\/png, 10 bytes\. Use read_image to see it\.$/,
    )
  })

  test("finds a line far down a file that arrives in pieces, wherever they are cut", async () => {
    const text = numbered(400)
    for (const [encoding, bytes] of [
      ["utf8", Buffer.from(text)],
      ["utf16le", Buffer.from(`\ufeff${text}`, "utf16le")],
    ] as const) {
      const base = memoryWorkspace({ a: bytes })
      for (const size of [1, 7, 8, 64]) {
        const workspace: Workspace = {
          ...base,
          async *stream(_, { start = 0 } = {}) {
            for (let at = start; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
          },
        }
        for (const line of [2, 57, 399, 400]) {
          const shown = await textOf(read, { path: "a", startLine: line, endLine: line }, workspace)
          assert.equal(
            shown,
            line === 400 ? "line 400" : `line ${line}\n[Line ${line} of 400.]`,
            `${encoding}, pieces of ${size}`,
          )
        }
        assert.match(await failure(read, { path: "a", startLine: 401 }, workspace), /has 400 lines/)
      }
    }
  })

  test("gives every character once, in order, however long the lines are", async () => {
    const piece = fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), fc.constantFrom("é", "€", "😀", "x", "\n"))
    const line = fc
      .tuple(piece, fc.nat({ max: 30_000 }))
      .map(([text, times]) => text.replace(/[\0\r]/g, "").repeat(times))
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 6 }),
        fc.constantFrom("utf8", "utf16le"),
        async (lines, encoding) => {
          const text = lines
            .join("\n")
            .slice(0, 200_000)
            .toWellFormed()
            .replace(/^\ufeff+/, "")
          const workspace = memoryWorkspace({ a: Buffer.from(encoding === "utf8" ? text : `\ufeff${text}`, encoding) })
          let [whole, next, last] = ["", 1, 0]
          for (let cursor: string | undefined, turn = 0; turn < 300; turn++) {
            const { value } = await use(read, { path: "a", ...(cursor !== undefined && { cursor }) }, workspace)
            const slice = value as { text: string; startLine: number; endLine: number; cursor?: string }
            assert.ok(slice.text.length <= 50_000)
            assert.ok(slice.startLine === next || slice.startLine === last)
            whole += `${turn > 0 && slice.startLine === next ? "\n" : ""}${slice.text}`
            last = slice.endLine
            next = last + 1
            cursor = slice.cursor
            if (cursor === undefined) break
          }
          assert.equal(whole, text.replace(/\n$/, ""))
        },
      ),
      { numRuns: 40 },
    )
  })
})

function cursorIn(text: string): string {
  return /cursor "([^"]+)"/.exec(text)?.[1] ?? assert.fail("There is no cursor.")
}
