// test lane: unit, long
import assert from "node:assert/strict"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { karst, modelServer } from "../karst.ts"

const source = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href)

const suite = `
import { createAgent } from ${source("agent/create-agent.ts")}
import { scriptedModel } from ${source("models/scripted.ts")}
const model = scriptedModel(({ messages }) => JSON.stringify(messages).includes("sum") ? "42" : "unsure")
export const agent = createAgent({ model })
export const cases = [
  { name: "adds", prompt: "sum it", expected: "42" },
  { name: "guesses", prompt: "guess it", expected: "7" },
]
export const scorers = { right: ({ result, expected }) => result.output === expected }
`

describe("karst eval", () => {
  const folder = mkdtempSync(join(tmpdir(), "karst-eval-"))
  before(() => {
    writeFileSync(join(folder, "sums.eval.ts"), suite)
    writeFileSync(join(folder, "empty.ts"), "export const x = 1")
  })
  after(() => rmSync(folder, { recursive: true }))
  const command = (...args: string[]) => karst(["eval", ...args], {}, folder)

  test("runs the cases, prints the scores, and exits with 1 unless all passed", async () => {
    const { code, stdout, stderr } = await command("sums.eval.ts", "--out", "report.json")
    assert.equal(code, 1, stderr)
    assert.match(stdout, /adds[\s\S]*guesses/)
    assert.match(stderr, /2\/2 (passed|failed)/)
    assert.equal(JSON.parse(readFileSync(join(folder, "report.json"), "utf8")).passed, 1)
  })

  test("runs only some cases, several times, with another model", async (t) => {
    const { id, bodies } = await modelServer(t, ["42"])
    const some = ["--only", "adds", "--trials", "2", "--model", id, "--json"]
    const { code, stdout } = await command("sums.eval.ts", ...some)
    assert.equal(code, 0)
    const { total, passed } = JSON.parse(stdout)
    assert.deepEqual([total, passed, bodies.length], [2, 2, 2])
  })

  for (const [what, args, says] of [
    ["a file that does not exist", ["no.ts"], /There is no file no\.ts/],
    ["a file without cases", ["empty.ts"], /exports no cases and scorers/],
    ["a case that does not exist", ["sums.eval.ts", "--only", "x"], /no case "x"\. There is: adds, guesses/],
  ] as const) {
    test(`${what} is reported in one sentence, with exit code 2`, async () => {
      const { code, stderr } = await command(...args)
      assert.equal(code, 2)
      assert.match(stderr, says)
    })
  }
})
