import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import { environmentVariables } from "../../src/config/environment.ts"

const root = join(import.meta.dirname, "../..")

describe("the table of environment variables", () => {
  test("has every variable that the source reads", () => {
    const read = globSync("src/**/*.ts", { cwd: root }).flatMap((file) => {
      const source = readFileSync(join(root, file), "utf8")
      return [...source.matchAll(/\benv\.(KARST_\w+)|\{ (KARST_\w+),/g)].map(([, one, other]) => one ?? other)
    })
    assert.ok(read.length > 5)
    const known = environmentVariables.map(({ name }) => name)
    assert.deepEqual(
      [...new Set(read)].filter((name) => name !== undefined && !known.includes(name)),
      [],
    )
  })

  test("is in docs/configuration.md", () => {
    const page = readFileSync(join(root, "docs/configuration.md"), "utf8")
    for (const { name, key, meaning } of environmentVariables) {
      assert.ok(page.includes(`| \`${name}\` | ${key === undefined ? "" : `\`${key}\` `}| ${meaning} |`), name)
    }
  })
})
