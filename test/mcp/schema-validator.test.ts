import assert from "node:assert/strict"
import { test } from "node:test"
import { schemaValidator } from "../../src/mcp/server/schema-validator.ts"

const check = schemaValidator.getValidator({
  type: "object",
  properties: { answer: { type: "string", enum: ["allow", "deny"] } },
  required: ["answer"],
})

test("an answer of a client that fits the question is accepted as it is", () => {
  const answer = { answer: "allow" }
  const result = check(answer)
  assert.equal(result.valid, true)
  assert.equal(result.data, answer)
})

test("an answer that does not fit is refused, and the message names the field", () => {
  for (const answer of [{ answer: "perhaps" }, { answer: 1 }]) {
    const result = check(answer)
    assert.equal(result.valid, false)
    assert.match(result.errorMessage ?? "", /^answer: /)
  }
  assert.equal(check({}).valid, false)
  assert.match(check("text").errorMessage ?? "", /^expected object, received string$/)
})
