import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { cliPage } from "../../scripts/cli-page.ts"
import { root } from "../../scripts/tools.ts"

test("docs/cli.md has the commands and options of the command table; `npm run cli-page` writes them", () => {
  const page = readFileSync(join(root, "docs/cli.md"), "utf8")
  assert.equal(page, cliPage(page))
})
