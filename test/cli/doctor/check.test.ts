import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { withoutSecrets } from "../../../src/cli/doctor/check.ts"

describe("the text of a check of karst doctor", () => {
  const shown = (text: string, env: NodeJS.ProcessEnv = {}) =>
    withoutSecrets({ name: "redis", state: "ok", text }, env).text

  test("shows no part of a secret that begins with another one", () => {
    const env = { ONE_API_KEY: "sk-abcdef", TWO_API_KEY: "sk-abcdef-ghijkl" }
    assert.equal(shown("refused: sk-abcdef-ghijkl", env), "refused: (TWO_API_KEY)")
    assert.equal(shown("refused: sk-abcdef", env), "refused: (ONE_API_KEY)")
  })

  test("shows no password of an address, whatever characters it has", () => {
    for (const password of ["s3cret", "s3/cret", "s3@cret", "s3'cret", "s3?#cret"]) {
      assert.equal(shown(`redis://ada:${password}@host:1: refused`), "redis://(hidden)@host:1: refused")
    }
  })
})
