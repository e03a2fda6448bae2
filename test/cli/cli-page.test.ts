import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { cliPage } from "../../scripts/cli-page.ts"
import { root } from "../../scripts/tools.ts"
import { internalVariables, variables } from "../../src/cli/variables.ts"

test("docs/cli.md has the commands, options and variables of the tables; `npm run cli-page` writes them", () => {
  const page = readFileSync(join(root, "docs/cli.md"), "utf8")
  assert.equal(page, cliPage(page))
})

test("the table of environment variables has every variable that the source reads", () => {
  const sources = globSync("src/**/*.{ts,py}", { cwd: root }).filter((file) => file !== "src/cli/variables.ts")
  const found = sources.flatMap((file) => readFileSync(join(root, file), "utf8").match(/\bKARST_[A-Z_]+/g) ?? [])
  // The code of a process warning.
  const used = new Set(found.filter((name) => name !== "KARST_REDIS_NO_AOF"))
  const known = [...variables.map(({ name }) => name), ...internalVariables]
  assert.deepEqual([...used].sort(), known.sort())
})
