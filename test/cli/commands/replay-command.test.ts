// test lane: unit, long
import assert from "node:assert/strict"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { karst, modelServer } from "../karst.ts"

const code = (source: string) => `\`\`\`ts\n${source}\n\`\`\``

describe("karst replay", () => {
  const folder = mkdtempSync(join(tmpdir(), "karst-replay-"))
  after(() => rmSync(folder, { recursive: true }))

  test("runs a session again without a model, and shows the first difference", async (t) => {
    const data = join(folder, "sales.csv")
    writeFileSync(data, "month,amount\nJan,10\nFeb,32\n")
    const { id, bodies } = await modelServer(t, [code("sales.reduce((sum, row) => sum + row.amount, 0)"), "42."])
    const run = await karst(["run", "Sum it.", "--model", id, "--data", data])
    assert.equal(run.code, 0, run.stderr)
    const requests = bodies.length
    const same = await karst(["replay", "last"])
    assert.equal(same.code, 0, same.stderr)
    assert.match(same.stdout, /^s_\w+ runs as it was recorded: 1 run\.\n$/)
    assert.equal(bodies.length, requests)
    writeFileSync(data, "month,amount\nJan,10\n")
    const other = await karst(["replay", "last", "--json"])
    assert.equal(other.code, 1, other.stderr)
    const { same: isSame, divergence } = JSON.parse(other.stdout)
    assert.equal(isSame, false)
    assert.match(divergence.message, /42[\s\S]*10/)
  })

  test("says that a session does not exist", async () => {
    const { code: exit, stderr } = await karst(["replay", "s_nothing"])
    assert.equal(exit, 2)
    assert.match(stderr, /There is no session "s_nothing"/)
  })
})
