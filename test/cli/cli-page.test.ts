import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { cliPage } from "../../scripts/cli-page.ts"
import { root } from "../../scripts/tools.ts"
import { environmentVariables } from "../../src/config/environment.ts"

test("docs/cli.md has the commands, options and variables of the tables; `npm run cli-page` writes them", () => {
  const page = readFileSync(join(root, "docs/cli.md"), "utf8")
  assert.equal(page, cliPage(page))
})

test("the table of environment variables has every variable that the source reads", () => {
  const table = "src/config/environment.ts"
  const sources = globSync("src/**/*.{ts,py}", { cwd: root }).filter((file) => file !== table)
  const found = sources.flatMap((file) => readFileSync(join(root, file), "utf8").match(/\bKARST_[A-Z_]+/g) ?? [])
  const known = environmentVariables.map(({ name }) => name)
  // Variables that Karst sets for its own child processes, and the code of a process warning.
  const others = ["KARST_CHILD", "KARST_COMMAND", "KARST_HEADER_", "KARST_REDIS_NO_AOF"]
  assert.deepEqual(
    [...new Set(found)].filter((name) => !known.includes(name) && !others.includes(name)),
    [],
  )
})
