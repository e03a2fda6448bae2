import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { editFileTool } from "../../../src/tools/files/edit-file.ts"
import { findMatches, replaceMatches } from "../../../src/tools/files/replace-bytes.ts"
import { memoryWorkspace } from "../../../src/workspaces/memory.ts"
import type { Workspace } from "../../../src/workspaces/workspace.ts"
import fc from "../../property.ts"
import { failure, stored, textOf, use, workspaces } from "../use.ts"

const edit = editFileTool()

describe("edit_file", () => {
  test("replaces a text that is there once, and says where", async (context) => {
    for (const workspace of await workspaces(context, { "a.ts": "one\ntwo\nthree\n" })) {
      const text = await textOf(edit, { path: "a.ts", oldText: "two", newText: "2" }, workspace)
      assert.equal(text, "Changed a.ts:\n2\t2")
      assert.equal(String(await stored(workspace, "a.ts")), "one\n2\nthree\n")
      await textOf(edit, { path: "a.ts", oldText: "one\n2\n", newText: "" }, workspace)
      assert.equal(String(await stored(workspace, "a.ts")), "three\n")
    }
  })

  test("does not choose among several: it names them, and changes all only when told to", async (context) => {
    for (const workspace of await workspaces(context, { "a.ts": "x = 1\ny\nx = 1\n", b: "aaa" })) {
      const refused = await failure(edit, { path: "a.ts", oldText: "x = 1", newText: "x" }, workspace)
      assert.match(refused, /^not-unique: oldText is more than once in "a\.ts", at line 1, 3\. /)
      assert.equal(String(await stored(workspace, "a.ts")), "x = 1\ny\nx = 1\n")
      const { value } = await use(edit, { path: "a.ts", oldText: "x = 1", newText: "$&", replaceAll: true }, workspace)
      assert.deepEqual(value, { path: "a.ts", replaced: 2 })
      assert.equal(String(await stored(workspace, "a.ts")), "$&\ny\n$&\n")
      // It matches at the first and at the second letter.
      assert.match(await failure(edit, { path: "b", oldText: "aa", newText: "b" }, workspace), /^not-unique: /)
    }
  })

  test("applies a list of edits in order, each to the result of the one before", async (context) => {
    for (const workspace of await workspaces(context, { a: "one\ntwo\nthree\nfour\nfive\n" })) {
      const edits = [
        { oldText: "two\n", newText: "two\ntwo and a half\n" },
        { oldText: "half", newText: "third" },
        { oldText: "five", newText: "5" },
        { oldText: "o", newText: "0", replaceAll: true },
      ]
      const { text, value } = await use(edit, { path: "a", edits }, workspace)
      assert.equal(String(await stored(workspace, "a")), "0ne\ntw0\ntw0 and a third\nthree\nf0ur\n5\n")
      assert.equal(text, "Changed a in 7 places:\n1\t0ne\n2\ttw0\n3\ttw0 and a third\n…\n5\tf0ur\n6\t5")
      assert.deepEqual(value, { path: "a", replaced: 7 })
    }
  })

  test("changes nothing if one of the edits fails, and says which", async (context) => {
    for (const workspace of await workspaces(context, { a: "one\ntwo\n" })) {
      const edits = [
        { oldText: "one", newText: "1" },
        { oldText: "one", newText: "uno" },
      ]
      const failed = await failure(edit, { path: "a", edits }, workspace)
      assert.match(failed, /^no-match: Nothing was changed\. Edit 2 of 2: oldText is not in "a"/)
      assert.equal(String(await stored(workspace, "a")), "one\ntwo\n")
    }
  })

  test("shows the line at the place of a removed text, and few of many or long lines", async () => {
    const many = Array.from({ length: 100 }, (_, index) => `x${index}`).join("\n")
    const workspace = memoryWorkspace({
      a: "one\ntwo\nthree",
      many,
      long: "y".repeat(1000),
      all: "x",
      crlf: "a\r\nb\r\n",
    })
    const changed = (path: string, oldText: string, newText: string) =>
      textOf(edit, { path, edits: [{ oldText, newText, replaceAll: true }] }, workspace)
    assert.equal(await changed("a", "two\n", ""), "Changed a:\n2\tthree")
    assert.equal(await changed("a", "\nthree", ""), "Changed a:\n1\tone")
    assert.equal(await changed("crlf", "b", "c"), "Changed crlf:\n2\tc")
    const text = await changed("many", "x", "z")
    assert.match(text, /^Changed many in 100 places:\n1\tz0\n2\tz1\n/)
    assert.match(text, /\n40\tz39\n… 60 more changed lines$/)
    assert.equal((await changed("long", "y", "z")).length, "Changed long in 1,000 places:\n1\t…".length + 400)
    assert.equal(await changed("all", "x", ""), "Changed all:\n1\t")
  })

  test("leaves every other byte alone: CRLF, a mark, bytes that are no UTF-8", async (context) => {
    const bytes = Buffer.concat([Buffer.from("\ufeffone\r\ntwo "), Buffer.of(0xff, 0xfe), Buffer.from(" grün\r\nlast")])
    for (const workspace of await workspaces(context, { a: bytes })) {
      await textOf(edit, { path: "a", oldText: "last", newText: "LAST" }, workspace)
      const expected = Buffer.concat([bytes.subarray(0, -4), Buffer.from("LAST")])
      assert.deepEqual(await stored(workspace, "a"), expected)
    }
  })

  test("takes a line break for either kind, and writes the kind that is there", async () => {
    const workspace = memoryWorkspace({
      crlf: "one\r\ntwo\r\nthree\r\n",
      mixed: "one\r\ntwo\nthree\n",
      lf: "one\ntwo\n",
    })
    await textOf(edit, { path: "crlf", oldText: "one\ntwo", newText: "1\n1.5\n2" }, workspace)
    assert.equal(String(await stored(workspace, "crlf")), "1\r\n1.5\r\n2\r\nthree\r\n")
    await textOf(edit, { path: "crlf", oldText: "three", newText: "3\n4" }, workspace)
    assert.equal(String(await stored(workspace, "crlf")), "1\r\n1.5\r\n2\r\n3\r\n4\r\n")
    await textOf(edit, { path: "mixed", oldText: "one\ntwo\nthree", newText: "1\n2\n3" }, workspace)
    assert.equal(String(await stored(workspace, "mixed")), "1\r\n2\r\n3\n")
    await textOf(edit, { path: "lf", oldText: "\ntwo", newText: "\n2\n" }, workspace)
    assert.equal(String(await stored(workspace, "lf")), "one\n2\n\n")
  })

  test("changes line ends when the text says them", async () => {
    const workspace = memoryWorkspace({ a: "one\r\ntwo\r\n" })
    await textOf(edit, { path: "a", oldText: "one\r\n", newText: "one\n" }, workspace)
    assert.equal(String(await stored(workspace, "a")), "one\ntwo\r\n")
    assert.match(await failure(edit, { path: "a", oldText: "two\r\nx", newText: "" }, workspace), /^no-match: /)
  })

  test("writes in the encoding of the file", async () => {
    const workspace = memoryWorkspace({
      le: Buffer.from("\ufeffgrün Ā\nrot", "utf16le"),
      be: Buffer.from("\ufeffgrün\nrot", "utf16le").swap16(),
      latin1: Buffer.from("grün\nrot", "latin1"),
    })
    for (const path of ["le", "be", "latin1"]) {
      await textOf(edit, { path, oldText: "grün", newText: "größer" }, workspace)
    }
    assert.equal((await stored(workspace, "le")).toString("utf16le"), "\ufeffgrößer Ā\nrot")
    assert.equal((await stored(workspace, "be")).swap16().toString("utf16le"), "\ufeffgrößer\nrot")
    assert.equal((await stored(workspace, "latin1")).toString("latin1"), "größer\nrot")
    assert.match(await failure(edit, { path: "latin1", oldText: "rot", newText: "€" }, workspace), /^cannot-encode: /)
  })

  test("does not find a text that begins within a character of two bytes", async () => {
    const workspace = memoryWorkspace({ a: Buffer.from("\ufeff\u4100\u0041\u0042", "utf16le") })
    await textOf(edit, { path: "a", oldText: "A", newText: "x" }, workspace)
    assert.equal((await stored(workspace, "a")).toString("utf16le"), "\ufeff\u4100x\u0042")
  })

  test("notices that somebody changed the file while it was edited", async (context) => {
    for (const base of await workspaces(context, { a: "one two" })) {
      const workspace: Workspace = {
        ...base,
        async read(path, options) {
          const bytes = await base.read(path, options)
          await base.write("a", "one two three")
          return bytes
        },
      }
      const failed = await failure(edit, { path: "a", oldText: "one", newText: "1" }, workspace)
      assert.match(failed, /^conflict: "a" was not written: it was changed or removed meanwhile/)
      assert.equal(String(await stored(base, "a")), "one two three")
    }
  })

  test("says what is wrong, so that the next try is right", async (context) => {
    for (const workspace of await workspaces(context, { a: "  if (x) {\n    go()\n  }\n", b: Uint8Array.of(0, 1) })) {
      const input = { path: "a", oldText: "if (x) {\n  go()", newText: "" }
      assert.match(
        await failure(edit, input, workspace),
        /^no-match: oldText is not in "a"\. Its first line is at line 1,/,
      )
      assert.match(await failure(edit, { ...input, oldText: "else" }, workspace), /Read the file and copy the text/)
      assert.match(await failure(edit, { ...input, oldText: "" }, workspace), /^invalid-input: .*use write_file/)
      assert.match(await failure(edit, { ...input, oldText: "x", newText: "x" }, workspace), /^no-change: /)
      assert.match(await failure(edit, { ...input, path: "nope" }, workspace), /^not-found: /)
      assert.match(await failure(edit, { ...input, path: "b" }, workspace), /^binary-file: /)
    }
  })
})

