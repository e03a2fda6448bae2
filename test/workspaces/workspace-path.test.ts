import assert from "node:assert/strict"
import { posix } from "node:path"
import { describe, test } from "node:test"
import { AgentError } from "../../src/core/errors.ts"
import { cleanPath, comparePaths, isCleanPath } from "../../src/workspaces/workspace-path.ts"
import fc from "../property.ts"

describe("a path", () => {
  test("that is taken is in its one spelling, and never leads out", () => {
    const pieces = fc.constantFrom(
      "a",
      "b.c",
      ".",
      "..",
      "...",
      "/",
      "//",
      "\\",
      "\0",
      "C:",
      "~",
      " ",
      "é",
      "\ud800",
      "%2e",
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const path = parts.join("")
        const clean = cleaned(path)
        if (clean === undefined) return
        assert.equal(cleanPath(clean), clean)
        assert.ok(isCleanPath(clean))
        assert.ok(posix.join("/top", clean).startsWith("/top/"))
        assert.ok(!/^\/|\\|\0|\/\/|(^|\/)\.\.?(\/|$)/.test(clean), clean)
      }),
      { numRuns: 3000 },
    )
  })

  test("that is refused is named, with the reason and the cure", () => {
    assert.throws(
      () => cleanPath("../a"),
      (error) => {
        assert.ok(error instanceof AgentError)
        assert.equal(error.code, "invalid-path")
        assert.equal(
          error.message,
          '"../a" is not a path in a workspace: it has "..". Write it relative to the workspace, with forward slashes, such as "notes/today.md".',
        )
        return true
      },
    )
  })

  test("that only looks like a way out is a name", () => {
    for (const path of ["...", "..a", "a..", "．．/a", "․․/a", "%2e%2e/a", "~/a", "C:a"])
      assert.equal(cleanPath(path), path)
  })

  test("comes in the order of its UTF-8 bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        if (!a.isWellFormed() || !b.isWellFormed()) return
        assert.equal(Math.sign(comparePaths(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
    )
  })
})

function cleaned(path: string): string | undefined {
  try {
    return cleanPath(path)
  } catch (error) {
    assert.ok(error instanceof AgentError && error.code === "invalid-path")
    return undefined
  }
}
