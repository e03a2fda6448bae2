import assert from "node:assert/strict"
import { test } from "node:test"
import { parseCsv } from "../../../src/core/data-files/csv.ts"
import fc from "../../property.ts"

test("numbers and booleans are read as such, by column, and empty cells are null", () => {
  const text = "name,age,member,note\nAda,36,true,\nBob,,FALSE,x\n"
  assert.deepEqual(parseCsv(text), [
    { name: "Ada", age: 36, member: true, note: null },
    { name: "Bob", age: null, member: false, note: "x" },
  ])
})

test("what can be an identifier stays text, and so does its column", () => {
  const columns = {
    zip: ["01234", "99999"],
    id: ["12345678901234567", "1"],
    code: ["12", "A3"],
    plus: ["+1", "2"],
    hex: ["0x10", "1"],
    word: ["e5", "1"],
    point: [".", "1"],
  }
  for (const [name, cells] of Object.entries(columns)) {
    assert.deepEqual(
      parseCsv([name, ...cells].join("\n")).map((row) => row[name]),
      cells,
    )
  }
  assert.deepEqual(
    parseCsv("n\n-1.5\n2e3\n0.25").map((row) => row.n),
    [-1.5, 2000, 0.25],
  )
})

test("fractions are numbers with any count of digits, as programs export them", () => {
  assert.deepEqual(
    parseCsv("n\n0.3333333333333333\n135094.18999999997\n.5\n5.\n 5\n6 ").map((row) => row.n),
    [0.3333333333333333, 135094.18999999997, 0.5, 5, 5, 6],
  )
})

test("a header with semicolons or tabs and no comma names the delimiter", () => {
  assert.deepEqual(parseCsv("a;b\n1,5;2"), [{ a: "1,5", b: 2 }])
  assert.deepEqual(parseCsv("a\tb;c\n1\t2"), [{ "a\tb": "1\t2", c: null }])
  assert.deepEqual(parseCsv("a\tb\n1\t2"), [{ a: 1, b: 2 }])
  assert.deepEqual(parseCsv('"x;y",b\n1,2'), [{ "x;y": 1, b: 2 }])
})

test("quotes hold commas, line ends and doubled quotes; every line end is one", () => {
  assert.deepEqual(parseCsv('a,b\r\n"x, ""y""\nz",1\r"",2\n'), [
    { a: 'x, "y"\nz', b: 1 },
    { a: "", b: 2 },
  ])
})

test("a byte order mark, empty lines and short rows do no harm", () => {
  assert.deepEqual(parseCsv("\ufeffa,b\n\n1\n\n"), [{ a: 1, b: null }])
  assert.deepEqual(parseCsv(""), [])
  assert.deepEqual(parseCsv("a,b\n"), [])
})

test("columns without a name, or with one twice, get one", () => {
  assert.deepEqual(parseCsv("a,,a\n1,2,3"), [{ a: 1, column_2: 2, a_2: 3 }])
  assert.ok(Object.hasOwn(parseCsv("__proto__\nx")[0] ?? {}, "__proto__"))
})

test("text that is no CSV is refused with its line", () => {
  assert.throws(() => parseCsv('a\n1\n"open\nmore'), /the quote that opens on line 3 is never closed/)
  assert.throws(() => parseCsv('a\n"x"y'), /line 2 has text after a closing quote/)
  assert.throws(() => parseCsv("a\n1,2"), /line 2 has 2 fields, but the header names 1/)
})

function printCsv(rows: string[][], delimiter: string, lineEnd: string, quoteAll: boolean): string {
  const field = (text: string) => {
    const plain = !quoteAll && text !== "" && !/["\r\n]/.test(text) && !text.includes(delimiter)
    return plain ? text : `"${text.replaceAll('"', '""')}"`
  }
  return rows.map((row) => row.map(field).join(delimiter) + lineEnd).join("")
}

test("what a printer writes is read back as it was", () => {
  // Only letters, so that every column stays text and cells compare unchanged.
  const cell = fc
    .array(fc.constantFrom("a", '"', ",", "\t", "\n", "\r\n", "é", " ", "1"))
    .map((parts) => `x${parts.join("")}`)
  const table = fc
    .integer({ min: 1, max: 5 })
    .chain((columns) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1 }))
  fc.assert(
    fc.property(
      table,
      fc.constantFrom(",", "\t"),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.boolean(),
      (rows, delimiter, lineEnd, quoteAll) => {
        const header = (rows[0] ?? []).map((_, index) => `column ${index}`)
        const parsed = parseCsv(printCsv([header, ...rows], delimiter, lineEnd, quoteAll), delimiter)
        assert.deepEqual(
          parsed.map((row) => header.map((name) => row[name])),
          rows,
        )
      },
    ),
    { numRuns: 500 },
  )
})
