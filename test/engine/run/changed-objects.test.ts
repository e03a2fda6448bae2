// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { AgentError, createAgent, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore, type Store } from "karst/stores"

const cells = [
  "const rows = Array.from({ length: 500 }, (_, id) => ({ id, text: 'row ' + id })); let n = 0; const part = { at: 0 }",
  "const one = { part }; const two = [part]",
  "n = 1; part.at = 1",
  "rows[3].text = 'changed'; const picked = rows.slice(0, 5)",
  "var gone = { part }",
  "delete globalThis.gone; n = 2",
  "two.push(one)",
  "n = 3",
]
const look =
  "JSON.stringify([n, part, rows.length, rows[3].text, picked.every((row, at) => row === rows[at]), one.part === part, two[0] === part, two[1] === one, typeof gone])"
const expected = '[3,{"at":1},500,"changed",true,true,true,true,"undefined"]'

describe("the live objects of a durable run", () => {
  test("are written as far as they have changed in a cycle", async () => {
    const written: number[] = []
    const inner = memoryStore()
    const store: Store = {
      ...inner,
      async commit(changes, ...rest) {
        const bytes = changes.map((change) =>
          change.type === "put" && change.value instanceof Uint8Array ? change.value.byteLength : 0,
        )
        if (changes.some((change) => change.type === "append" && change.log.endsWith("/events"))) {
          written.push(bytes.reduce((sum, each) => sum + each, 0))
        }
        return await inner.commit(changes, ...rest)
      },
    }
    await using engine = createEngine({ agents: { agent: working() }, store })
    const { output } = await engine.result((await engine.submit("agent", "Go")).id)
    assert.equal(output, expected)
    const [begin, first = 0, ...later] = written
    assert.ok((begin ?? 0) < 1_000)
    assert.ok(first > 10_000, `${first}`)
    // Only the cells that change rows write these again.
    assert.equal(later.filter((bytes) => bytes > 2_000).length, 1, later.join(" "))
  })

  for (let crash = 1; crash <= 12; crash++) {
    test(`are those of one cycle after a crash at commit ${crash}`, async () => {
      const inner = memoryStore()
      let commits = 0
      const failing: Store = {
        ...inner,
        async commit(changes, ...rest) {
          if (++commits >= crash) throw new AgentError("The disk is gone.", { code: "file-system" })
          return await inner.commit(changes, ...rest)
        },
      }
      const first = createEngine({ agents: { agent: working() }, store: failing, leaseMs: 200 })
      const id = await first
        .submit("agent", "Go", { key: "k" })
        .then(({ id }) => id)
        .catch(() => undefined)
      const isBroken = () => commits >= crash
      while (!isBroken()) await new Promise((resolve) => setTimeout(resolve, 5))
      await first.close()
      await using second = createEngine({ agents: { agent: working() }, store: inner, leaseMs: 200 })
      await second.recover()
      const again = id ?? (await second.submit("agent", "Go", { key: "k" })).id
      assert.equal((await second.result(again)).output, expected)
    })
  }
})

/** Runs the cells in turn, and says what it finds then. */
function working() {
  const model = scriptedModel(({ messages }) => {
    const done = messages.filter(({ role }) => role === "result").length
    const code = cells[done] ?? (done === cells.length ? look : undefined)
    if (code !== undefined) return `\`\`\`ts\n${code}\n\`\`\`\n`
    const last = messages.findLast(({ role }) => role === "result")
    const text = JSON.stringify(last?.parts) ?? ""
    return /\[3.*"undefined\\+"\]/.exec(text)?.[0].replaceAll("\\", "") ?? text
  })
  return createAgent({ model, runtime: () => jsRuntime({}) })
}
