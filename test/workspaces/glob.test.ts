import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { compileGlob } from "../../src/workspaces/glob.ts"
import fc from "../property.ts"

describe("a glob", () => {
  test("matches what a naive matcher says it matches", () => {
    fc.assert(
      fc.property(patterns, paths, (pattern, path) => {
        assert.equal(compileGlob(pattern).matches(path), naive(pattern, path), `${pattern} on ${path}`)
      }),
      { numRuns: 5000 },
    )
  })

  test("says that something may be below a folder whenever something there matches", () => {
    fc.assert(
      fc.property(patterns, paths, (pattern, path) => {
        const glob = compileGlob(pattern)
        if (!glob.matches(path)) return
        const names = path.split("/")
        for (let depth = 0; depth < names.length; depth++) {
          assert.ok(glob.mayBeBelow(names.slice(0, depth).join("/")), `${pattern} below ${path}`)
        }
        assert.ok(path.startsWith(glob.prefix))
      }),
      { numRuns: 5000 },
    )
  })

  test("keeps out of folders where nothing can match", () => {
    const glob = compileGlob("src/{a,b}/**/*.ts")
    assert.equal(glob.prefix, "src/")
    const folders = ["", "src", "src/a", "src/a/x/y", "src/c", "lib", "node_modules/src"]
    assert.deepEqual(folders.filter(glob.mayBeBelow), ["", "src", "src/a", "src/a/x/y"])
    assert.equal(compileGlob("*.ts").mayBeBelow("src"), false)
    assert.equal(compileGlob("docs/read me.md").prefix, "docs/read me.md")
  })

  test("answers at once to patterns made to take forever", () => {
    const path = "a".repeat(3000)
    assert.equal(compileGlob(`${"*a".repeat(400)}b`).matches(path), false)
    assert.equal(compileGlob(`${"**/".repeat(300)}b`).matches(`${"a/".repeat(500)}c`), false)
    assert.equal(compileGlob(`${"{a,{a,a}}".repeat(150)}b`).matches(path), false)
    assert.equal(compileGlob(`${"{a,b}".repeat(300)}`).matches("ab".repeat(150)), true)
  })

  test("counts characters, not halves of them", () => {
    assert.ok(compileGlob("?").matches("😀"))
    assert.ok(compileGlob("[😀-😂]").matches("😁"))
    assert.ok(!compileGlob("??").matches("😀"))
  })

  test("stays right after more different characters than it remembers", () => {
    const glob = compileGlob("*x?[!y]")
    for (let character = 0x4e00; character < 0x4e00 + 12_000; character++) {
      const text = String.fromCodePoint(character)
      assert.equal(glob.matches(`${text}x${text}${text}`), true)
      assert.equal(glob.matches(`${text}x${text}y`), false)
    }
  })
})

const name = fc.stringMatching(/^[ab.]{1,3}$/)
const paths = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"))
const pieces = ["a", "b", ".", "*", "?", "[ab]", "[!a]", "[a-b]", "{a,b}", "{a,}", "{a*,{b,.}}", "**"]
// `**` is special only as a whole name, so it is also generated as one.
const namePattern = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join("")),
  fc.constant("**"),
)
const patterns = fc
  .array(namePattern, { minLength: 1, maxLength: 4 })
  .map((names) => names.join("/"))
  .filter((pattern) => !pattern.split("/").includes("..") && !pattern.startsWith("./"))

const folders = "\u0001"

/** A slow and simple implementation: expands all braces, then compares name by name. */
function naive(pattern: string, path: string): boolean {
  const marked = pattern.split("/").map((name) => (/^\*{2,}$/.test(name) ? folders : name))
  return expand(marked.join("/")).some((each) => namesMatch(each.split("/"), path.split("/")))
}

function expand(pattern: string): string[] {
  const innermost = /^(.*)\{([^{}]*)\}(.*)$/s.exec(pattern)
  if (!innermost) return [pattern]
  const [, before = "", inside = "", after = ""] = innermost
  return inside.split(",").flatMap((choice) => expand(before + choice + after))
}

function namesMatch(pattern: string[], names: string[]): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return names.length === 0
  if (first === folders) {
    if (rest.length === 0) return names.length > 0
    return Array.from({ length: names.length + 1 }, (_, skipped) => names.slice(skipped)).some((left) =>
      namesMatch(rest, left),
    )
  }
  const [name, ...others] = names
  return name !== undefined && charactersMatch([...first], [...name]) && namesMatch(rest, others)
}

function charactersMatch(pattern: string[], characters: string[]): boolean {
  const [first] = pattern
  if (first === undefined) return characters.length === 0
  if (first === "*") {
    return (
      charactersMatch(pattern.slice(1), characters) ||
      (characters.length > 0 && charactersMatch(pattern, characters.slice(1)))
    )
  }
  const [character] = characters
  if (character === undefined) return false
  if (first !== "[") {
    return (first === "?" || first === character) && charactersMatch(pattern.slice(1), characters.slice(1))
  }
  const close = pattern.indexOf("]")
  const set = pattern.slice(1, close).join("")
  const isIn = set === "!a" ? character !== "a" : "ab".includes(character)
  return isIn && charactersMatch(pattern.slice(close + 1), characters.slice(1))
}
