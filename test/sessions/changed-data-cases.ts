// Tests for a session that is resumed with other injected data than before. Every kind of runtime must pass them.
import assert from "node:assert/strict"
import { test } from "node:test"
import { type AgentEvent, createAgent, messageText, type Runtime } from "karst"
import { scriptedModel } from "karst/models"
import { freshFolder } from "./session-fixtures.ts"

type Rows = { n: number }[]

/** Code of the cells in the language of the runtime. */
export interface ChangedDataCode {
  tag: string
  /** Prints the numbers of `rows`, as `[1,2]`. */
  read: string
  /** Prints the numbers of `own`, which `selectOwn` makes from rows with a number above 1. */
  readOwn: string
  selectOwn: string
  /** Appends a row with the number 99. */
  change: string
  /** Assigns only the first row to `rows`. */
  reassign: string
  /** Adds 1 to the number of the first row of `own`. */
  changeOwn: string
}

export interface ChangedDataSetup {
  create: (bindings: Record<string, unknown>) => Runtime
  code: ChangedDataCode
}

const rowsOf = (...numbers: number[]): Rows => numbers.map((n) => ({ n }))

export function testChangedData({ create, code }: ChangedDataSetup): void {
  /** Opens the session with these rows, runs the cells and returns the output of the last one. */
  const open = async (archive: string, rows: Rows, ...cells: string[]) => {
    const fenced = cells.map((text) => `\`\`\`${code.tag}\n${text}\n\`\`\``)
    const model = scriptedModel([...fenced, "Done."])
    const agent = createAgent({ name: "t", model, runtime: () => create({ rows, limit: 3 }) })
    await using session = await agent.session({ id: "a", archive })
    const afterResume = JSON.stringify(rows)
    const before = session.trajectory().events.length
    await session.send("Go on.")
    const events = session.trajectory().events.slice(before)
    const shown = events.findLast((event) => event.type === "code-end")?.text ?? ""
    const told = model.requests[0]?.messages.map(messageText).join("\n") ?? ""
    return { shown: /\[[\d, ]*\]/.exec(shown)?.[0].replaceAll(" ", ""), afterResume, told, warnings: kept(events) }
  }
  const kept = (events: readonly AgentEvent[]) =>
    events.flatMap((event) => (event.type === "warning-raised" && event.code === "data-kept" ? [event.names] : []))

  test("data that cells only read is the program's new data, in cells and in the program's own object", async () => {
    await using folder = await freshFolder()
    assert.equal((await open(folder.path, rowsOf(1, 2), code.read)).shown, "[1,2]")
    const second = await open(folder.path, rowsOf(5, 6, 7), code.read)
    assert.equal(second.shown, "[5,6,7]")
    assert.equal(second.afterResume, JSON.stringify(rowsOf(5, 6, 7)))
    assert.match(second.told, /new data in rows/)
    assert.deepEqual(second.warnings, [])
  })

  test("the same data is not mentioned, and is the program's own object without any change", async () => {
    await using folder = await freshFolder()
    await open(folder.path, rowsOf(1, 2), code.read)
    const second = await open(folder.path, rowsOf(1, 2), code.read)
    assert.equal(second.shown, "[1,2]")
    assert.doesNotMatch(second.told, /new data/)
  })

  test("values that cells made from the data stay as they were", async () => {
    await using folder = await freshFolder()
    await open(folder.path, rowsOf(1, 2, 3), code.selectOwn)
    assert.equal((await open(folder.path, rowsOf(7), code.readOwn)).shown, "[2,3]")
  })

  test("a value that shares objects with unchanged data shares them after a resume", async () => {
    await using folder = await freshFolder()
    await open(folder.path, rowsOf(1, 2), code.selectOwn)
    const second = await open(folder.path, rowsOf(1, 2), code.changeOwn, code.read)
    assert.equal(second.shown, "[1,3]")
  })

  test("data that cells changed in place keeps their changes, if the program's data is the same", async () => {
    await using folder = await freshFolder()
    await open(folder.path, rowsOf(1), code.change)
    const second = await open(folder.path, rowsOf(1), code.read)
    assert.equal(second.shown, "[1,99]")
    assert.deepEqual(second.warnings, [])
  })

  for (const [how, changing, shown] of [
    ["changed in place", code.change, "[1,2,99]"],
    ["assigned anew", code.reassign, "[1]"],
  ] as const) {
    test(`data that cells ${how} stays, if the program's data differs; model and host learn it once`, async () => {
      await using folder = await freshFolder()
      await open(folder.path, rowsOf(1, 2), changing)
      const second = await open(folder.path, rowsOf(5, 6), code.read)
      assert.equal(second.shown, shown)
      assert.equal(second.afterResume, JSON.stringify(rowsOf(5, 6)), "the program's own object is not changed")
      assert.match(second.told, /new data for rows/)
      assert.deepEqual(second.warnings, [["rows"]])
      const third = await open(folder.path, rowsOf(5, 6), code.read)
      assert.equal(third.shown, shown)
      assert.deepEqual(third.warnings, [])
      assert.deepEqual((await open(folder.path, rowsOf(8), code.read)).warnings, [["rows"]])
    })
  }

  test("the values of a run that cells used stay after a resume with the same program", async () => {
    await using folder = await freshFolder()
    const fenced = `\`\`\`${code.tag}\n${code.read}\n\`\`\``
    const model = scriptedModel([fenced, "Done."])
    const agent = createAgent({ name: "t", model, runtime: () => create({ rows: [] as Rows, limit: 3 }) })
    {
      await using session = await agent.session({ id: "a", archive: folder.path })
      await session.send("Go on.", { values: { rows: rowsOf(4, 5) } })
    }
    const second = await open(folder.path, [], code.read)
    assert.equal(second.shown, "[4,5]")
    assert.deepEqual(second.warnings, [])
  })

  test("update() and the values of a run replace data that cells changed", async () => {
    await using folder = await freshFolder()
    await open(folder.path, rowsOf(1), code.change)
    const rows = rowsOf(5, 6)
    const fenced = `\`\`\`${code.tag}\n${code.read}\n\`\`\``
    const model = scriptedModel([fenced, "Done.", fenced, "Done."])
    const agent = createAgent({ name: "t", model, runtime: () => create({ rows, limit: 3 }) })
    {
      await using session = await agent.session({ id: "a", archive: folder.path })
      await session.runtime?.update({ rows })
      await session.send("Go on.")
      assert.match(messageText(session.messages().findLast(({ role }) => role === "result") ?? fail()), /5[\s\S]*6/)
    }
    await using session = await agent.session({ id: "a", archive: folder.path })
    await session.send("Go on.", { values: { rows: rowsOf(7, 8) } })
    assert.match(messageText(session.messages().findLast(({ role }) => role === "result") ?? fail()), /7[\s\S]*8/)
  })
}

function fail(): never {
  throw new Error("There is no result.")
}
