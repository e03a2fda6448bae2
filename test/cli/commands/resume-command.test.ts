// test lane: unit, long
import assert from "node:assert/strict"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { karst, karstHome, modelServer } from "../karst.ts"

const code = (source: string) => `\`\`\`ts\n${source}\n\`\`\``

describe("karst resume", () => {
  const folder = mkdtempSync(join(tmpdir(), "karst-resume-"))
  after(() => rmSync(folder, { recursive: true }))
  const sessionIn = (text: string) => /karst resume (s_\w+)/.exec(text)?.[1] ?? ""

  test("continues a session with the same agent, conversation and objects", async (t) => {
    writeFileSync(join(folder, "sales.csv"), "month,amount\nJan,10\nFeb,32\n")
    const { id, bodies } = await modelServer(t, [
      code("const total = sales.reduce((sum, row) => sum + row.amount, 0)"),
      "Done.",
      code("console.log(total, sales.length)"),
      "42 in 2 months.",
    ])
    const options = ["--model", id, "--data", "sales.csv", "--max-cycles", "5"]
    const first = await karst(["run", "Sum it.", ...options], {}, folder)
    assert.equal(first.code, 0, first.stderr)
    const session = sessionIn(first.stdout)
    const second = await karst(["resume", session, "How much?", "--mode", "full"])
    assert.equal(second.code, 0, second.stderr)
    assert.match(second.stdout, /└ 42 2\n[\s\S]*● 42 in 2 months\./)
    assert.match(bodies.at(-1) ?? "", /Sum it\.[\s\S]*Done\.[\s\S]*How much\?/)
    const last = await karst(["resume", "last", "Again?", "--mode", "result"])
    assert.equal(last.stdout, "42 in 2 months.\n")
    const beginning = await karst(["resume", session.slice(0, 8), "Again?", "--mode", "result"])
    assert.equal(beginning.stdout, "42 in 2 months.\n")
    const handle = await karst(["resume", `karst:1:${session}@${karstHome}`, "Again?", "--mode", "result"])
    assert.equal(handle.stdout, "42 in 2 months.\n")
  })

  test("is what run --session does, too: by the id, its beginning, the handle or last, with the same options", async (t) => {
    const { id, bodies } = await modelServer(t, ["One.", "Two."])
    const session = sessionIn((await karst(["run", "Go.", "--model", id])).stdout)
    for (const wanted of [session, session.slice(0, 8), "last", `karst:1:${session}@${karstHome}`]) {
      const { stdout, stderr } = await karst(["run", "Go on.", "--session", wanted, "--mode", "result"])
      assert.equal(stdout, "Two.\n", stderr)
      assert.match(bodies.at(-1) ?? "", /Go\.[\s\S]*One\.[\s\S]*Go on\./)
    }
    const missing = await karst(["run", "Go on.", "--session", "nowhere"])
    assert.equal(missing.code, 2)
    assert.match(missing.stderr, /There is no session "nowhere" in .*\. See: karst sessions list\n$/)
  })

  test("refuses to continue a session with another agent, unless that is named", async (t) => {
    const project = mkdtempSync(join(tmpdir(), "karst-project-"))
    t.after(() => rmSync(project, { recursive: true }))
    const { id } = await modelServer(t, ["Aye."])
    const config = { model: id, agent: "pirate", agents: { pirate: { instructions: "You are a pirate." } } }
    writeFileSync(join(project, "karst.config.json"), JSON.stringify(config))
    const first = await karst(["run", "Ahoy."], { KARST_TRUST_CONFIG: "1" }, project)
    const session = sessionIn(first.stdout)
    for (const args of [
      ["resume", session, "More."],
      ["chat", "--session", session],
      ["replay", session],
    ]) {
      const { code, stderr } = await karst([...args, "--model", id])
      assert.equal(code, 2)
      assert.match(stderr, /is a session of the agent "pirate", and the agent here is "karst"\..*--agent pirate/)
    }
    // Its option --agent is stored with the session.
    const byName = await karst(["run", "Ahoy.", "--agent", "pirate"], { KARST_TRUST_CONFIG: "1" }, project)
    const elsewhere = await karst(["resume", sessionIn(byName.stdout), "More.", "--model", id])
    assert.equal(elsewhere.code, 2)
    assert.match(
      elsewhere.stderr,
      /no agent "pirate" here: .* Go to the project of the agent, or name its module: --agent \.\/agents\.ts#pirate\n$/,
    )
    const named = await karst(["resume", session, "More.", "--model", id, "--agent", "karst", "--mode", "result"])
    assert.equal(named.stdout, "Aye.\n", named.stderr)
  })

  test("goes on without a prompt after a limit", async (t) => {
    const { id, bodies } = await modelServer(t, [code("1 + 1"), code("2 + 2"), "Four."])
    const first = await karst(["run", "Count.", "--model", id, "--max-cycles", "1"])
    assert.equal(first.code, 3)
    const { code: exit, stdout } = await karst(["resume", sessionIn(first.stderr), "--max-cycles", "5"])
    assert.equal(exit, 0)
    assert.match(stdout, /❯ Continue\.[\s\S]*● Four\./)
    assert.match(bodies.at(-1) ?? "", /Count\.[\s\S]*Continue\./)
  })

  test("resumes from another store, with the options given again; nothing is stored with --store off", async (t) => {
    const { id } = await modelServer(t, ["One.", "Two."])
    const store = ["--store", `sqlite:${join(folder, "my karst.db")}`]
    const first = await karst(["run", "Go.", "--model", id, ...store])
    assert.match(first.stdout, /karst resume s_\w+ --store 'sqlite:.*my karst\.db' --model \S+ "…"/)
    const session = sessionIn(first.stdout)
    const without = await karst(["resume", session, "Go on.", ...store])
    assert.match(without.stderr, /No model was chosen/)
    assert.match(without.stderr, /The session was run with --model \S+\. .* Give them again\./)
    const second = await karst(["resume", session, "Go on.", "--model", id, "--mode", "result", ...store])
    assert.equal(second.stdout, "Two.\n")
    const off = await karst(["run", "Go.", "--model", id, "--store", "off"])
    assert.doesNotMatch(off.stdout, /karst resume/)
  })

  test("shows cells the data of a file that has grown, and says how much it read", async (t) => {
    writeFileSync(join(folder, "products.csv"), "name\nPear\n")
    const count = code("console.log(products.length + ' products')")
    const { id } = await modelServer(t, [count, "One.", count, "Two."])
    const store = ["--store", join(folder, "own archive")]
    const first = await karst(["run", "Count.", "--model", id, "--data", "products.csv", ...store], {}, folder)
    assert.match(first.stdout, /└ 1 products/)
    writeFileSync(join(folder, "products.csv"), "name\nPear\nPlum\n")
    // The printed command is run as it is, with a prompt.
    const command = /Continue: karst (resume .*) "…"/.exec(first.stdout)?.[1] ?? ""
    assert.match(command, /--data products\.csv/)
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "")
    const second = await karst([...words, "And now?"], {}, folder)
    assert.equal(second.code, 0, second.stderr)
    assert.match(second.stderr, /products: 2 records/)
    assert.match(second.stdout, /└ 2 products/)
  })

  test("says which options of the session are missing, if they are not taken from its store", async (t) => {
    writeFileSync(join(folder, "prices.csv"), "price\n1\n")
    const { id } = await modelServer(t, ["One.", "Two.", "Three."])
    const store = ["--store", join(folder, "other archive")]
    const options = ["--model", id, "--data", "prices.csv", ...store]
    const session = sessionIn((await karst(["run", "Count.", ...options], {}, folder)).stdout)
    const without = await karst(["resume", session, "Go on.", "--model", id, ...store], {}, folder)
    assert.equal(without.code, 0, without.stderr)
    assert.match(without.stderr, /^The session was run with --data \S*prices\.csv\. .* Give them again\.\n/)
    const complete = await karst(["resume", session, "Go on.", ...options], {}, folder)
    assert.doesNotMatch(complete.stderr, /was run with/)
  })

  for (const [what, args, says] of [
    ["no session", [], /karst resume needs <handle/],
    ["a session that does not exist", ["s_nothing"], /There (is no session "s_nothing"|are no sessions).*/],
    ["a handle that cannot be read", ["karst:1:@"], /names no session/],
  ] as const) {
    test(`${what} is reported in one sentence, with exit code 2`, async () => {
      const { code, stderr } = await karst(["resume", ...args])
      assert.equal(code, 2)
      assert.match(stderr, says)
      assert.doesNotMatch(stderr, /\n {4}at /)
    })
  }
})
