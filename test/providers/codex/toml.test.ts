// test lane: clis
import assert from "node:assert/strict"
import { test } from "node:test"
import { tomlValue } from "../../../src/providers/codex/toml.ts"

test("TOML has every value on one line", () => {
  assert.equal(tomlValue("a\u007f\n"), '"a\\u007F\\n"')
  assert.equal(tomlValue({ "a.b": [1, true, { c: "d" }] }), '{ "a.b" = [1, true, { "c" = "d" }] }')
})
