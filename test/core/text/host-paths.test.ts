import assert from "node:assert/strict"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { pathToFileURL } from "node:url"
import { hideHostPaths } from "../../../src/core/text/host-paths.ts"

const folder = join(tmpdir(), "shop")
const hide = (text: string, except?: string) => hideHostPaths(text, { folders: [folder], except })

describe("a text without paths of the host shows", () => {
  test("a path below the folder relative to it", () => {
    assert.equal(hide(`ENOENT: no such file, open '${folder}/data/a.csv'`), "ENOENT: no such file, open 'data/a.csv'")
    assert.equal(hide(`at ${folder}`), "at shop")
  })

  test("any other path by its last part", () => {
    assert.equal(hide(`cannot read ${tmpdir()}/other/a.csv.`), "cannot read a.csv.")
    assert.equal(hide(`(${tmpdir()}/other/a.ts:3:4)`), "(a.ts:3:4)")
    assert.equal(hide(`${folder}er/a`), "a")
  })

  test("a path with spaces in quotes, and a file URL", () => {
    assert.equal(hide(`open "${tmpdir()}/my files/a b.csv"`), 'open "a b.csv"')
    assert.equal(hide(`loading ${pathToFileURL(join(folder, "x.ts"))} failed`), "loading x.ts failed")
  })

  test("a path that the cell wrote itself as it is", () => {
    const path = `${tmpdir()}/out/a.csv`
    assert.equal(hide(`open '${path}'`, `await readFile("${path}")`), `open '${path}'`)
  })

  test("routes, addresses, relative paths, fractions and comments as they are", () => {
    for (const text of [
      "POST /v1/orders/7 returned 404",
      "https://example.com/tmp/x failed",
      "see docs/tmp/x and ./tmp/x and ~/tmp/x",
      "1/2 of a / b",
      "// a comment /* and */ another",
      "/",
    ]) {
      assert.equal(hide(text), text)
    }
  })

  test("in time that grows with its length", () => {
    const text = `${"/".repeat(50_000)}${"'/a".repeat(50_000)}${" /tmp".repeat(50_000)}`
    assert.ok(hide(text).length > 0)
  })
})