describe("the bytes of an edit", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "ü", "😀", "\n"), maxLength: 30 })

  test("are those of a replacement in the text, in every encoding and with either line end", () => {
    const encodings = fc.constantFrom("utf-8", "utf-16le" as const)
    fc.assert(
      fc.property(letters, letters, letters, encodings, fc.boolean(), (text, oldText, newText, encoding, crlf) => {
        fc.pre(oldText !== "")
        const ended = (part: string) => (crlf ? part.replaceAll("\n", "\r\n") : part)
        const name = encoding === "utf-8" ? "utf8" : "utf16le"
        const bytes = Buffer.from(ended(text), name)
        const found = findMatches(bytes, oldText, encoding)
        const isCrlf = crlf && text.includes("\n")
        const expected = ended(text).replaceAll(ended(oldText), () => (isCrlf ? ended(newText) : newText))
        assert.equal(replaceMatches(bytes, found, newText, encoding)?.bytes.toString(name), expected)
        const once = ended(text).split(ended(oldText)).length === 2
        if (once && !found[0]?.overlaps) assert.equal(found.length, 1)
      }),
    )
  })

  test("outside of the places are the same, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.uint8Array({ maxLength: 60 }), (head, tail) => {
        const bytes = Buffer.concat([head, Buffer.from("<needle>"), tail])
        const found = findMatches(bytes, "<needle>", "utf-8")
        const changed = replaceMatches(bytes, found, "x", "utf-8")
        assert.deepEqual(changed?.bytes, Buffer.concat([head, Buffer.from("x"), tail]))
      }),
    )
  })
})
