import assert from "node:assert/strict"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { readRows } from "karst"

describe("readRows", () => {
  const folder = mkdtempSync(join(tmpdir(), "karst-rows-"))
  after(() => rmSync(folder, { recursive: true }))
  const file = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }

  test("reads CSV, TSV, JSON and JSON Lines as records", async () => {
    const rows = [{ city: "Köln", sold: 3 }]
    assert.deepEqual(await readRows(file("a.csv", "city,sold\nKöln,3\n")), rows)
    assert.deepEqual(await readRows(file("a.TSV", "city\tsold\nKöln\t3\n")), rows)
    assert.deepEqual(await readRows(file("a.json", JSON.stringify(rows))), rows)
    assert.deepEqual(await readRows(file("a.jsonl", '\ufeff{"city":"Köln","sold":3}\n\n')), rows)
    assert.deepEqual(await readRows(file("b.csv", Buffer.from("\ufeffcity;sold\r\nKöln;3\r\n", "utf16le"))), rows)
  })

  test("refuses text in another encoding instead of showing broken letters", async () => {
    const path = file("latin.csv", Buffer.from("city\nKöln\n", "latin1"))
    await assert.rejects(readRows(path), /latin\.csv: it is not UTF-8 text\. Save it as UTF-8, or convert it/)
  })

  test("refuses a file that is no list of records, does not exist or has another type", async () => {
    await assert.rejects(readRows(file("one.json", '{"a":1}')), /one\.json"\): the file is not a list of records/)
    await assert.rejects(readRows(file("numbers.json", "[1]")), /is not a list of records/)
    await assert.rejects(readRows(join(folder, "gone.csv")), /gone\.csv is not there\./)
    await assert.rejects(readRows(join(folder, "a.xlsx")), /only \.csv, \.tsv, \.json, \.jsonl, \.ndjson files/)
  })
})
