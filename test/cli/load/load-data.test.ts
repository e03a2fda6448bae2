import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { variableName } from "../../../src/cli/load/load-data.ts"
import { karst } from "../karst.ts"

test("a file's name becomes an identifier in a way one can predict", () => {
  const names = {
    "finish.csv": "_finish",
    "sales.csv": "sales",
    "sales 2024-q1.csv": "sales2024Q1",
    "2024.json": "_2024",
    "class.csv": "_class",
    "console.json": "_console",
    "über-größe.csv": "überGröße",
    "日本.json": "日本",
    "…": "data",
    "a.b.csv": "aB",
    ".csv": "csv",
  }
  for (const [file, name] of Object.entries(names)) assert.equal(variableName(file), name)
})

test("two files of one name get two names", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "karst-test-"))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, "a.csv"), "x\n1\n")
  await writeFile(join(folder, "a.jsonl"), '{"x":1}\n\n{"x":2}\n')
  await writeFile(join(folder, "a.tsv"), "x\ty\n1\t2\n")
  const { code, stdout, stderr } = await karst(
    ["prompt", ...["a.csv", "a.jsonl", "a.tsv"].flatMap((file) => ["--data", file])],
    {},
    folder,
  )
  assert.equal(code, 0)
  assert.equal(stderr, "a: 1 record from a.csv\na2: 2 records from a.jsonl\na3: 1 record from a.tsv\n")
  assert.match(stdout, /declare let a3: \{ x: number; y: number \}\[\]/)
})

const bad: [what: string, file: string, content: string | undefined, says: RegExp][] = [
  ["a missing file", "gone.csv", undefined, /--data gone\.csv is not there\./],
  ["broken JSON", "x.json", "{", /--data x\.json: .*JSON/],
  ["a broken line of JSON", "x.jsonl", "{}\nno\n", /--data x\.jsonl: line 2: /],
  ["a quote that is never closed", "x.csv", 'a\n"b', /--data x\.csv: the quote that opens on line 2 is never closed\./],
  ["a file of another kind", "x.xlsx", "", /--data x\.xlsx: only \.csv, .*can be read\./],
]
for (const [what, file, content, says] of bad) {
  test(`${what} is a usage error that names it`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "karst-test-"))
    t.after(() => rm(folder, { recursive: true }))
    if (content !== undefined) await writeFile(join(folder, file), content)
    const { code, stdout, stderr } = await karst(["prompt", "--data", file], {}, folder)
    assert.equal(code, 2)
    assert.match(stderr, says)
    assert.equal(stdout, "")
  })
}
