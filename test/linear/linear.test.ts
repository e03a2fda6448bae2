// test lane: unit, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { cases } from "./cases.ts"
import { regexpsOfSource } from "./regexps.ts"
import { casesThatHang } from "./watch.ts"

describe("the work grows no faster than the text", () => {
  test("of every regular expression in src/", { timeout: 900_000 }, async () => {
    const regexps = regexpsOfSource()
    const hanging = await casesThatHang(new URL("./regexp-worker.ts", import.meta.url))
    assert.deepEqual(
      hanging.map(({ number, attempt }) => ({ ...regexps[number], attempt })),
      [],
    )
  })

  test("of every function that reads text of models, children, files and servers", { timeout: 900_000 }, async () => {
    const hanging = await casesThatHang(new URL("./case-worker.ts", import.meta.url))
    assert.deepEqual(
      hanging.map(({ number, attempt }) => `${cases[number]?.name}: ${attempt}`),
      [],
    )
  })
})
