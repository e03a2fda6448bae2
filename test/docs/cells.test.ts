// The programs and texts of docs/cells.md, each run as it is shown there.

// #region names
import { jsRuntime } from "karst"
// #endregion

import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent } from "karst"
import { scriptedModel } from "karst/models"
import { cellValue } from "../runtime/cell-results.ts"

describe("docs/cells.md", () => {
  test("keeps the names of a cell for later cells", async () => {
    const orders = [{ isOpen: true }, { isOpen: false }, { isOpen: true }]
    // #region names
    const runtime = jsRuntime({ orders })
    await runtime.execute("const open = orders.filter((order) => order.isOpen)")
    const execution = await runtime.execute("open.length") // { ok: true, value: 2, … }: `open` is still there
    // #endregion
    assert.ok(execution.ok)
    assert.equal(execution.value, 2)
  })

  test("shows a value by its structure and keeps the whole value", async () => {
    const rows = "Array.from({ length: 500 }, (_, day) => day * 3)"
    const rest = 'name: "weather", station: { id: 7, town: "Bern" }, notes: "lorem ipsum ".repeat(40)'
    const code = `({ rows: ${rows}, ${rest} })`
    const model = scriptedModel([`\`\`\`ts\n${code}\n\`\`\``, "Done."])
    const runtime = jsRuntime({})
    const run = createAgent({ model, runtime, maxOutputChars: 245 }).run("Show the weather")
    const shown: string[] = []
    for await (const event of run) if (event.type === "code-end") shown.push(event.text)
    const expected = await readFile(join(import.meta.dirname, "cells/shown.txt"), "utf8")
    assert.deepEqual(shown, [`<output>\n${expected}</output>`])
    assert.equal(await cellValue(runtime, "_output_1.rows.length"), 500)
  })
})
